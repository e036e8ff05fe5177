package dev.semel.trials.path;

import static dev.semel.trials.support.SampleWorkflows.data;
import static dev.semel.trials.support.SampleWorkflows.flow;

import dev.semel.run.RunId;
import dev.semel.runtime.SemelRuntime;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.ServerFixture;
import dev.semel.trials.support.StoreKind;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;

/** Sends triggers with new keys to a warm server and returns the calls of each. {@link RecordingClassLoader} loads it. */
public final class TriggerScenario implements Callable<List<List<CallRecorder.Call>>> {
    private static final int WARM = 20;
    private static final int REQUESTS = 5;

    @Override
    public List<List<CallRecorder.Call>> call() {
        ServerFixture stage = new ServerFixture(StoreKind.SQLITE);
        try {
            stage.admin().publish(flow("plain"));
            for (int i = 0; i < WARM; i++) {
                trigger(stage);
            }
            List<List<CallRecorder.Call>> calls = new ArrayList<>();
            for (int i = 0; i < REQUESTS; i++) {
                CallRecorder.start();
                trigger(stage);
                calls.add(CallRecorder.stop());
            }
            return calls;
        } finally {
            stage.end();
        }
    }

    /** Returns when the run has ended. */
    private static void trigger(ServerFixture stage) {
        HttpReply reply = stage.admin().trigger("plain", stage.key(), data(""));
        RunId run = Objects.requireNonNull(RunId.parse(reply.expect(200).runId()));
        SemelRuntime semel = stage.server().serve().semel();
        semel.await(semel.testAccess().workspace(), run, Duration.ofSeconds(30));
    }
}
