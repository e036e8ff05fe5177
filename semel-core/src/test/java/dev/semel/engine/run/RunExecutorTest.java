package dev.semel.engine.run;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.admission.TriggerResult;
import dev.semel.definition.WorkflowBody;
import dev.semel.engine.EngineLimits;
import dev.semel.journal.JournalCodec;
import dev.semel.journal.JournalEntry;
import dev.semel.run.RunState;
import dev.semel.runtime.EngineTestBench;
import dev.semel.runtime.KeyPolicyBuilder;
import dev.semel.store.Await;
import dev.semel.store.DatabaseRows;
import dev.semel.store.Dialect;
import dev.semel.store.StoreWrite;
import java.util.List;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.NullNode;
import tools.jackson.databind.node.StringNode;

/** What a run leaves behind, for every way in which a body can end. */
@ParameterizedClass
@EnumSource
final class RunExecutorTest {
    private final EngineTestBench bench;
    private final AtomicInteger done = new AtomicInteger();

    RunExecutorTest(Dialect dialect) {
        bench = new EngineTestBench(dialect);
    }

    @AfterEach
    void close() {
        bench.close();
    }

    private DatabaseRows.RunRow run(WorkflowBody body) {
        bench.publish("w", KeyPolicyBuilder.plain(), body);
        return bench.ended(bench.ask("w").input("{\"a\":[1,2.50,\"ü\"]}").send().run());
    }

    private static StoreWrite.RunResult ending(DatabaseRows.RunRow run) {
        assertNotNull(run.end());
        return run.end().result();
    }

    private JsonNode counted() {
        return tools.jackson.databind.node.IntNode.valueOf(done.incrementAndGet());
    }

    @Test
    void a_body_gets_its_input_and_returns_its_output() {
        DatabaseRows.RunRow run = run((context, input) -> context.step("echo", () -> input));
        assertEquals(RunState.COMPLETED, run.state());
        assertEquals("{\"a\":[1,2.50,\"ü\"]}", ending(run).output());
        assertNull(ending(run).errorCode());
        assertNotNull(run.end());
        List<JournalEntry> entries = JournalCodec.decode(run.end().entries());
        JournalEntry.StepResult step = (JournalEntry.StepResult) entries.getFirst();
        assertEquals("echo", step.path());
        assertEquals(bench.fixture.time(), step.at());
        Await.until("it is counted", () -> bench.semel().count("completed") == 1);
    }

    @Test
    void a_body_knows_its_run_id() {
        bench.publish("w", KeyPolicyBuilder.plain(), (context, _) -> StringNode.valueOf(context.runId()));
        TriggerResult generated = bench.ask("w").send();
        TriggerResult chosen = bench.ask("w").runId("mine").send();
        assertEquals(generated.runId(), bench.output(generated.run()).stringValue());
        assertEquals("mine", bench.output(chosen.run()).stringValue());
    }

    @Test
    void null_is_an_output() {
        DatabaseRows.RunRow run = run((_, _) -> NullNode.getInstance());
        assertEquals(RunState.COMPLETED, run.state());
        assertEquals("null", ending(run).output());
    }

    @Test
    @SuppressWarnings("NullAway") // what a body in Java may do wrong
    void a_body_that_returns_nothing_at_all_fails() {
        assertEquals(RunState.FAILED, run((_, _) -> null).state());
        DatabaseRows.RunRow step = run((context, _) -> context.step("nothing", () -> null));
        assertEquals("null", ending(step).output(), "a step without a result has null for one");
    }

    @Test
    void a_failure_names_its_step_and_its_kind() {
        DatabaseRows.RunRow run = run((context, input) -> {
            context.step("first", this::counted);
            return context.step("second", () -> {
                throw new IllegalStateException("no more");
            });
        });
        assertEquals(RunState.FAILED, run.state());
        assertEquals(new StoreWrite.RunResult(null, "IllegalStateException", "no more", "second"), ending(run));
        assertNotNull(run.end());
        assertEquals(
                2, JournalCodec.decode(run.end().entries()).size(), "the first step and the failure are on record");
        assertEquals(1, bench.semel().count("failed"));
    }

    @Test
    void a_jvm_error_fails_the_run_too() {
        assertEquals(
                "StackOverflowError",
                ending(run((_, _) -> {
                            throw new StackOverflowError();
                        }))
                        .errorCode());
    }

    @Test
    void a_step_name_used_twice_is_rejected_and_does_not_run() {
        DatabaseRows.RunRow run = run((context, _) -> {
            context.step("same", this::counted);
            return context.step("same", this::counted);
        });
        assertEquals("invalid-definition", ending(run).errorCode());
        assertEquals("same", ending(run).errorStep());
        assertEquals(1, done.get());
    }

    @Test
    void a_result_that_is_too_large_is_rejected() {
        int most = EngineLimits.DEFAULT.stepResultBytes() - 2; // the quotes
        assertEquals(
                RunState.COMPLETED,
                run((context, _) -> {
                            context.step("large", () -> StringNode.valueOf("x".repeat(most)));
                            return NullNode.getInstance();
                        })
                        .state());
        DatabaseRows.RunRow refused =
                run((context, _) -> context.step("larger", () -> StringNode.valueOf("x".repeat(most + 1))));
        assertEquals(RunState.FAILED, refused.state());
        assertEquals("larger", ending(refused).errorStep());
        assertTrue(String.valueOf(ending(refused).errorMessage()).contains("was not recorded"));
    }

    @Test
    void a_failure_with_any_message_ends_the_run() {
        String longest = "x".repeat(999);
        for (String message :
                List.of("", "a NUL \u0000 in it", longest + "😀 cut in the middle", "half a pair \uD83D", "\uDE00")) {
            DatabaseRows.RunRow run = run((_, _) -> {
                throw new IllegalStateException(message);
            });
            assertEquals(RunState.FAILED, run.state());
            assertTrue(String.valueOf(ending(run).errorMessage()).length() <= 1_000);
        }
        DatabaseRows.RunRow silent = run((_, _) -> {
            throw new IllegalStateException();
        });
        assertEquals(RunState.FAILED, silent.state());
    }

    @Test
    void a_step_with_any_name_ends_the_run() {
        for (String name : List.of("", "a NUL \u0000 in it", "half a pair \uD83D", "x".repeat(20_000), "ü 😀")) {
            DatabaseRows.RunRow run = run((context, input) -> {
                context.step(name, () -> input);
                throw new IllegalStateException("no");
            });
            assertEquals(RunState.FAILED, run.state());
        }
    }

    @Test
    void a_result_with_any_content_ends_the_run() {
        for (String text : List.of("a NUL \u0000 in it", "half a pair \uD83D", "\uFFFF ü 😀")) {
            DatabaseRows.RunRow run = run((context, _) -> context.step("text", () -> StringNode.valueOf(text)));
            assertTrue(run.state().hasEnded());
        }
        assertTrue(run((context, _) ->
                        context.step("number", () -> tools.jackson.databind.node.DoubleNode.valueOf(Double.NaN)))
                .state()
                .hasEnded());
    }
}
