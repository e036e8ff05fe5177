package dev.semel.server.files.definition;

import dev.semel.definition.DurableWorkflowOperations;
import dev.semel.definition.EffectSpec;
import dev.semel.definition.StepSpec;
import dev.semel.json.StrictJsonCodec;
import dev.semel.workflow.ApprovalDecision;
import dev.semel.workflow.ApprovalRequest;
import dev.semel.workflow.EffectOutcome;
import dev.semel.workflow.Step;
import java.time.Duration;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** A journal in memory: a recorded step is not run again, and results come back as they would from a store. */
final class InMemoryDurableOperations implements DurableWorkflowOperations {
    final Map<String, String> recorded = new LinkedHashMap<>();
    private final String runId;

    InMemoryDurableOperations(String runId) {
        this.runId = runId;
    }

    @Override
    public String stepId(String name) {
        return runId() + "/" + name;
    }

    @Override
    public String runId() {
        return runId;
    }

    @Override
    public JsonNode step(StepSpec plan, StepWork work) {
        String known = recorded.get(plan.name());
        if (known == null) {
            try {
                known = StrictJsonCodec.write(work.run(NO_STEP));
            } catch (RuntimeException e) {
                throw e;
            } catch (Exception e) {
                throw new IllegalStateException(e);
            }
            recorded.put(plan.name(), known);
        }
        return StrictJsonCodec.parse(known);
    }

    private static final Step NO_STEP = new Step() {
        @Override
        public String id() {
            return "";
        }

        @Override
        public String key() {
            return "";
        }

        @Override
        public int attempt() {
            return 1;
        }
    };

    private static UnsupportedOperationException notHere() {
        return new UnsupportedOperationException("files have only plain steps so far");
    }

    @Override
    public EffectOutcome<JsonNode> effect(EffectSpec plan, EffectSender sending) {
        throw notHere();
    }

    @Override
    public JsonNode tx(StepSpec plan, TxWork work) {
        throw notHere();
    }

    @Override
    public void sleep(String name, Duration length) {
        throw notHere();
    }

    @Override
    public void sleepUntil(String name, Instant due) {
        throw notHere();
    }

    @Override
    public @Nullable JsonNode await(String name, String signal, String key, @Nullable Duration longest) {
        return await(name, signal + "/" + key, longest);
    }

    @Override
    public int depth() {
        return 0;
    }

    @Override
    public @Nullable JsonNode awaitReply(String name, String from, @Nullable Duration longest) {
        throw notHere();
    }

    @Override
    public @Nullable JsonNode await(String name, String signal, @Nullable Duration longest) {
        throw notHere();
    }

    @Override
    public ApprovalDecision approval(String name, ApprovalRequest approval) {
        throw notHere();
    }

    @Override
    public <I, R> List<R> forEach(String name, KeyedItems<I> items, Branch<I, R> branch) {
        throw notHere();
    }

    @Override
    public JsonNode call(String name, ChildWorkflowCall child) {
        throw notHere();
    }

    @Override
    public void compensate(String name, Compensation undo) {
        throw notHere();
    }

    @Override
    public void signal(String name, OutgoingSignal signal) {
        throw notHere();
    }

    @Override
    public Instant now() {
        return Instant.parse("2026-11-16T07:00:00Z");
    }

    @Override
    public UUID uuid() {
        throw notHere();
    }

    @Override
    public double random() {
        throw notHere();
    }

    @Override
    public void status(String text) {
        throw notHere();
    }

    @Override
    public void awaitDurable() {
        throw notHere();
    }
}
