package dev.semel.workflow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.definition.CurrentStepScopedValue;
import dev.semel.definition.DurableWorkflowOperations;
import dev.semel.definition.StepSpec;
import dev.semel.error.ErrorCode;
import dev.semel.error.JsonConversionFailed;
import dev.semel.error.SemelException;
import dev.semel.json.JsonCodec;
import dev.semel.json.StrictJsonCodec;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;

/** The typed context on a journal in memory. */
class ContextTest {
    record Pick(String place) {}

    record Line(@Nullable String sku) {}

    private static final Signal<Pick> PICKED = Signal.of("picked", Pick.class);

    private final InMemoryDurableOperations.SharedState shared = new InMemoryDurableOperations.SharedState();
    private final Context ctx = new Context(new InMemoryDurableOperations(shared), JsonCodec.STANDARD);

    @Test
    void a_step_returns_its_recorded_result_and_does_not_run_again() {
        assertEquals(new Pick("a"), ctx.step("pick", Pick.class, s -> new Pick("a")));
        assertEquals(new Pick("a"), ctx.step("pick", Pick.class, s -> new Pick("b")));
        assertEquals("{\"place\":\"a\"}", shared.recorded.get("pick"));
        assertEquals(StepSpec.named("pick").retry(Retry.STANDARD), shared.steps.get("pick"));
    }

    @Test
    void the_code_of_a_step_runs_once() {
        List<String> done = new ArrayList<>();
        for (int i = 0; i < 2; i++) {
            ctx.step("a", s -> done.add("a"));
            ctx.tx("b", (sql, s) -> done.add("b"));
            assertEquals("c", ctx.step("c", String.class, () -> "c"));
            assertEquals(List.of("d"), ctx.step("d", new TypeRef<List<String>>() {}, () -> List.of("d")));
        }
        assertEquals(List.of("a", "b"), done);
    }

    @Test
    void code_finds_its_step_only_while_the_step_runs() throws Exception {
        assertThrows(IllegalStateException.class, Step::current);
        Step step = step();
        assertEquals(step, CurrentStepScopedValue.runWith(step, Step::current));
    }

    private static Step step() {
        return new Step() {
            @Override
            public String id() {
                return "step_a";
            }

            @Override
            public String key() {
                return "key";
            }

            @Override
            public int attempt() {
                return 1;
            }
        };
    }

    @Test
    void types_with_parameters_are_read_back_completely() {
        TypeRef<List<Pick>> picks = new TypeRef<>() {};
        ctx.step("picks", picks, s -> List.of(new Pick("a")));
        List<Pick> again = ctx.step("picks", picks, s -> List.of());
        assertEquals(new Pick("a"), again.getFirst());
        assertEquals(
                Map.of("k", List.of(1L)),
                ctx.tx("tx", new TypeRef<Map<String, List<Long>>>() {}, (sql, s) -> Map.of("k", List.of(1L))));
    }

    @Test
    void code_gets_the_value_that_a_restart_would_read() {
        List<Object> first = ctx.step("a", new TypeRef<List<Object>>() {}, s -> List.of(new Pick("x")));
        assertEquals(List.of(Map.of("place", "x")), first);
    }

    @Test
    @SuppressWarnings("NullAway") // as in code that nobody checks for nulls
    void a_step_may_have_no_result_or_null() {
        ctx.step("a", s -> {});
        ctx.tx("b", (sql, s) -> {});
        assertNull(ctx.step("c", String.class, s -> null));
        assertEquals(Map.of("a", "null", "b", "null", "c", "null"), shared.recorded);
        assertEquals(Optional.empty(), ctx.step("c", new TypeRef<Optional<String>>() {}, s -> Optional.of("x")));
    }

    @Test
    void a_step_accepts_options() {
        ctx.step("a")
                .retry(Retry.none())
                .timeout(Duration.ofSeconds(3))
                .formerly("b", "c")
                .run(s -> {});
        assertEquals(new StepSpec("a", List.of("b", "c"), Retry.NONE, Duration.ofSeconds(3)), shared.steps.get("a"));
        ctx.step("d").retry(Retry.none()).tx(String.class, (sql, s) -> s.id());
        assertEquals("\"step_d\"", shared.recorded.get("d"));
        assertThrows(SemelException.class, () -> ctx.step("a").timeout(Duration.ZERO));
    }

    @Test
    void a_record_that_no_longer_fits_names_the_step_and_the_type() {
        shared.recorded.put("pick", "{\"place\":{\"hush\":1}}");
        JsonConversionFailed refused =
                assertThrows(JsonConversionFailed.class, () -> ctx.step("pick", Pick.class, s -> new Pick("b")));
        assertTrue(
                refused.detail().startsWith("The recorded result of step \"pick\" cannot be read as Pick, at /place"),
                refused.detail());
        assertTrue(!refused.toString().contains("hush"), refused.toString());
    }

    @Test
    void a_signal_is_awaited_with_and_without_a_timeout() {
        assertEquals(Optional.empty(), ctx.await(PICKED, Duration.ofDays(1)));
        shared.signals.put("picked", StrictJsonCodec.parse("{\"place\":\"a\"}"));
        assertEquals(Optional.of(new Pick("a")), ctx.await(PICKED, Duration.ofDays(1)));
        assertEquals(Optional.of(new Pick("a")), ctx.await("again", PICKED, Duration.ofDays(1)));
        assertEquals(new Pick("a"), ctx.await(PICKED));
        assertEquals(new Pick("a"), ctx.await("again", PICKED));
        assertThrows(SemelException.class, () -> ctx.await(PICKED, Duration.ZERO));
    }

    @Test
    void a_signal_with_null_is_not_treated_as_missing() {
        shared.signals.put("picked", StrictJsonCodec.parse("null"));
        JsonConversionFailed refused =
                assertThrows(JsonConversionFailed.class, () -> ctx.await(PICKED, Duration.ofDays(1)));
        assertTrue(refused.detail().startsWith("The value of signal \"picked\" is null"), refused.detail());
    }

    @Test
    void a_signal_is_sent_under_a_derived_key() {
        ctx.signal("run_2", PICKED, new Pick("a"));
        ctx.signal("run_2", PICKED, new Pick("a"));
        ctx.signal("run_2", PICKED, new Pick("b"), Key.of("evt", 1));
        assertEquals(
                List.of(
                        new DurableWorkflowOperations.OutgoingSignal(
                                "run_2", "picked", StrictJsonCodec.parse("{\"place\":\"a\"}"), null),
                        new DurableWorkflowOperations.OutgoingSignal(
                                "run_2", "picked", StrictJsonCodec.parse("{\"place\":\"b\"}"), "evt:1")),
                shared.sent);
        assertThrows(IllegalArgumentException.class, () -> Signal.of("not a name", Pick.class));
    }

    @Test
    void steps_of_an_item_depend_on_its_key() {
        List<String> items = List.of("a", "b");
        assertEquals(
                List.of("step_each/a/x", "step_each/b/x"),
                ctx.forEach("each", items, item -> item, (c, item) -> c.step("x", String.class, Step::id)));
        assertEquals(1, shared.atOnce);
        assertEquals(
                List.of("step_each/b/x", "step_each/a/x"),
                ctx.forEach("each", items.reversed(), item -> item)
                        .concurrency(8)
                        .run((c, item) -> c.step("x", String.class, Step::id)));
        assertEquals(8, shared.atOnce);
        assertThrows(
                SemelException.class,
                () -> ctx.forEach("each", items, item -> item).concurrency(0));
    }

    @Test
    void a_loop_runs_1_to_1000_items_at_once() {
        for (int atOnce : new int[] {1, 1_000}) {
            ctx.forEach("each" + atOnce, List.of("a"), item -> item)
                    .concurrency(atOnce)
                    .run((c, item) -> item);
            assertEquals(atOnce, shared.atOnce);
        }
        for (int atOnce : new int[] {0, 1_001}) {
            assertThrows(
                    SemelException.class,
                    () -> ctx.forEach("x", List.of("a"), item -> item).concurrency(atOnce));
        }
        assertThrows(SemelException.class, () -> ctx.forEach(" ", List.of("a"), item -> item));
    }

    @Test
    void items_need_distinct_keys() {
        assertEquals("items 1 and 3 have the same key", refusalOf("a", "b", "a"));
        assertEquals(
                "the key of item 2 is null, empty or not Unicode text, or its toString() differs in every process",
                refusalOf("a", null));
        assertEquals(
                "the key of item 1 is null, empty or not Unicode text, or its toString() differs in every process",
                refusalOf(""));
    }

    private String refusalOf(@Nullable String... skus) {
        List<Line> lines = Arrays.stream(skus).map(Line::new).toList();
        SemelException refused =
                assertThrows(SemelException.class, () -> ctx.forEach("lines", lines, Line::sku, (c, line) -> ""));
        assertEquals(ErrorCode.INVALID_DEFINITION, refused.code());
        String start = "The forEach \"lines\" is not valid: ";
        assertTrue(refused.detail().startsWith(start), refused.detail());
        return refused.detail().substring(start.length()).replace(". It was not executed.", "");
    }

    @Test
    void another_workflow_is_called_by_its_name_and_in_its_types() {
        Workflow<Line, Pick> pick =
                Workflow.define("pick", Line.class, Pick.class).body((c, line) -> new Pick("x"));
        shared.children.put("pick", input -> StrictJsonCodec.parse("{\"place\":\"found\"}"));
        assertEquals(new Pick("found"), ctx.call(pick, new Line("a")));
        assertEquals(new Pick("found"), ctx.call("second", pick, new Line("b"), Start.withKey("b")));
        assertEquals(
                List.of(
                        new DurableWorkflowOperations.ChildWorkflowCall(
                                "pick", StrictJsonCodec.parse("{\"sku\":\"a\"}"), Start.fresh(), false),
                        new DurableWorkflowOperations.ChildWorkflowCall(
                                "pick", StrictJsonCodec.parse("{\"sku\":\"b\"}"), Start.withKey("b"), false)),
                shared.called);
    }

    @Test
    void an_undo_has_a_context_of_its_own() throws Exception {
        ctx.compensate("refund", c -> c.step("x", s -> {}));
        DurableWorkflowOperations.Compensation undo = shared.undos.get("refund");
        if (undo == null) {
            throw new AssertionError("nothing was registered");
        }
        undo.run(new InMemoryDurableOperations(shared));
        assertEquals(Map.of("x", "null"), shared.recorded);
    }

    @Test
    void an_approval_without_a_title_uses_its_name() {
        ctx.approval("release", a -> a.to("role:ops"));
        assertEquals(ApprovalRequest.of().title("release").to("role:ops"), shared.asked.get("release"));
    }

    @Test
    void the_other_operations_are_passed_through() {
        ctx.sleep("a", Duration.ofSeconds(1));
        ctx.sleepUntil("b", Instant.EPOCH);
        ctx.status("fine");
        ctx.awaitDurable();
        assertEquals(List.of("a PT1S", "b 1970-01-01T00:00:00Z"), shared.sleeps);
        assertEquals(List.of("fine", "(durable)"), shared.statuses);
        assertEquals("run_1", ctx.runId());
        assertEquals("step_x", ctx.stepId("x"));
        assertEquals(Instant.EPOCH, ctx.now());
        assertEquals(new UUID(0, 7), ctx.uuid());
        assertEquals(0.5, ctx.random());
    }
}
