package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.semel.error.SemelException;
import dev.semel.json.StrictJson;
import dev.semel.admission.ChosenRunId;
import dev.semel.admission.IdempotencyKey;
import dev.semel.trigger.TriggerResult;
import dev.semel.trigger.TriggerSource;
import dev.semel.trigger.Trigger;
import dev.semel.definition.CurrentWorkflow;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A trigger in the making. */
public final class Asking {
    private final Bench bench;
    private final String workflow;
    private @Nullable SemelRuntime worker;
    private @Nullable IdempotencyKey key;
    private @Nullable ChosenRunId runId;
    private Trigger.@Nullable SourceKey door;
    private String input = "{}";
    private String actor = "tester";
    private boolean strict;
    private @Nullable Runnable freshOnly;
    private @Nullable Runnable repeatOnly;

    Asking(Bench bench, String workflow) {
        this.bench = bench;
        this.workflow = workflow;
    }

    /** At this worker, not at the first one. */
    public Asking at(SemelRuntime value) {
        worker = value;
        return this;
    }

    public Asking key(String value) {
        key = IdempotencyKey.of(value);
        return this;
    }

    public Asking runId(String value) {
        runId = new ChosenRunId(value);
        return this;
    }

    /** Through a door that names what came by itself. */
    public Asking through(TriggerSource at, String text, Duration window) {
        door = new Trigger.SourceKey(at, text, "shown " + text, window);
        return this;
    }

    public Asking input(String json) {
        input = json;
        return this;
    }

    public Asking actor(String value) {
        actor = value;
        return this;
    }

    public Asking strict() {
        strict = true;
        return this;
    }

    public Asking freshOnly(Runnable check) {
        freshOnly = check;
        return this;
    }

    public Asking repeatOnly(Runnable check) {
        repeatOnly = check;
        return this;
    }

    /** What a door would hand in right now. */
    public Trigger trigger() {
        SemelRuntime semel = worker == null ? bench.semel() : worker;
        CurrentWorkflow entry = semel.workflow(bench.workspace(), workflow);
        if (entry == null) {
            throw new AssertionError("no workflow " + workflow);
        }
        return new Trigger(
                new Trigger.TriggerWorkspace(bench.workspace(), bench.secret()),
                entry,
                StrictJson.parse(input),
                input,
                new Trigger.Identifiers(key, runId, door),
                new Trigger.Sender(door == null ? TriggerSource.LIBRARY : door.source(), actor, "correlation"),
                strict,
                new Trigger.AdmissionChecks(freshOnly, repeatOnly));
    }

    public TriggerResult send() {
        SemelRuntime semel = worker == null ? bench.semel() : worker;
        return semel.trigger(trigger());
    }

    public SemelException refused() {
        return assertThrows(SemelException.class, this::send);
    }
}
