package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.semel.admission.Trigger;
import dev.semel.admission.TriggerQuota;
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
    private @Nullable SemelException rejection;
    private @Nullable Runnable chargeFresh;
    private @Nullable Runnable chargeRepeat;

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

    /** Why a fresh trigger is rejected, such as an input that is not valid. */
    public TriggerBuilder rejection(@Nullable SemelException value) {
        rejection = value;
        return this;
    }

    /** The quota of fresh triggers. */
    public TriggerBuilder freshOnly(Runnable charge) {
        chargeFresh = charge;
        return this;
    }

    public TriggerBuilder repeatOnly(Runnable charge) {
        chargeRepeat = charge;
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
                rejection);
    }

    public TriggerResult send() {
        SemelRuntime semel = worker == null ? bench.semel() : worker;
        return send(semel, trigger());
    }

    /** Sends a trigger that was built earlier, with the quota of this builder. */
    public TriggerResult send(SemelRuntime semel, Trigger trigger) {
        return semel.trigger(trigger.workspace().id(), trigger.current(), quota(), trigger::withWorkflow);
    }

    private TriggerQuota quota() {
        return new TriggerQuota() {
            @Override
            public boolean limitsFresh() {
                return chargeFresh != null;
            }

            @Override
            public void chargeFresh() {
                if (chargeFresh != null) {
                    chargeFresh.run();
                }
            }

            @Override
            public void chargeRepeat() {
                if (chargeRepeat != null) {
                    chargeRepeat.run();
                }
            }
        };
    }

    public SemelException refused() {
        return assertThrows(SemelException.class, this::send);
    }
}
