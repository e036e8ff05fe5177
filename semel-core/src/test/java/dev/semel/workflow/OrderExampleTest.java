package dev.semel.workflow;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.semel.definition.JavaWorkflow;
import dev.semel.json.StrictJsonCodec;
import dev.semel.workflow.ApprovalDecision.Approved;
import dev.semel.workflow.ApprovalDecision.Rejected;
import dev.semel.workflow.ApprovalDecision.TimedOut;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** The second example of the documentation as it stands there: waiting, people, children, fan-out. */
class OrderExampleTest {
    record Paid(String reference) {}

    record Line(String sku, int count) {}

    record Order(String id, List<Line> lines) {}

    record Pick(String place) {}

    record Shipment(String tracking) {}

    static final Signal<Paid> PAID = Signal.of("paid", Paid.class);

    static final Workflow<Order, Shipment> SHIP =
            Workflow.define("ship", Order.class, Shipment.class).body((ctx, o) -> new Shipment("t-" + o.id()));

    private final List<String> done = new ArrayList<>();
    private final Warehouse warehouse = new Warehouse();

    private final class Warehouse {
        @Nullable
        Pick find(String key) {
            done.add("find " + key);
            return key.contains("sku_2") ? new Pick("found") : null;
        }

        Pick pick(String order, Line line, String key) {
            done.add("pick " + order + " " + line.sku() + " " + key);
            return new Pick("new");
        }
    }

    private final JavaWorkflow<Order, String> ORDER = (JavaWorkflow<Order, String>) Workflow.define(
                    "order", Order.class, String.class)
            .body((ctx, o) -> {
                if (ctx.await(PAID, Duration.ofDays(3)).isEmpty()) return "unpaid";

                List<Pick> picks = ctx.forEach(
                        "lines",
                        o.lines(),
                        Line::sku,
                        (c, line) -> c.effect("pick")
                                .key(o.id(), line.sku(), "pick")
                                .lookup(Pick.class, e -> warehouse.find(e.key()))
                                .call(e -> warehouse.pick(o.id(), line, e.key())));

                ApprovalDecision d = ctx.approval(
                        "release",
                        a -> a.title("Release " + o.id())
                                .to("role:ops")
                                .show("lines", picks.size())
                                .timeout(Duration.ofHours(24)));
                return switch (d) {
                    case Approved a -> {
                        ctx.status("released by " + a.by());
                        ctx.sleep("cool_off", Duration.ofMinutes(30));
                        yield ctx.call(SHIP, o, Start.withKey(o.id(), "ship")).tracking();
                    }
                    case Rejected r -> "rejected: " + r.note();
                    case TimedOut t -> "nobody answered";
                };
            });

    private final Order order = new Order("o_1", List.of(new Line("sku_1", 1), new Line("sku_2", 2)));
    private final InMemoryDurableOperations.SharedState shared = new InMemoryDurableOperations.SharedState();

    @BeforeEach
    void paid() {
        shared.signals.put("paid", StrictJsonCodec.parse("{\"reference\":\"r\"}"));
        shared.children.put("ship", input -> StrictJsonCodec.parse("{\"tracking\":\"t-o_1\"}"));
    }

    @Test
    void an_unpaid_order_ends_there() throws Exception {
        shared.signals.clear();
        assertEquals("unpaid", run());
        assertEquals(List.of(), done);
    }

    @Test
    void a_released_order_is_shipped_under_its_key() throws Exception {
        shared.decision = new Approved("ann", "fine");
        assertEquals("t-o_1", run());
        assertEquals("t-o_1", run());
        assertEquals(List.of("pick o_1 sku_1 o_1:sku_1:pick", "pick o_1 sku_2 o_1:sku_2:pick"), done);
        assertEquals(List.of("lines/sku_1/pick", "lines/sku_2/pick"), List.copyOf(shared.effects.keySet()));
        assertEquals("o_1:ship", shared.called.getFirst().start().key());
        assertEquals(1, shared.called.size());
        assertEquals(ORDER.inputOf(order), shared.called.getFirst().input());
        assertEquals("released by ann", shared.statuses.getFirst());
        assertEquals("cool_off PT30M", shared.sleeps.getFirst());
        assertEquals(
                new ApprovalRequest("Release o_1", "role:ops", Map.of("lines", "2"), Duration.ofHours(24)),
                shared.asked.get("release"));
    }

    @Test
    void after_a_crash_the_warehouse_is_queried_before_anything_is_resent() throws Exception {
        shared.lost.add("pick");
        shared.decision = new Rejected("bob", "no stock");
        assertEquals("rejected: no stock", run());
        assertEquals(List.of("find o_1:sku_1:pick", "pick o_1 sku_1 o_1:sku_1:pick", "find o_1:sku_2:pick"), done);
        assertEquals("{\"place\":\"found\"}", shared.recorded.get("lines/sku_2/pick"));
    }

    @Test
    void an_approval_may_time_out() throws Exception {
        assertEquals("nobody answered", run());
    }

    private String run() throws Exception {
        return ORDER.outputOf(ORDER.body().run(new InMemoryDurableOperations(shared), ORDER.inputOf(order)));
    }
}
