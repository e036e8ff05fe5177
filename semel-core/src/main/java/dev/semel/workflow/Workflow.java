package dev.semel.workflow;

import dev.semel.admission.CanonicalJson;
import dev.semel.admission.FieldPath;
import dev.semel.admission.KeyPolicy;
import dev.semel.json.JsonCodec;
import dev.semel.json.StrictJson;
import dev.semel.schedule.Schedule;
import java.time.Duration;
import java.util.Arrays;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A workflow defined in Java: its name, key policy, triggers and code. Immutable; define it as a constant.
 *
 * {@snippet :
 * static final Workflow<Payment, Receipt> RECEIPT = Workflow.define("payment_receipt", Payment.class, Receipt.class)
 *         .keyedBy(Payment::eventId)
 *         .fingerprint(Payment::paymentId, Payment::amount)
 *         .body((ctx, payment) -> new Receipt(
 *                 ctx.effect("capture").providerHonoursKey(Duration.ofHours(24))
 *                         .call(String.class, e -> stripe.charge(payment, e.key()))));
 * }
 */
public final class Workflow<I, O> {
    private final WorkflowDeclaration declaration;
    private final WorkflowInput<I> input;
    private final List<WorkflowInput.InputField<I>> fingerprint;
    private final @Nullable Accessor<I, ?> key;
    private final TypeRef<O> out;
    private final UserFunctions.WorkflowFunction<I, O> flow;
    private final List<WorkflowTriggers.EventSubscription> events;
    private final List<FieldPath> pii;

    Workflow(WorkflowBuilder<I, O> draft, UserFunctions.WorkflowFunction<I, O> flow) {
        this.declaration = draft.declaration();
        this.input = draft.input();
        this.fingerprint = draft.fingerprint();
        this.key = draft.key();
        this.out = draft.out();
        this.flow = flow;
        this.events = draft.events();
        this.pii = draft.pii();
    }

    /** @param name 1 to 64 characters a-z, 0-9, _ and -, beginning with a letter */
    public static <I, O> WorkflowBuilder<I, O> define(String name, Class<I> in, Class<O> out) {
        return define(name, TypeRef.of(in), TypeRef.of(out));
    }

    public static <I, O> WorkflowBuilder<I, O> define(String name, TypeRef<I> in, TypeRef<O> out) {
        return new WorkflowBuilder<>(name, in, out);
    }

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

    /** The key policy of an earlier version of this workflow, read from its stored declaration. */
    public KeyPolicy policyOfVersion(String storedDescriptor) {
        return storedDescriptor.equals(descriptor()) ? policy() : StoredKeyPolicy.of(storedDescriptor, policy());
    }

    public ConcurrencyControl concurrency() {
        return declaration.concurrency();
    }

    /** Maximum duration of a whole run; null for none. */
    public @Nullable Duration deadline() {
        return declaration.deadline();
    }

    /** The schedules that start this workflow. */
    public List<Schedule> schedules() {
        return declaration.schedules();
    }

    /** The schedules of an earlier version, read from its stored declaration. */
    public static List<Schedule> schedulesOfVersion(String storedDescriptor) {
        return StrictJson.parse(storedDescriptor).path("schedules").properties().stream()
                .map(one -> Schedule.parse(one.getKey(), one.getValue()))
                .toList();
    }

    /**
     * The event subscriptions of an earlier version: types from its stored declaration, mappers from the current code.
     */
    public List<WorkflowTriggers.EventSubscription> subscriptionsOfVersion(String storedDescriptor) {
        return StrictJson.parse(storedDescriptor)
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
     * {@link WorkflowBuilder#keyedBy}.
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

    /** Writes an input value as the data of a trigger. */
    public JsonNode inputOf(I value) {
        return input.codec().write(value, "the input of workflow \"" + name() + "\"");
    }

    /** Whether data equal the recorded input of a run, also if the input type has changed compatibly since. */
    public boolean isInput(JsonNode data, JsonNode recorded) {
        return same(data, recorded) || same(data, input.normalize(recorded));
    }

    private static boolean same(JsonNode one, JsonNode other) {
        return Arrays.equals(CanonicalJson.bytes(one), CanonicalJson.bytes(other));
    }

    /** Reads the recorded output of a run of this workflow. */
    @SuppressWarnings("NullAway") // null is what the workflow's own code returned
    public O outputOf(JsonNode output) {
        return input.codec().read(output, out.type(), "The output of workflow \"" + name() + "\"");
    }

    public WorkflowBody body() {
        JsonCodec codec = input.codec();
        return new WorkflowBody() {
            @Override
            public JsonNode run(DurableOperations durable, JsonNode data) throws Exception {
                return codec.write(
                        flow.run(new Context(durable, codec), input.readRecorded(data)),
                        "the output of workflow \"" + name() + "\"");
            }

            @Override
            public List<FieldPath> piiPaths() {
                return pii;
            }
        };
    }

    /**
     * The declaration as JSON, which Semel stores as the body of a version. It does not contain code, so a change only
     * in code or in a lambda does not create a new version.
     */
    public String descriptor() {
        return declaration.toJson();
    }
}
