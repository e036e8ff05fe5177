package dev.semel.workflow;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.Codec;
import dev.semel.key.FieldPath;
import dev.semel.key.FingerprintField;
import dev.semel.key.KeyPolicy;
import dev.semel.schedule.Cron;
import dev.semel.schedule.Schedule;
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

/** A workflow in the making; {@link #body} finishes it. What is wrong is refused here, with the name of what it is. */
public final class WorkflowDraft<I, O> {
    private static final Pattern NAME = Pattern.compile("[a-z][a-z0-9_-]{0,63}");
    private static final String A_FUNCTION = "a function";
    private static final int LONGEST_TEXT = 1_000;
    private static final int LONGEST_TYPE = 255;

    private final String name;
    private final Input<I> input;
    private final TypeRef<O> out;
    private final Map<String, String> members;
    private final Map<String, FingerprintField> fields = new LinkedHashMap<>();
    private final List<Input.Field<I>> accessors = new ArrayList<>();
    private final List<String> ignored = new ArrayList<>();
    private final List<FieldPath> pii = new ArrayList<>();
    private final List<Schedule> schedules = new ArrayList<>();
    private final List<Doors.Subscription> events = new ArrayList<>();

    private @Nullable String title;
    private @Nullable String description;
    private @Nullable String owner;
    private @Nullable Accessor<I, ?> key;
    private Duration window = KeyPolicy.DEFAULT.window();
    private KeyPolicy.Scope scope = KeyPolicy.DEFAULT.scope();
    private KeyPolicy.@Nullable OnMismatch onMismatch;
    private KeyPolicy.DuplicatePayload duplicatePayload = KeyPolicy.DEFAULT.duplicatePayload();
    private KeyPolicy.OnFailed onFailed = KeyPolicy.DEFAULT.onFailed();
    private boolean holdWhileRunning = KeyPolicy.DEFAULT.holdWhileRunning();
    private boolean requireKey;
    private Gates gates = Gates.NONE;
    private @Nullable Duration deadline;

    WorkflowDraft(String name, TypeRef<I> in, TypeRef<O> out) {
        this.name = name;
        if (!NAME.matcher(name).matches()) {
            throw refused("the name of a workflow has 1 to 64 characters a-z, 0-9, _ and -, and begins with a letter");
        }
        this.input = new Input<>(name, in.type(), Codec.STANDARD);
        this.out = out;
        this.members = Codec.STANDARD.members(in.type());
    }

    /** For people; the name stays the identity. */
    public WorkflowDraft<I, O> title(String value) {
        title = text("title", value);
        return this;
    }

    public WorkflowDraft<I, O> description(String value) {
        description = text("description", value);
        return this;
    }

    /** Who answers for it; shown on pages, alerts and reviews. */
    public WorkflowDraft<I, O> owner(String value) {
        owner = text("owner", value);
        return this;
    }

    /** The key of a trigger that brings none. A trigger whose key comes out empty is refused, never run without. */
    public WorkflowDraft<I, O> keyedBy(Accessor<I, ?> value) {
        key = value;
        return this;
    }

    /**
     * The fields that make two triggers the same action. The same key with another value in one of them is refused,
     * unless {@link #onMismatch} says otherwise. A method reference gives the field its name in that refusal.
     */
    @SafeVarargs
    @SuppressWarnings("varargs") // the array is only read
    public final WorkflowDraft<I, O> fingerprint(Accessor<I, ?>... accessors) {
        for (Accessor<I, ?> accessor : accessors) {
            String member = memberOf(AccessorName.of(accessor));
            String shown = nameOf(accessor, "field " + (fields.size() + 1));
            fingerprint(new Input.Field<>(shown, member, accessor));
        }
        return this;
    }

    /** A field under a name of its own, e.g. {@code fingerprint("email", o -> o.email().toLowerCase(Locale.ROOT))}. */
    public WorkflowDraft<I, O> fingerprint(String field, Function<I, ?> accessor) {
        return fingerprint(new Input.Field<>(text("the name of a fingerprint field", field), null, accessor));
    }

    /** Fields by their paths in the JSON, e.g. {@code payment_id} or {@code lines[].sku}. */
    public WorkflowDraft<I, O> fingerprintFields(String... paths) {
        for (String path : paths) {
            field(path("in the fingerprint", path).toField());
        }
        return this;
    }

    /** Everything but these paths makes the action; for payloads with a noisy time or trace id. */
    public WorkflowDraft<I, O> fingerprintIgnore(String... paths) {
        for (String path : paths) {
            ignored.add(path("in the fingerprint", path).toString());
        }
        return this;
    }

    /** Fields that name a person, by their paths: shown only to whoever asks for them with a reason. */
    public WorkflowDraft<I, O> pii(String... paths) {
        for (String path : paths) {
            pii.add(path("in pii", path));
        }
        return this;
    }

    List<FieldPath> pii() {
        return List.copyOf(pii);
    }

    /** How long a key is remembered, 1 second to 365 days; 24 hours unless told otherwise. */
    public WorkflowDraft<I, O> window(Duration value) {
        refuseUnlessWithin("window", value, KeyPolicy.LONGEST_WINDOW);
        window = value;
        return this;
    }

    /** Where keys are unique: in the workspace unless told otherwise. */
    public WorkflowDraft<I, O> scope(KeyPolicy.Scope value) {
        scope = value;
        return this;
    }

    /** The same key with another payload. Unless told otherwise: reject with a fingerprint, replay without one. */
    public WorkflowDraft<I, O> onMismatch(KeyPolicy.OnMismatch value) {
        onMismatch = value;
        return this;
    }

    /** The same payload under another key: allowed unless told otherwise. */
    public WorkflowDraft<I, O> duplicatePayload(KeyPolicy.DuplicatePayload value) {
        duplicatePayload = value;
        return this;
    }

    /** The same key after its run failed: the failed run is returned unless told otherwise. */
    public WorkflowDraft<I, O> onFailed(KeyPolicy.OnFailed value) {
        onFailed = value;
        return this;
    }

    /** Whether the key of an unfinished run outlasts its window; it does unless told otherwise. */
    public WorkflowDraft<I, O> holdWhileRunning(boolean value) {
        holdWhileRunning = value;
        return this;
    }

    /** Refuses a trigger without a key. */
    public WorkflowDraft<I, O> requireKey() {
        requireKey = true;
        return this;
    }

    /** Runs of one entity go one after another, in order. */
    public WorkflowDraft<I, O> serialBy(Accessor<I, ?> entity) {
        gates = new Gates(gateKey("serialBy", entity), gates.maxConcurrent(), gates.debounce(), gates.rateLimit());
        return this;
    }

    /** So many runs of this workflow at once. */
    public WorkflowDraft<I, O> maxConcurrent(int value) {
        return gates(() -> new Gates(gates.serialBy(), value, gates.debounce(), gates.rateLimit()));
    }

    /** Of a burst of triggers with one key only the last runs: after a quiet time, but at the latest after atMost. */
    public WorkflowDraft<I, O> debounce(Accessor<I, ?> by, Duration quiet, Duration atMost) {
        return gates(() -> new Gates(
                gates.serialBy(),
                gates.maxConcurrent(),
                new Gates.Debounce(gateKey("debounce", by), quiet, atMost),
                gates.rateLimit()));
    }

    /** So many runs of one key begin within a time; more of them wait. */
    public WorkflowDraft<I, O> rateLimit(Accessor<I, ?> by, int count, Duration per) {
        return gates(() -> new Gates(
                gates.serialBy(),
                gates.maxConcurrent(),
                gates.debounce(),
                new Gates.RateLimit(gateKey("rateLimit", by), count, per)));
    }

    /** Longest time of a whole run, waiting included; 1 second to 365 days. */
    public WorkflowDraft<I, O> deadline(Duration value) {
        refuseUnlessWithin("deadline", value, Gates.LONGEST);
        deadline = value;
        return this;
    }

    /**
     * Starts it by itself at times of the wall clock, e.g. {@code schedule("nightly", "30 2 * * *", zone)}. Its input is
     * {@code {"scheduled_at": …}}, the nominal time.
     */
    public WorkflowDraft<I, O> schedule(String name, String cron, ZoneId zone) {
        try {
            return schedule(Schedule.of(name, Cron.of(cron, zone)));
        } catch (IllegalArgumentException e) {
            throw refused("of its schedule \"" + name + "\", " + e.getMessage());
        }
    }

    /** The same with everything that a schedule can say. */
    public WorkflowDraft<I, O> schedule(Schedule schedule) {
        if (schedules.stream().anyMatch(other -> other.name().equals(schedule.name()))) {
            throw refused("it has the schedule " + schedule.name() + " twice");
        }
        schedules.add(schedule);
        return this;
    }

    /**
     * Starts it for each event of this type, once for each source and id; a {@code *} at the end stands for any end. The
     * event's data are the input.
     */
    public WorkflowDraft<I, O> onEvent(String type) {
        return onEvent(new Doors.Subscription(type, null, Doors.Reading.PLAIN));
    }

    /**
     * The same, with an input that is made of the whole event ({@code id, source, type, data} and what else came along);
     * null where the workflow does not want this one.
     */
    public WorkflowDraft<I, O> onEvent(String type, Function<JsonNode, @Nullable I> reading) {
        return onEvent(new Doors.Subscription(type, null, event -> {
            try {
                I value = reading.apply(event);
                return value == null
                        ? new Doors.Read.Unfit()
                        : new Doors.Read.Input(input.codec().write(value, "the input of workflow \"" + name + "\""));
            } catch (RuntimeException e) {
                return new Doors.Read.Failed("its code failed with "
                        + e.getClass().getSimpleName()); // its text may tell what the event says
            }
        }));
    }

    private WorkflowDraft<I, O> onEvent(Doors.Subscription subscription) {
        String type = subscription.type();
        if (type.isBlank() || type.length() > LONGEST_TYPE || type.chars().anyMatch(Character::isISOControl)) {
            throw refused("the type of an event has 1 to " + LONGEST_TYPE + " characters");
        }
        if (events.stream().anyMatch(other -> other.type().equals(type))) {
            throw refused("it has onEvent(\"" + type + "\") twice");
        }
        events.add(subscription);
        return this;
    }

    List<Doors.Subscription> events() {
        return List.copyOf(events);
    }

    /** What it does. The draft may be used further; the workflow stays as it is. */
    public Workflow<I, O> body(Code.Flow<I, O> flow) {
        return new Workflow<>(this, flow);
    }

    Declaration declaration() {
        String keyName = key == null ? null : nameOf(key, A_FUNCTION);
        return new Declaration(
                name,
                title,
                description,
                owner,
                keyName,
                policy(),
                gates,
                deadline,
                List.copyOf(schedules),
                events.stream().map(Doors.Subscription::type).toList());
    }

    Input<I> input() {
        return input;
    }

    List<Input.Field<I>> fingerprint() {
        return List.copyOf(accessors);
    }

    @Nullable
    Accessor<I, ?> key() {
        return key;
    }

    TypeRef<O> out() {
        return out;
    }

    private KeyPolicy policy() {
        if (!fields.isEmpty() && !ignored.isEmpty()) {
            throw refused("fingerprint and fingerprintIgnore exclude each other");
        }
        boolean declared = !fields.isEmpty() || !ignored.isEmpty();
        KeyPolicy.OnMismatch usual = declared ? KeyPolicy.OnMismatch.REJECT : KeyPolicy.OnMismatch.REPLAY;
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

    private WorkflowDraft<I, O> fingerprint(Input.Field<I> field) {
        field(input.fingerprint(field));
        accessors.add(field);
        return this;
    }

    private void field(FingerprintField field) {
        if (fields.putIfAbsent(field.name(), field) != null) {
            throw refused("the fingerprint has " + field.name() + " twice");
        }
    }

    private FieldPath path(String where, String text) {
        try {
            return FieldPath.parse(text);
        } catch (IllegalArgumentException e) {
            throw refused(where + ", " + e.getMessage());
        }
    }

    private Gates.GateKey gateKey(String gate, Accessor<I, ?> accessor) {
        return input.gateKey(gate, new Input.Field<>(nameOf(accessor, A_FUNCTION), null, accessor));
    }

    private String nameOf(Accessor<I, ?> accessor, String otherwise) {
        AccessorName.Method method = AccessorName.of(accessor);
        String member = memberOf(method);
        return member != null ? member : method != null ? method.name() : otherwise;
    }

    /** A method of another class may have the name of a member and mean something else. */
    private @Nullable String memberOf(AccessorName.@Nullable Method method) {
        if (method == null || !method.owner().equals(input.type().getTypeName())) {
            return null;
        }
        return members.get(method.name());
    }

    private WorkflowDraft<I, O> gates(Supplier<Gates> made) {
        try {
            gates = made.get();
        } catch (IllegalArgumentException e) {
            throw refused(e.getMessage());
        }
        return this;
    }

    private String text(String what, String value) {
        if (value.isBlank() || value.length() > LONGEST_TEXT) {
            throw refused(what + " has 1 to " + LONGEST_TEXT + " characters");
        }
        return value;
    }

    private void refuseUnlessWithin(String what, Duration value, Duration longest) {
        if (value.compareTo(KeyPolicy.SHORTEST_WINDOW) < 0 || value.compareTo(longest) > 0) {
            throw refused(what + " must be between 1s and 365d, not " + value);
        }
    }

    private SemelException refused(@Nullable String why) {
        return new SemelException(
                ErrorCode.INVALID_DEFINITION,
                "Workflow \"" + name + "\" is not defined: " + why + ".",
                "Correct the definition; there is no workflow until then.");
    }
}
