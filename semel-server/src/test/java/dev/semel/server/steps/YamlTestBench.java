package dev.semel.server.steps;

import dev.semel.admission.Trigger;
import dev.semel.admission.TriggerSource;
import dev.semel.error.RunNotEnded;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJsonCodec;
import dev.semel.run.RunState;
import dev.semel.runtime.ManualClock;
import dev.semel.runtime.RunHandle;
import dev.semel.runtime.RuntimeOptions;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.api.PublishedYamlWorkflow;
import dev.semel.server.definition.WorkflowDefinition;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreWriteCommand;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.util.Objects;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;

/** Files on a real engine and a real store, with a clock that is moved by hand. */
final class YamlTestBench implements AutoCloseable {
    private static final Duration MOMENT = Duration.ofMillis(20);
    private static final int MOST_LOOKS = 1_000;

    private final Path folder;
    private final YamlStepDependencies outside;
    private final ManualClock clock = ManualClock.startingNow();
    private SemelRuntime semel;
    private final DatabaseRows.WorkspaceRow workspace;

    YamlTestBench(Path folder, YamlStepDependencies outside) {
        this.folder = folder;
        this.outside = outside;
        this.semel = opened();
        this.workspace = semel.change(new StoreWriteCommand.CreateWorkspace("one", new byte[32]));
    }

    private SemelRuntime opened() {
        return SemelRuntime.open(RuntimeOptions.of(
                        "sqlite:" + folder.resolve("semel.db"),
                        version -> PublishedYamlWorkflow.compile(version, _ -> outside))
                .withClock(clock.ambient(), () -> 0));
    }

    /** A whole file around the fields of one step, which is named `call`. */
    static String file(String step) {
        return "semel: 1\nworkflow: w\nowner: o\nsteps:\n  - id: call\n" + step.indent(4)
                + "output: ${ default(steps.call, null) }\n";
    }

    /** Publishes a workflow with this step, and starts a run of it. */
    String start(String step, String input) {
        WorkflowDefinition.compile(file(step));
        semel.change(new StoreWriteCommand.PublishVersion(workspace.ws(), "w", "wf_w", file(step), "tester"));
        var entry = Objects.requireNonNull(semel.workflow(workspace.ws(), "w"));
        return semel.trigger(new Trigger(
                        new Trigger.TriggerWorkspace(workspace.ws(), workspace.secret()),
                        entry,
                        StrictJsonCodec.parse(input),
                        input,
                        new Trigger.Identifiers(null, null),
                        new Trigger.Sender(TriggerSource.LIBRARY, "tester", null),
                        false,
                        null))
                .runId();
    }

    RunHandle<JsonNode> run(String runId) {
        return semel.run(workspace.ws(), runId);
    }

    /** Lets time pass until the run has ended or needs a person. */
    RunState settled(String runId) {
        for (int i = 0; i < MOST_LOOKS; i++) {
            RunHandle<JsonNode> run = run(runId);
            try {
                run.result(MOMENT);
                return RunState.valueOf(run.status().name());
            } catch (RunNotEnded goesOn) {
                clock.advance(untilRetry(run));
            } catch (SemelException ended) {
                return RunState.valueOf(run.status().name());
            }
        }
        throw new AssertionError(
                "run " + runId + " does not come to rest: " + run(runId).waitingFor());
    }

    /** A second, or the time until the next attempt of a step. */
    private Duration untilRetry(RunHandle<JsonNode> run) {
        String waits = String.valueOf(run.waitingFor());
        Matcher retry =
                Pattern.compile("\\{\"for\":\"retry\".*?\"until\":([0-9]+)").matcher(waits);
        long left = retry.find() ? Long.parseLong(retry.group(1)) - clock.micros() : 0;
        return Duration.ofMillis(Math.max(1_000, left / 1_000 + 1));
    }

    /** What the run gave; its step is named `call`. */
    JsonNode result(String runId) {
        settled(runId);
        return run(runId).result(Duration.ZERO);
    }

    /** Everything that is on disk. */
    String disk() throws IOException {
        var all = new StringBuilder();
        try (Stream<Path> files = Files.list(folder)) {
            for (Path file : files.sorted().toList()) {
                all.append(new String(Files.readAllBytes(file), StandardCharsets.ISO_8859_1));
            }
        }
        return all.toString();
    }

    /** The process goes away in the middle of whatever it does, and another one takes over. */
    void die() {
        semel.close(Duration.ZERO);
        semel = opened();
    }

    @Override
    public void close() {
        semel.close(Duration.ZERO);
    }
}
