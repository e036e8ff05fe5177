package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.admission.Trigger;
import dev.semel.admission.TriggerResult;
import dev.semel.run.RunState;
import dev.semel.store.Dialect;
import dev.semel.store.StoreWriteCommand;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** A paused workflow takes triggers and lets them wait. */
@ParameterizedClass
@EnumSource
final class PauseTest {
    private final EngineTestBench bench;

    PauseTest(Dialect dialect) {
        bench = new EngineTestBench(dialect);
        bench.publish("plain", KeyPolicyBuilder.plain(), EngineTestBench.ECHO);
    }

    @AfterEach
    void close() {
        bench.close();
    }

    private void pause(boolean paused) {
        bench.semel().change(new StoreWriteCommand.PauseWorkflow(bench.workspace(), "wf_plain", paused));
    }

    @Test
    void triggers_of_a_paused_workflow_queue_and_run_when_it_is_resumed() {
        pause(true);
        List<TriggerResult> queued = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            queued.add(bench.ask("plain").key("K" + i).send());
        }
        for (TriggerResult answer : queued) {
            assertFalse(answer.replayed());
            assertEquals(RunState.QUEUED, answer.state());
        }
        TriggerResult again = bench.ask("plain").key("K0").send();
        assertTrue(again.replayed());
        assertEquals(RunState.QUEUED, again.state());
        assertEquals(queued.getFirst().runId(), again.runId());
        pause(false);
        queued.forEach(answer ->
                assertEquals(RunState.COMPLETED, bench.ended(answer.run()).state()));
        assertEquals(5, bench.runs());
    }

    @Test
    void a_trigger_concurrent_with_a_resume_is_not_queued() {
        pause(true);
        Trigger late = bench.ask("plain").key("K").trigger();
        pause(false);
        TriggerResult started = bench.semel().trigger(late);
        assertEquals(RunState.STARTED, started.state());
        assertEquals(RunState.COMPLETED, bench.ended(started.run()).state());
    }

    @Test
    void a_trigger_concurrent_with_a_pause_is_queued() {
        Trigger late = bench.ask("plain").key("K").trigger();
        pause(true);
        TriggerResult queued = bench.semel().trigger(late);
        assertEquals(RunState.QUEUED, queued.state());
        assertEquals(RunState.QUEUED, bench.run(queued.run()).state());
        pause(false);
        assertEquals(RunState.COMPLETED, bench.ended(queued.run()).state());
    }

    @Test
    void queued_runs_stay_queued_across_a_restart() {
        pause(true);
        TriggerResult answer = bench.ask("plain").key("K").send();
        bench.restart();
        assertEquals(RunState.QUEUED, bench.run(answer.run()).state());
        assertEquals(RunState.QUEUED, bench.ask("plain").key("K").send().state());
        pause(false);
        assertEquals(RunState.COMPLETED, bench.ended(answer.run()).state());
    }

    @Test
    void other_workflows_continue() {
        bench.publish("other", KeyPolicyBuilder.plain(), EngineTestBench.ECHO);
        pause(true);
        TriggerResult other = bench.ask("other").send();
        assertEquals(RunState.STARTED, other.state());
        bench.ended(other.run());
    }
}
