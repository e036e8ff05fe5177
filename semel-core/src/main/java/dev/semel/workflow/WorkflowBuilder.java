package dev.semel.workflow;

import dev.semel.definition.ConcurrencyControl;
import dev.semel.definition.DurableWorkflowOperations;
import dev.semel.definition.JavaWorkflow;
import dev.semel.definition.JavaWorkflowDeclaration;
import dev.semel.definition.JavaWorkflowJsonAdapter;
import dev.semel.definition.MethodReferenceNameFinder;
import dev.semel.definition.WorkflowBody;
import dev.semel.definition.WorkflowInputConverter;
import dev.semel.definition.WorkflowTriggers;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.idempotency.FailedRunDuplicateRequestPolicy;
import dev.semel.idempotency.FingerprintField;
import dev.semel.idempotency.IdempotencyKeyScope;
import dev.semel.idempotency.JsonFieldPath;
import dev.semel.idempotency.KeyPolicy;
import dev.semel.json.JsonCodec;
import dev.semel.policy.SameKeyDifferentPayloadPolicy;
import dev.semel.policy.SamePayloadDifferentKeyPolicy;
import dev.semel.schedule.Schedule;
import java.io.Serializable;
import java.time.Duration;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import java.util.function.Supplier;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Builds a workflow: key, fingerprint, limits, schedules and subscriptions; {@link #body} sets the code and finishes.
 */
public final class WorkflowBuilder<I, O extends @Nullable Object> {
    private static final Pattern NAME = Pattern.compile("[a-z][a-z0-9_-]{0,63}");
    private static final String A_FUNCTION = "a function";
    private static final int LONGEST_TEXT = 1_000;
    private static final int LONGEST_TYPE = 255;

    private final String name;
    private final WorkflowInputConverter<I> input;
    private final TypeRef<O> out;
    private final Map<String, String> members;
    private final Map<String, FingerprintField> fields = new LinkedHashMap<>();
    private final List<WorkflowInputConverter.InputField<I>> accessors = new ArrayList<>();
    private final List<String> ignored = new ArrayList<>();
    private final List<JsonFieldPath> pii = new ArrayList<>();
    private final List<Schedule> schedules = new ArrayList<>();
    private final List<WorkflowTriggers.EventSubscription> events = new ArrayList<>();

    private @Nullable String title;
    private @Nullable String description;
    private @Nullable String owner;
    private @Nullable InputAccessor<I, ?> key;
    private Duration window = KeyPolicy.DEFAULT.window();
    private IdempotencyKeyScope scope = KeyPolicy.DEFAULT.scope();
    private @Nullable SameKeyDifferentPayloadPolicy onMismatch;
    private SamePayloadDifferentKeyPolicy duplicatePayload = KeyPolicy.DEFAULT.duplicatePayload();
    private FailedRunDuplicateRequestPolicy onFailed = KeyPolicy.DEFAULT.onFailed();
    private boolean holdWhileRunning = KeyPolicy.DEFAULT.holdWhileRunning();
    private boolean requireKey;
    private ConcurrencyControl concurrency = ConcurrencyControl.NONE;
    private @Nullable Duration deadline;

    WorkflowBuilder(String name, TypeRef<I> in, TypeRef<O> out) {
        this.name = name;
        if (!NAME.matcher(name).matches()) {
            throw invalid(
                    "the name of a workflow must have 1 to 64 characters a-z, 0-9, _ and -, and begin with a letter");
        }
        this.input = new WorkflowInputConverter<>(name, in.type(), JsonCodec.STANDARD);
        this.out = out;
        this.members = JsonCodec.STANDARD.members(in.type());
    }

    /** A display title; the name remains the identifier. */
    public WorkflowBuilder<I, O> title(String value) {
        title = text("title", value);
        return this;
    }

    public WorkflowBuilder<I, O> description(String value) {
        description = text("description", value);
        return this;
    }

    /** The owner of the workflow, shown in the dashboard, alerts and reviews. */
    public WorkflowBuilder<I, O> owner(String value) {
        owner = text("owner", value);
        return this;
    }

    /** Derives the key of a trigger that has none. Semel rejects the trigger if the derived key is empty. */
    public WorkflowBuilder<I, O> keyedBy(InputAccessor<I, ?> value) {
        key = value;
        return this;
    }

    /**
     * The fields that define the action of a trigger. Semel rejects the same key with a different value in one of them;
     * {@link #onMismatch} changes that. The conflict names the field if the accessor is a method reference.
     */
    @SafeVarargs
    @SuppressWarnings("varargs") // the array is only read
    public final WorkflowBuilder<I, O> fingerprint(InputAccessor<I, ?>... accessors) {
        for (InputAccessor<I, ?> accessor : accessors) {
            String member = memberOf(MethodReferenceNameFinder.of(accessor));
            String shown = nameOf(accessor, "field " + (fields.size() + 1));
            fingerprint(new WorkflowInputConverter.InputField<>(shown, member, accessor));
        }
        return this;
    }

    /** A computed field with a name: {@code fingerprint("email", o -> o.email().toLowerCase(Locale.ROOT))}. */
    public WorkflowBuilder<I, O> fingerprint(String field, Function<I, ?> accessor) {
        return fingerprint(new WorkflowInputConverter.InputField<>(
                text("the name of a fingerprint field", field), null, accessor));
    }

    /** Fingerprint fields by JSON path, for example {@code payment_id} or {@code lines[].sku}. */
    public WorkflowBuilder<I, O> fingerprintFields(String... paths) {
        for (String path : paths) {
            field(path("in the fingerprint", path).toField());
        }
        return this;
    }

    /** Uses all data except these paths as fingerprint, for payloads with a varying timestamp or trace id. */
    public WorkflowBuilder<I, O> fingerprintIgnore(String... paths) {
        for (String path : paths) {
            ignored.add(path("in the fingerprint", path).toString());
        }
        return this;
    }

    /** Paths of personal data (PII). Users see these values only after they give a reason. */
    public WorkflowBuilder<I, O> pii(String... paths) {
        for (String path : paths) {
            pii.add(path("in pii", path));
        }
        return this;
    }

    /** How long Semel remembers a key, 1 second to 365 days. Default: 24 hours. */
    public WorkflowBuilder<I, O> window(Duration value) {
        requireInRange("window", value, KeyPolicy.LONGEST_WINDOW);
        window = value;
        return this;
    }

    /** Makes keys unique in this workflow only. Default: in the workspace. */
    public WorkflowBuilder<I, O> keysPerWorkflow() {
        scope = IdempotencyKeyScope.WORKFLOW;
        return this;
    }

    /**
     * The response to a known key with a different payload. Default: reject with a declared fingerprint, else replay.
     */
    public WorkflowBuilder<I, O> onMismatch(SameKeyDifferentPayloadPolicy value) {
        onMismatch = value;
        return this;
    }

    /** The response to a known payload with a different key. Default: allow. */
    public WorkflowBuilder<I, O> duplicatePayload(SamePayloadDifferentKeyPolicy value) {
        duplicatePayload = value;
        return this;
    }

    /** Starts a new run for a known key whose run failed; recorded effects are reused. Default: return the failed run. */
    public WorkflowBuilder<I, O> runAgainAfterFailure() {
        onFailed = FailedRunDuplicateRequestPolicy.RUN_AGAIN;
        return this;
    }

    /** Whether the key of an unfinished run stays active after its window. Default: true. */
    public WorkflowBuilder<I, O> holdWhileRunning(boolean value) {
        holdWhileRunning = value;
        return this;
    }

    /** Rejects triggers without a key. */
    public WorkflowBuilder<I, O> requireKey() {
        requireKey = true;
        return this;
    }

    /** Executes the runs of one entity one after another, in order. */
    public WorkflowBuilder<I, O> serialBy(InputAccessor<I, ?> entity) {
        concurrency = new ConcurrencyControl(
                gateKey("serialBy", entity),
                concurrency.maxConcurrent(),
                concurrency.debounce(),
                concurrency.rateLimit());
        return this;
    }

    /** Maximum number of concurrent runs of this workflow. */
    public WorkflowBuilder<I, O> maxConcurrent(int value) {
        return concurrency(() ->
                new ConcurrencyControl(concurrency.serialBy(), value, concurrency.debounce(), concurrency.rateLimit()));
    }

    /** Runs only the last trigger of a burst with one key: after a quiet period, at the latest after {@code atMost}. */
    public WorkflowBuilder<I, O> debounce(InputAccessor<I, ?> by, Duration quiet, Duration atMost) {
        return concurrency(() -> new ConcurrencyControl(
                concurrency.serialBy(),
                concurrency.maxConcurrent(),
                new ConcurrencyControl.Debounce(gateKey("debounce", by), quiet, atMost),
                concurrency.rateLimit()));
    }

    /** Starts at most {@code count} runs of one key per time unit; further runs wait. */
    public WorkflowBuilder<I, O> rateLimit(InputAccessor<I, ?> by, int count, Duration per) {
        return concurrency(() -> new ConcurrencyControl(
                concurrency.serialBy(),
                concurrency.maxConcurrent(),
                concurrency.debounce(),
                new ConcurrencyControl.RateLimit(gateKey("rateLimit", by), count, per)));
    }

    /** Maximum duration of a whole run, including waits; 1 second to 365 days. */
    public WorkflowBuilder<I, O> deadline(Duration value) {
        requireInRange("deadline", value, ConcurrencyControl.MAX_DURATION);
        deadline = value;
        return this;
    }

    /**
     * Starts the workflow on a cron schedule, for example {@code schedule("nightly", "30 2 * * *", zone)}. The input is
     * {@code {"scheduled_at": …}}, the nominal time.
     */
    public WorkflowBuilder<I, O> schedule(String name, String cron, ZoneId zone) {
        try {
            return schedule(name, ScheduleOptions.cron(cron, zone));
        } catch (IllegalArgumentException e) {
            throw invalid("in schedule \"" + name + "\", " + e.getMessage());
        }
    }

    /** Starts the workflow on a schedule with options, for example an interval or what happens to missed times. */
    public WorkflowBuilder<I, O> schedule(String name, ScheduleOptions options) {
        try {
            return schedule(options.build(name));
        } catch (IllegalArgumentException e) {
            throw invalid("in schedule \"" + name + "\", " + e.getMessage());
        }
    }

    WorkflowBuilder<I, O> schedule(Schedule schedule) {
        if (schedules.stream().anyMatch(other -> other.name().equals(schedule.name()))) {
            throw invalid("it declares the schedule " + schedule.name() + " twice");
        }
        schedules.add(schedule);
        return this;
    }

    /**
     * Starts the workflow once for each event of this type, identified by source and id. A trailing {@code *} matches
     * any suffix. The event's data are the input.
     */
    public WorkflowBuilder<I, O> onEvent(String type) {
        return onEvent(new WorkflowTriggers.EventSubscription(type, null, WorkflowTriggers.EventMapper.DATA_AS_INPUT));
    }

    /**
     * Starts the workflow for events of this type, with an input that {@code reading} derives from the whole event
     * ({@code id, source, type, data} and further members). Null ignores the event.
     */
    public WorkflowBuilder<I, O> onEvent(String type, Function<JsonNode, @Nullable I> reading) {
        return onEvent(new WorkflowTriggers.EventSubscription(type, null, event -> {
            try {
                I value = reading.apply(event);
                return value == null
                        ? new WorkflowTriggers.MappedEvent.NoMatch()
                        : new WorkflowTriggers.MappedEvent.Input(
                                input.codec().write(value, "the input of workflow \"" + name + "\""));
            } catch (RuntimeException e) {
                return new WorkflowTriggers.MappedEvent.Failed("the code of onEvent failed with "
                        + e.getClass().getSimpleName()); // its message may quote the event
            }
        }));
    }

    private WorkflowBuilder<I, O> onEvent(WorkflowTriggers.EventSubscription subscription) {
        String type = subscription.type();
        if (type.isBlank() || type.length() > LONGEST_TYPE || type.chars().anyMatch(Character::isISOControl)) {
            throw invalid("the type of an event must have 1 to " + LONGEST_TYPE + " characters");
        }
        if (events.stream().anyMatch(other -> other.type().equals(type))) {
            throw invalid("it declares onEvent(\"" + type + "\") twice");
        }
        events.add(subscription);
        return this;
    }

    /** Sets the code and returns the workflow. Later changes to this builder do not affect it. */
    public Workflow<I, O> body(WorkflowFunction<I, O> flow) {
        WorkflowInputConverter<I> in = input;
        List<JsonFieldPath> personalData = List.copyOf(pii);
        WorkflowBody code = new WorkflowBody() {
            @Override
            public JsonNode run(DurableWorkflowOperations durable, JsonNode data) throws Exception {
                JsonCodec codec = in.codec();
                I input = JavaWorkflowJsonAdapter.readOrHold(durable, () -> in.readRecorded(data));
                return codec.write(
                        flow.run(new Context(durable, codec), input),
                        "the output of workflow \"" + in.workflow() + "\"");
            }

            @Override
            public List<JsonFieldPath> piiPaths() {
                return personalData;
            }
        };
        return new JavaWorkflow<>(declaration(), input, accessors, key, out, events, code);
    }

    private JavaWorkflowDeclaration declaration() {
        String keyName = key == null ? null : nameOf(key, A_FUNCTION);
        return new JavaWorkflowDeclaration(
                name,
                title,
                description,
                owner,
                keyName,
                policy(),
                concurrency,
                deadline,
                List.copyOf(schedules),
                events.stream().map(WorkflowTriggers.EventSubscription::type).toList());
    }

    private KeyPolicy policy() {
        if (!fields.isEmpty() && !ignored.isEmpty()) {
            throw invalid("it declares both fingerprint and fingerprintIgnore, and only one is allowed");
        }
        boolean declared = !fields.isEmpty() || !ignored.isEmpty();
        SameKeyDifferentPayloadPolicy usual =
                declared ? SameKeyDifferentPayloadPolicy.REJECT : SameKeyDifferentPayloadPolicy.REPLAY;
        return new KeyPolicy(
                window,
                scope,
                List.copyOf(fields.values()),
                ignored,
                onMismatch == null ? usual : onMismatch,
                duplicatePayload,
                onFailed,
                holdWhileRunning,
                requireKey);
    }

    private WorkflowBuilder<I, O> fingerprint(WorkflowInputConverter.InputField<I> field) {
        field(input.fingerprintField(field));
        accessors.add(field);
        return this;
    }

    private void field(FingerprintField field) {
        if (fields.putIfAbsent(field.name(), field) != null) {
            throw invalid("the fingerprint contains " + field.name() + " twice");
        }
    }

    private JsonFieldPath path(String where, String text) {
        try {
            return JsonFieldPath.parse(text);
        } catch (IllegalArgumentException e) {
            throw invalid(where + ", " + e.getMessage());
        }
    }

    private ConcurrencyControl.ConcurrencyKey gateKey(String gate, InputAccessor<I, ?> accessor) {
        return input.concurrencyKey(
                gate, new WorkflowInputConverter.InputField<>(nameOf(accessor, A_FUNCTION), null, accessor));
    }

    private String nameOf(InputAccessor<I, ?> accessor, String otherwise) {
        MethodReferenceNameFinder.Method method = MethodReferenceNameFinder.of(accessor);
        String member = memberOf(method);
        return member != null ? member : method != null ? method.name() : otherwise;
    }

    /** Only methods of the input type count: a method of another class may share a member's name. */
    private @Nullable String memberOf(MethodReferenceNameFinder.@Nullable Method method) {
        if (method == null || !method.owner().equals(input.type().getTypeName())) {
            return null;
        }
        return members.get(method.name());
    }

    private WorkflowBuilder<I, O> concurrency(Supplier<ConcurrencyControl> made) {
        try {
            concurrency = made.get();
        } catch (IllegalArgumentException e) {
            throw invalid(e.getMessage());
        }
        return this;
    }

    private String text(String what, String value) {
        if (value.isBlank() || value.length() > LONGEST_TEXT) {
            throw invalid(what + " must have 1 to " + LONGEST_TEXT + " characters");
        }
        return value;
    }

    private void requireInRange(String what, Duration value, Duration longest) {
        if (value.compareTo(KeyPolicy.SHORTEST_WINDOW) < 0 || value.compareTo(longest) > 0) {
            throw invalid(what + " must be between 1s and 365d, not " + value);
        }
    }

    private SemelException invalid(@Nullable String why) {
        return new SemelException(
                ErrorCode.INVALID_DEFINITION,
                "The definition of workflow \"" + name + "\" is not valid: " + why + ". The workflow was not created.",
                "Correct the definition.");
    }

    /**
     * Reads one value from a workflow's input, for example {@code Payment::paymentId}.
     * It is serializable only so that Semel can find the name of a method reference; Semel never serializes it.
     */
    @FunctionalInterface
    public interface InputAccessor<I, R> extends Function<I, R>, Serializable {}
}
