package dev.semel.definition;

import dev.semel.idempotency.CanonicalJsonWriter;
import dev.semel.idempotency.KeyPolicy;
import dev.semel.json.StrictJsonCodec;
import dev.semel.schedule.Schedule;
import dev.semel.workflow.TypeRef;
import dev.semel.workflow.Workflow;
import dev.semel.workflow.WorkflowBuilder;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

public final class JavaWorkflow<I, O> implements Workflow<I, O> {
    private final JavaWorkflowDeclaration declaration;
    private final WorkflowInputConverter<I> input;
    private final List<WorkflowInputConverter.InputField<I>> fingerprint;
    private final WorkflowBuilder.@Nullable InputAccessor<I, ?> key;
    private final TypeRef<O> out;
    private final List<WorkflowTriggers.EventSubscription> events;
    private final WorkflowBody body;

    public JavaWorkflow(
            JavaWorkflowDeclaration declaration,
            WorkflowInputConverter<I> input,
            List<WorkflowInputConverter.InputField<I>> fingerprint,
            WorkflowBuilder.@Nullable InputAccessor<I, ?> key,
            TypeRef<O> out,
            List<WorkflowTriggers.EventSubscription> events,
            WorkflowBody body) {
        this.declaration = declaration;
        this.input = input;
        this.fingerprint = List.copyOf(fingerprint);
        this.key = key;
        this.out = out;
        this.events = List.copyOf(events);
        this.body = body;
    }

    /** The engine's view of a workflow that {@link Workflow#define} created. */
    public static <I, O> JavaWorkflow<I, O> of(Workflow<I, O> workflow) {
        if (workflow instanceof JavaWorkflow<I, O> defined) {
            return defined;
        }
        throw new IllegalArgumentException(
                "the workflow " + workflow.name() + " was not created with Workflow.define(…). Nothing was changed");
    }

    @Override
    public String name() {
        return declaration.name();
    }

    public @Nullable String title() {
        return declaration.title();
    }

    public @Nullable String description() {
        return declaration.description();
    }

    /** The owner of the workflow, shown in the dashboard, alerts and reviews. */
    public @Nullable String owner() {
        return declaration.owner();
    }

    public KeyPolicy policy() {
        return declaration.policy();
    }

    public KeyPolicy policyOfVersion(String storedDescriptor) {
        return storedDescriptor.equals(descriptor())
                ? policy()
                : StoredIdempotencyKeyPolicyReader.of(storedDescriptor, policy());
    }

    public ConcurrencyControl concurrency() {
        return declaration.concurrency();
    }

    /** Maximum duration of a whole run; null for none. */
    public @Nullable Duration deadline() {
        return declaration.deadline();
    }

    public static List<Schedule> schedulesOfVersion(String storedDescriptor) {
        return StrictJsonCodec.parse(storedDescriptor).path("schedules").properties().stream()
                .map(one -> Schedule.parse(one.getKey(), one.getValue()))
                .toList();
    }

    /** Types come from the stored declaration, mappers from the current code. */
    public List<WorkflowTriggers.EventSubscription> subscriptionsOfVersion(String storedDescriptor) {
        return StrictJsonCodec.parse(storedDescriptor)
                .path("events")
                .valueStream()
                .map(type -> events.stream()
                        .filter(one -> one.type().equals(type.asString()))
                        .findFirst()
                        .orElseGet(() -> new WorkflowTriggers.EventSubscription(
                                type.asString(), null, WorkflowTriggers.EventMapper.DATA_AS_INPUT)))
                .toList();
    }

    /**
     * Derives the key from the data, for a trigger without a key; null if the workflow has no
     * {@link dev.semel.workflow.WorkflowBuilder#keyedBy}.
     *
     * @throws dev.semel.error.SemelException `idempotency-key-required` if the key is empty or its derivation fails,
     *     `idempotency-key-invalid` if it is malformed
     */
    public @Nullable String derivedKey(JsonNode data) {
        return key == null ? null : input.derivedKey(data, key);
    }

    /** @throws dev.semel.error.SemelException `invalid-input`, with JSON Pointers in `errors` and without values */
    public void checkInput(JsonNode data) {
        input.check(data, fingerprint);
    }

    public JsonNode inputOf(I value) {
        return input.codec().write(value, "the input of workflow \"" + name() + "\"");
    }

    /** Whether data equal the recorded input of a run, also if the input type has changed compatibly since. */
    public boolean isInput(JsonNode data, JsonNode recorded) {
        return same(data, recorded) || same(data, input.normalize(recorded));
    }

    private static boolean same(JsonNode one, JsonNode other) {
        return Arrays.equals(CanonicalJsonWriter.bytes(one), CanonicalJsonWriter.bytes(other));
    }

    @SuppressWarnings("NullAway") // null is what the workflow's own code returned
    public O outputOf(JsonNode output) {
        return input.codec().read(output, out.type(), "The output of workflow \"" + name() + "\"");
    }

    public WorkflowBody body() {
        return body;
    }

    /** Stored as the body of a version. It contains no code, so a change only in code does not create a new version. */
    public String descriptor() {
        return declaration.toJson();
    }
}
