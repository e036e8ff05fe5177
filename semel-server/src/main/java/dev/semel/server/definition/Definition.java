package dev.semel.server.definition;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.key.IdempotencyKey;
import dev.semel.key.KeyPolicy;
import dev.semel.server.language.Failure;
import dev.semel.server.language.FieldRef;
import dev.semel.server.language.Kinds;
import dev.semel.server.language.Problems;
import dev.semel.server.language.ResultSize;
import dev.semel.server.language.Scope;
import dev.semel.server.language.Source;
import dev.semel.server.language.Spot;
import dev.semel.server.language.Template;
import dev.semel.server.language.Tree;
import dev.semel.server.language.YamlReader;
import dev.semel.server.steps.FileBody;
import dev.semel.server.steps.FileStep;
import dev.semel.server.steps.Need;
import dev.semel.server.steps.Outside;
import dev.semel.workflow.Body;
import dev.semel.workflow.Published;
import java.time.Instant;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * A workflow file, read, checked and ready to run. Compiling is the only costly part; the rest may be called by any
 * number of threads.
 */
public final class Definition {
    private static final String SPEC =
            "https://datatracker.ietf.org/doc/html/draft-ietf-httpapi-idempotency-key-header-07#section-2.1";

    private final String text;
    private final DefinitionReader.Parts parts;

    private final Set<String> keyHeaders;
    private final boolean timed;

    private Definition(String text, DefinitionReader.Parts parts) {
        this.text = text;
        this.parts = parts;
        this.keyHeaders = Stream.ofNullable(parts.key())
                .flatMap(Template::expressions)
                .flatMap(expression -> expression.reads().stream())
                .filter(path -> path.root().equals("header") && !path.parts().isEmpty())
                .map(path -> path.parts().getFirst().toString())
                .collect(Collectors.toUnmodifiableSet());
        this.timed = Stream.concat(
                        Stream.ofNullable(parts.output()),
                        parts.steps().stream().flatMap(FileStep::templates))
                .flatMap(Template::expressions)
                .flatMap(expression -> expression.reads().stream())
                .anyMatch(path -> path.root().equals("run") && path.parts().contains("started_at"));
    }

    /**
     * @param text YAML 1.2 or JSON, at most 256 KiB
     * @throws SemelException `invalid-definition`, with every mistake and its place in the member `errors`
     */
    public static Definition compile(String text) {
        return new Definition(text, new DefinitionReader(withoutMark(text)).read());
    }

    /** A byte order mark is not part of the text, and would move every column of the first line. */
    private static String withoutMark(String text) {
        return text.startsWith("\uFEFF") ? text.substring(1) : text;
    }

    public String name() {
        return parts.name();
    }

    public @Nullable String title() {
        return parts.title();
    }

    public @Nullable String owner() {
        return parts.owner();
    }

    public @Nullable String description() {
        return parts.description();
    }

    public KeyPolicy policy() {
        return parts.rules().policy();
    }

    /** Whether the workflow makes a key from the input where the caller sent none. */
    public boolean derivesKey() {
        return parts.key() != null;
    }

    /** `trigger.http.key` as it is written; null where the caller's header is the key. */
    public @Nullable String keyText() {
        return parts.key() == null ? null : parts.keyText();
    }

    /** The headers that `trigger.http.key` reads, as they are written there. */
    public Set<String> keyHeaders() {
        return keyHeaders;
    }

    /**
     * The key that `trigger.http.key` makes. Only for a trigger without a key of its own.
     *
     * @param headers of the request; names are compared without regard to case
     * @throws SemelException `idempotency-key-required` where the expression gives nothing, because a run without the
     *     key that its workflow promised could be a silent double; `idempotency-key-invalid` where the key is not one
     */
    public String deriveKey(JsonNode input, Map<String, String> headers) {
        Template key = parts.key();
        if (key == null) {
            throw new IllegalStateException("workflow '" + name() + "' derives no key; ask derivesKey() first");
        }
        Map<String, String> byName = new TreeMap<>(String.CASE_INSENSITIVE_ORDER);
        byName.putAll(headers);
        JsonNode value;
        try {
            value = key.fill(Scope.ofInput(input).withHeader(byName), new ResultSize());
        } catch (Failure failure) {
            throw noKey(failure.because());
        }
        if (value.isNull() || (value.isString() && value.stringValue().isBlank())) {
            throw noKey("the expression gave nothing");
        }
        if (!value.isString() && !value.isNumber()) {
            throw badKey("it is " + Kinds.of(value) + ", and a key is text or a number");
        }
        return checked(value.asString().strip());
    }

    private String checked(String key) {
        try {
            return IdempotencyKey.of(key).text();
        } catch (SemelException e) {
            throw badKey("it must have 1 to 255 visible ASCII characters (key() escapes others, sha256() shortens)");
        }
    }

    private SemelException noKey(String because) {
        return new SemelException(
                        ErrorCode.IDEMPOTENCY_KEY_REQUIRED,
                        "Workflow '%s' makes its key itself (trigger.http.key) but has none, because %s. No run was started."
                                .formatted(name(), because),
                        "Send the field that the key is made of, or send an Idempotency-Key header.")
                .with("spec", SPEC);
    }

    private SemelException badKey(String rule) {
        return new SemelException(
                        ErrorCode.IDEMPOTENCY_KEY_INVALID,
                        "The key that workflow '%s' made itself (trigger.http.key) is not valid: %s. No run was started."
                                .formatted(name(), rule),
                        "Correct the data or the expression, or send an Idempotency-Key header.")
                .with("spec", SPEC);
    }

    /** @throws SemelException `invalid-input`, with JSON Pointers in the member `errors` and no value anywhere */
    public void checkInput(JsonNode data) {
        parts.input().check(name(), data);
    }

    /** When each schedule is due next, by its name in the order of the file. */
    public Map<String, List<Instant>> nextTimes(Instant from, int count) {
        Map<String, List<Instant>> times = new LinkedHashMap<>();
        parts.extras().doors().schedules().forEach(schedule -> times.put(schedule.name(), schedule.next(from, count)));
        return times;
    }

    /** What a run may have to wait for, and how long it may take. */
    public Published.Extras extras() {
        return parts.extras();
    }

    /** What a run does, on the outside world of its workspace. */
    public Body body(Outside outside) {
        return new FileBody(parts.name(), parts.steps(), parts.output(), timed, outside);
    }

    /** The same with more to say. */
    public Definition noting(List<String> more) {
        return more.isEmpty() ? this : new Definition(text, parts.noting(more));
    }

    /** The steps of the file itself, without those inside of branches and loops. */
    public List<FileStep> outerSteps() {
        return parts.steps();
    }

    /** What its steps need of the workspace. */
    public List<Need> needs() {
        return steps().flatMap(step -> step.act().needs().stream()).toList();
    }

    /** The steps of the file, those inside of branches and loops among them, in the order of the file. */
    public Stream<FileStep> steps() {
        return parts.steps().stream().flatMap(FileStep::all);
    }

    /** The workflows that it starts, in the order of the file. */
    public List<String> calls() {
        return steps().flatMap(step -> Stream.ofNullable(step.act().calls()))
                .distinct()
                .toList();
    }

    /** What is wrong with one field of a step, found out after the file was read; it shows the place. */
    SemelException refusal(String step, String field, String message, String fix) {
        String plain = withoutMark(text);
        Source source = new Source(plain);
        Problems problems = new Problems(source);
        Spot spot = spotOf(YamlReader.read(plain, source, problems), step, field);
        problems.add(spot == null ? new Spot(0, 0, "") : spot, message, "here", fix);
        return problems.exception();
    }

    private static @Nullable Spot spotOf(@Nullable Tree tree, String step, String field) {
        Stream<Tree> inside = switch (tree) {
            case null -> Stream.empty();
            case Tree.Scalar _ -> Stream.empty();
            case Tree.Items items -> items.items().stream();
            case Tree.Members members -> members.members().values().stream().map(Tree.Member::value);
        };
        if (tree instanceof Tree.Members members
                && members.get("id") instanceof Tree.Scalar(Spot _, var id)
                && id.asString().equals(step)
                && members.get(field) instanceof Tree found) {
            return found.spot();
        }
        return inside.map(one -> spotOf(one, step, field))
                .filter(Objects::nonNull)
                .findFirst()
                .orElse(null);
    }

    /** What the trigger is about, in words for people (`idempotency.object`); null where it cannot be said. */
    public @Nullable String objectOf(JsonNode input) {
        return label(parts.rules().object(), input);
    }

    public boolean saysWorth() {
        return parts.rules().worth() != null;
    }

    /** What the trigger is worth, in words for people (`idempotency.worth`); null where it cannot be said. */
    public @Nullable String worthOf(JsonNode input) {
        return label(parts.rules().worth(), input);
    }

    private static @Nullable String label(@Nullable Template template, JsonNode input) {
        if (template == null) {
            return null;
        }
        try {
            JsonNode value = template.fill(Scope.ofInput(input), new ResultSize());
            return value.isString() || value.isNumber() ? value.asString() : null;
        } catch (Failure failure) {
            return null;
        }
    }

    /** What it asks of `data`, as JSON Schema; an empty object where it declares no input. */
    public JsonNode inputSchema() {
        return parts.input().document();
    }

    /** What its expressions read, with the step that each stands in; empty for those of the key and the output. */
    public Stream<Map.Entry<String, FieldRef>> reads() {
        Stream<Map.Entry<String, FieldRef>> outside = Stream.of(parts.key(), parts.output())
                .flatMap(Stream::ofNullable)
                .flatMap(template -> refs("", template));
        Stream<Map.Entry<String, FieldRef>> inside = steps().flatMap(step -> Stream.concat(
                        Stream.ofNullable(step.when()), step.act().templates())
                .flatMap(template -> refs(step.id(), template)));
        return Stream.concat(outside, inside);
    }

    private static Stream<Map.Entry<String, FieldRef>> refs(String step, Template template) {
        return template.expressions()
                .flatMap(expression -> expression.reads().stream())
                .map(path -> Map.entry(step, path));
    }

    /** Input fields that people search runs by (`search: true`). */
    public Set<String> searchFields() {
        return Set.copyOf(parts.input().search());
    }

    /** Input fields that name a person (`pii: true`); they are not to be shown or logged. */
    public Set<String> personalFields() {
        return Set.copyOf(parts.input().pii());
    }

    /** What is allowed but probably not meant, one sentence each. */
    public List<String> warnings() {
        return parts.warnings();
    }

    /** The file as it was given. */
    public String text() {
        return text;
    }
}
