package dev.semel.workflow;

import dev.semel.definition.DurableWorkflowOperations;
import dev.semel.definition.EffectSpec;
import dev.semel.definition.StepSpec;
import dev.semel.json.StrictJsonCodec;
import java.sql.Connection;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.UUID;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** A run whose journal is a map: what is recorded is not done again, and comes back as text would from a store. */
final class InMemoryDurableOperations implements DurableWorkflowOperations {
    /** What the run and the world around it have in common over all executions and scopes. */
    static final class SharedState {
        final Map<String, String> recorded = new LinkedHashMap<>();
        final Map<String, EffectSpec> effects = new LinkedHashMap<>();
        final Map<String, StepSpec> steps = new LinkedHashMap<>();
        final Map<String, JsonNode> signals = new HashMap<>();
        final Map<String, Function<JsonNode, JsonNode>> children = new HashMap<>();
        final List<ChildWorkflowCall> called = new ArrayList<>();
        final List<OutgoingSignal> sent = new ArrayList<>();
        final List<String> statuses = new ArrayList<>();
        final List<String> sleeps = new ArrayList<>();
        final Map<String, Compensation> undos = new LinkedHashMap<>();
        final Map<String, ApprovalRequest> asked = new LinkedHashMap<>();
        ApprovalDecision decision = new ApprovalDecision.TimedOut();

        /** The names of effects that were sent before a crash lost their record. */
        final List<String> lost = new ArrayList<>();

        int atOnce;
    }

    final SharedState shared;
    private final String path;

    InMemoryDurableOperations(SharedState shared) {
        this(shared, "");
    }

    private InMemoryDurableOperations(SharedState world, String path) {
        this.shared = world;
        this.path = path;
    }

    @Override
    public String runId() {
        return "run_1";
    }

    @Override
    public String stepId(String name) {
        return "step_" + path + name;
    }

    @Override
    public JsonNode step(StepSpec plan, StepWork work) {
        shared.steps.put(path + plan.name(), plan);
        return recorded(plan.name(), () -> work.run(doing(plan.name(), null)));
    }

    @Override
    public EffectOutcome<JsonNode> effect(EffectSpec plan, EffectSender sending) {
        String name = plan.step().name();
        shared.effects.put(path + name, plan);
        Step step = doing(name, plan.key());
        if (!shared.lost.contains(name)) {
            return new EffectOutcome.Done<>(recorded(name, () -> sending.send(step)));
        }
        return switch (plan.protection().word()) {
            case "lookup" ->
                new EffectOutcome.Done<>(recorded(name, () -> {
                    JsonNode found = sending.lookup(step);
                    return found == null ? sending.send(step) : found;
                }));
            case "repeatable", "provider_key" -> new EffectOutcome.Done<>(recorded(name, () -> sending.send(step)));
            default -> new EffectOutcome.Indeterminate<>("the record was lost");
        };
    }

    @Override
    public JsonNode tx(StepSpec plan, TxWork work) {
        shared.steps.put(path + plan.name(), plan);
        return recorded(plan.name(), () -> work.run(NO_CONNECTION, doing(plan.name(), null)));
    }

    @Override
    public void sleep(String name, Duration length) {
        shared.sleeps.add(path + name + " " + length);
    }

    @Override
    public void sleepUntil(String name, Instant due) {
        shared.sleeps.add(path + name + " " + due);
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
        return await(name, "reply/" + from, longest);
    }

    @Override
    public @Nullable JsonNode await(String name, String signal, @Nullable Duration longest) {
        JsonNode value = shared.signals.get(signal);
        if (value == null && longest == null) {
            throw new IllegalStateException("this run would wait for ever");
        }
        return value;
    }

    @Override
    public ApprovalDecision approval(String name, ApprovalRequest approval) {
        shared.asked.put(path + name, approval);
        return shared.decision;
    }

    @Override
    public <I, R> List<R> forEach(String name, KeyedItems<I> items, Branch<I, R> branch) {
        shared.atOnce = items.concurrency();
        List<R> results = new ArrayList<>();
        for (int i = 0; i < items.values().size(); i++) {
            String scope = path + name + "/" + items.keys().get(i) + "/";
            int at = i;
            results.add(unchecked(() -> branch.run(
                    new InMemoryDurableOperations(shared, scope), items.values().get(at))));
        }
        return results;
    }

    @Override
    public JsonNode call(String name, ChildWorkflowCall child) {
        return recorded(name, () -> {
            shared.called.add(child);
            Function<JsonNode, JsonNode> other = shared.children.get(child.workflow());
            if (other == null) {
                throw new IllegalStateException("there is no workflow " + child.workflow());
            }
            return other.apply(child.input());
        });
    }

    @Override
    public void compensate(String name, Compensation undo) {
        shared.undos.put(path + name, undo);
    }

    @Override
    public void signal(String name, OutgoingSignal signal) {
        if (shared.recorded.putIfAbsent(path + name, "null") == null) {
            shared.sent.add(signal);
        }
    }

    @Override
    public Instant now() {
        return Instant.EPOCH;
    }

    @Override
    public UUID uuid() {
        return new UUID(0, 7);
    }

    @Override
    public double random() {
        return 0.5;
    }

    @Override
    public void status(String text) {
        shared.statuses.add(text);
    }

    @Override
    public void awaitDurable() {
        shared.statuses.add("(durable)");
    }

    private JsonNode recorded(String name, Thrower<JsonNode> work) {
        String known = shared.recorded.get(path + name);
        if (known == null) {
            known = StrictJsonCodec.write(unchecked(work));
            shared.recorded.put(path + name, known);
        }
        return StrictJsonCodec.parse(known);
    }

    private Step doing(String name, @Nullable String key) {
        return new FakeStep(stepId(name), key == null ? stepId(name) : key);
    }

    private record FakeStep(String id, String key) implements Step {
        @Override
        public int attempt() {
            return 1;
        }
    }

    @FunctionalInterface
    private interface Thrower<T> {
        T get() throws Exception;
    }

    private static <T> T unchecked(Thrower<T> work) {
        try {
            return work.get();
        } catch (RuntimeException e) {
            throw e;
        } catch (Exception e) {
            throw new IllegalStateException(e);
        }
    }

    /** Handed through and never asked anything. */
    @SuppressWarnings("NullAway")
    private static final Connection NO_CONNECTION = null;
}
