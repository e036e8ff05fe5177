package dev.semel.trials.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.IdempotentCall;
import dev.semel.IdempotentResult;
import dev.semel.Run;
import dev.semel.Semel;
import dev.semel.error.KeyConflict;
import dev.semel.error.RequestNotSent;
import dev.semel.error.StepFailed;
import dev.semel.testing.FakeExternalSystem;
import dev.semel.testing.WorkflowTestKit;
import dev.semel.workflow.ApprovalDecision;
import dev.semel.workflow.Key;
import dev.semel.workflow.Retry;
import dev.semel.workflow.Signal;
import dev.semel.workflow.Start;
import dev.semel.workflow.Workflow;
import java.sql.PreparedStatement;
import java.time.Duration;
import java.util.List;
import java.util.Optional;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What the reference of the Java API shows. */
class ContextTest {
    private final WorkflowTestKit kit = new WorkflowTestKit();

    @AfterEach
    void close() {
        kit.close();
    }

    record Order(String id, String customer, List<String> lines) {}

    private static final Order ORDER = new Order("o-1", "ann", List.of("a", "b"));

    // snippet:signal
    static final Signal<String> PAID = Signal.of("paid", String.class);

    static Workflow<Order, String> fulfil() {
        return Workflow.define("fulfil", Order.class, String.class).body((ctx, order) -> {
            Optional<String> paid = ctx.await(PAID, Duration.ofDays(3));
            return paid.orElse("unpaid");
        });
    }
    // end

    @Test
    void a_signal_arrives_once_and_a_wait_ends() {
        Workflow<Order, String> fulfil = fulfil();
        Run<String> run = kit.register(fulfil).start(fulfil, ORDER);
        // snippet:send-signal
        assertTrue(run.signal(PAID, "by card", Key.of("evt_7")));
        assertFalse(run.signal(PAID, "by card", Key.of("evt_7"))); // the same key: it is there already
        // end
        assertEquals("by card", kit.result(run));
        Run<String> late = kit.start(fulfil, ORDER);
        kit.clock().advance(Duration.ofDays(3));
        assertEquals("unpaid", kit.result(late));
    }

    @Test
    void branches_and_an_approval() {
        Workflow<Order, String> ship = Workflow.define("ship", Order.class, String.class)
                .body((ctx, order) -> {
                    // snippet:branches
                    List<String> parcels = ctx.forEach("lines", order.lines(), line -> line)
                            .concurrency(4)
                            .run((branch, line) -> branch.step("pack", String.class, () -> "parcel " + line));
                    ApprovalDecision decision =
                            ctx.approval("release", a -> a.title("Ship it?").to("role:ops"));
                    return switch (decision) {
                        case ApprovalDecision.Approved yes -> parcels + " released by " + yes.by();
                        case ApprovalDecision.Rejected no -> "kept: " + no.note();
                        case ApprovalDecision.TimedOut _ -> "nobody looked";
                    };
                    // end
                });
        Run<String> run = kit.register(ship).start(ship, ORDER);
        kit.settle();
        assertTrue(run.approve("release", "ann", ""));
        assertEquals("[parcel a, parcel b] released by ann", kit.result(run));
    }

    @Test
    void completed_steps_are_undone_when_a_later_step_fails() {
        FakeExternalSystem stock = kit.provider("stock");
        FakeExternalSystem undone = kit.provider("undone");
        FakeExternalSystem cards = kit.provider("cards").reject(1);
        Workflow<Order, String> order = Workflow.define("order", Order.class, String.class)
                .body((ctx, in) -> {
                    // snippet:compensate
                    String place = ctx.effect("reserve")
                            .providerHonoursKey(Duration.ofHours(24))
                            .call(String.class, sending -> stock.call(sending.key()));
                    ctx.compensate(
                            "reserve",
                            undo -> undo.effect("release")
                                    .providerHonoursKey(Duration.ofHours(24))
                                    .call(sending -> undone.call(sending.key())));
                    return ctx.effect("charge")
                            .providerHonoursKey(Duration.ofHours(24))
                            .call(String.class, sending -> cards.call(sending.key()) + place);
                    // end
                });
        Run<String> run = kit.register(order).start(order, ORDER);
        StepFailed failed = assertThrows(StepFailed.class, () -> kit.result(run));
        assertEquals("charge", failed.step());
        assertEquals(1, stock.effects());
        assertEquals(1, undone.effects());
    }

    @Test
    void rows_and_record_are_one_commit() {
        Workflow<Order, Integer> book = Workflow.define("book", Order.class, Integer.class)
                .body((ctx, order) -> {
                    ctx.tx("table", (sql, _) -> {
                        try (var create = sql.createStatement()) {
                            create.execute("CREATE TABLE IF NOT EXISTS booking (step TEXT PRIMARY KEY, customer TEXT)");
                        }
                    });
                    // snippet:tx
                    return ctx.tx("book", Integer.class, (sql, step) -> {
                        String insert = "INSERT INTO booking (step, customer) VALUES (?, ?) ON CONFLICT DO NOTHING";
                        try (PreparedStatement row = sql.prepareStatement(insert)) {
                            row.setString(1, step.id());
                            row.setString(2, order.customer());
                            return row.executeUpdate();
                        }
                    });
                    // end
                });
        Run<Integer> run = kit.register(book).start(book, ORDER);
        assertEquals(1, kit.result(run));
        assertEquals(
                1, kit.result(kit.start(book, ORDER, Start.replayOf(run.id()))), "what the first run wrote is reused");
    }

    @Test
    void any_operation_runs_once_for_its_key() {
        AtomicInteger orders = new AtomicInteger();
        Semel semel = kit.semel();
        // snippet:idempotent
        IdempotentCall create =
                semel.idempotent("create_order").caller("ann").key("cart-7").request(ORDER);
        IdempotentResult<Integer> first = create.call(Integer.class, orders::incrementAndGet);
        IdempotentResult<Integer> again = create.call(Integer.class, orders::incrementAndGet);
        assert again.replayed() && again.value().equals(first.value());
        // end
        assertEquals(new IdempotentResult<>(1, false), first);
        assertEquals(new IdempotentResult<>(1, true), again);
        Order other = new Order("o-2", "ann", List.of());
        assertThrows(KeyConflict.class, () -> create.request(other).call(Integer.class, orders::incrementAndGet));
        assertEquals(
                2,
                create.key("cart-8")
                        .call(Integer.class, orders::incrementAndGet)
                        .value());
        // snippet:idempotent-doubt
        IdempotentCall order = semel.idempotent("create_order").caller("ann").key("cart-8");
        if (order.isInDoubt()) {
            order.confirmDone(17, "ann@example.com"); // or order.confirmNotDone("ann@example.com")
        }
        // end
        assertEquals(
                2,
                create.key("cart-8")
                        .call(Integer.class, orders::incrementAndGet)
                        .value());
    }

    @Test
    void a_step_declares_its_retries() {
        AtomicInteger tries = new AtomicInteger();
        Workflow<Order, Integer> flow = Workflow.define("flaky", Order.class, Integer.class)
                .body((ctx, order) -> {
                    // snippet:retry
                    return ctx.step("quote")
                            .retry(Retry.exponential(Duration.ofSeconds(2))
                                    .upTo(4)
                                    .notOn(IllegalStateException.class))
                            .timeout(Duration.ofSeconds(30))
                            .formerly("price")
                            .run(Integer.class, step -> {
                                tries.incrementAndGet();
                                if (step.attempt() < 3) {
                                    throw new RequestNotSent("the price list is being replaced", null);
                                }
                                return step.attempt();
                            });
                    // end
                });
        kit.clock().autoAdvance();
        assertEquals(3, kit.result(kit.register(flow).start(flow, ORDER)));
        assertEquals(3, tries.get());
    }

    @Test
    void concurrency_limits_are_declared_with_the_workflow() {
        // snippet:gates
        Workflow<Order, String> ship = Workflow.define("ship", Order.class, String.class)
                .keyedBy(Order::id)
                .serialBy(Order::customer)
                .maxConcurrent(50)
                .rateLimit(Order::customer, 10, Duration.ofMinutes(1))
                .deadline(Duration.ofDays(7))
                .body((ctx, order) -> ctx.step("ship", String.class, _ -> "shipped " + order.id()));
        // end
        assertEquals("shipped o-1", kit.result(kit.register(ship).start(ship, ORDER)));
    }

    @Test
    void a_sweep_crashes_at_every_point_and_counts() {
        // snippet:sweep
        FakeExternalSystem mails = kit.provider("mails").honoursKeysFor(Duration.ofHours(24));
        Workflow<Order, String> confirm = Workflow.define("confirm", Order.class, String.class)
                .body((ctx, order) -> ctx.effect("mail")
                        .providerHonoursKey(Duration.ofHours(24))
                        .call(String.class, sending -> mails.call(sending.key())));
        kit.register(confirm)
                .crashEverywhere(l -> l.start(confirm, ORDER, Start.withKey("evt_1")))
                .check(_ -> assertEquals(1, mails.effects()))
                .report();
        // end
    }
}
