package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.semel.admission.Trigger;
import dev.semel.admission.TriggerResult;
import dev.semel.admission.TriggerSource;
import dev.semel.definition.WorkflowCatalogEntry;
import dev.semel.error.SemelException;
import dev.semel.idempotency.ChosenRunId;
import dev.semel.idempotency.IdempotencyKey;
import dev.semel.json.StrictJsonCodec;
import java.time.Duration;
import org.jspecify.annotations.Nullable;

/** A trigger in the making. */
public final class TriggerBuilder {
    private final EngineTestBench bench;
    private final String workflow;
    private @Nullable SemelRuntime worker;
    private @Nullable IdempotencyKey key;
    private @Nullable ChosenRunId runId;
    private Trigger.@Nullable SourceKey sourceKey;
    private String input = "{}";
    private String actor = "tester";
    private boolean strict;
    private @Nullable Runnable freshOnly;
    private @Nullable Runnable repeatOnly;

    TriggerBuilder(EngineTestBench bench, String workflow) {
        this.bench = bench;
        this.workflow = workflow;
    }

    /** At this worker, not at the first one. */
    public TriggerBuilder at(SemelRuntime value) {
        worker = value;
        return this;
    }

    public TriggerBuilder key(String value) {
        key = IdempotencyKey.of(value);
        return this;
    }

    public TriggerBuilder runId(String value) {
        runId = new ChosenRunId(value);
        return this;
    }

    /** Through a source that names what came by itself. */
    public TriggerBuilder through(TriggerSource at, String text, Duration window) {
        sourceKey = new Trigger.SourceKey(at, text, "shown " + text, window);
        return this;
    }

    public TriggerBuilder input(String json) {
        input = json;
        return this;
    }

    public TriggerBuilder actor(String value) {
        actor = value;
        return this;
    }

    public TriggerBuilder strict() {
        strict = true;
        return this;
    }

    public TriggerBuilder freshOnly(Runnable check) {
        freshOnly = check;
        return this;
    }

    public TriggerBuilder repeatOnly(Runnable check) {
        repeatOnly = check;
        return this;
    }

    /** What a source would hand in right now. */
    public Trigger trigger() {
        SemelRuntime semel = worker == null ? bench.semel() : worker;
        WorkflowCatalogEntry entry = semel.workflow(bench.workspace(), workflow);
        if (entry == null) {
            throw new AssertionError("no workflow " + workflow);
        }
        return new Trigger(
                new Trigger.TriggerWorkspace(bench.workspace(), bench.secret()),
                entry,
                StrictJsonCodec.parse(input),
                input,
                new Trigger.Identifiers(key, runId, sourceKey),
                new Trigger.Sender(
                        sourceKey == null ? TriggerSource.LIBRARY : sourceKey.source(), actor, "correlation"),
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
