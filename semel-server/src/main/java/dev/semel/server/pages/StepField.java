package dev.semel.server.pages;

import java.math.BigDecimal;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * One field of a step on a form.
 *
 * @param name where it stands in the step, e.g. `idempotent.time`
 * @param label what people call it
 * @param options what can be chosen; none where anything can be written
 * @param hint a few words below; may be empty
 * @param value as the text has it; empty where it is not there
 * @param type `number`, `boolean` or `string`, as the text has it; `many` where it is more than one value
 */
public record StepField(String name, String label, List<Option> options, String hint, String value, String type) {
    /** @param says what it means, in a few words */
    public record Option(String value, String says) {}

    private static final List<Option> UNITS = options("seconds", "minutes", "hours", "days");

    private static final Set<String> WIDE = Set.of(
            "idempotent.key",
            "idempotent.on_change",
            "http.url",
            "when",
            "for_each",
            "tx.sql",
            "approval.title",
            "digest.key",
            "protect",
            "because");

    static StepField text(String name, String label) {
        return new StepField(name, label, List.of(), "", "", "");
    }

    StepField hint(String words) {
        return new StepField(name, label, options, words, value, type);
    }

    private StepField choice(List<Option> choices) {
        return new StepField(name, label, choices, hint, value, type);
    }

    private static List<Option> options(String... values) {
        return Stream.of(values).map(value -> new Option(value, value)).toList();
    }

    /** The id that the control has on the page. */
    public String id() {
        return "f-" + name.replace('.', '-');
    }

    /** Whether it has a line of its own: addresses, expressions and sentences are long. */
    public boolean isWide() {
        return WIDE.contains(name) || name.endsWith(".when");
    }

    public boolean isMany() {
        return type.equals("many");
    }

    /** Whether the text has a value that is not among those that can be chosen; it is offered too, so that it stays. */
    public boolean isOther() {
        return !value.isEmpty()
                && options.stream().noneMatch(option -> option.value().equals(value));
    }

    StepField filled(Doc fields) {
        JsonNode at = fields.node();
        for (String part : name.split("\\.")) {
            at = at.isArray() && part.matches("[0-9]{1,4}") ? at.path(Integer.parseInt(part)) : at.path(part);
        }
        String shape = at.isContainer() ? "many" : at.isNumber() ? "number" : at.isBoolean() ? "boolean" : "string";
        return new StepField(name, label, options, hint, at.isContainer() ? "" : new Doc(at).text(), shape);
    }

    /** What was written, as the file means it: a number stays a number, true stays true. */
    static JsonNode typed(String name, String value, String type) {
        JsonNodeFactory json = JsonNodeFactory.instance;
        boolean numeric = type.equals("number")
                || List.of("idempotent.time", "retry.attempts", "retry.factor", "parallel")
                        .contains(name);
        if (numeric && value.matches("-?[0-9]{1,15}(\\.[0-9]{1,9})?")) {
            return value.contains(".")
                    ? json.numberNode(new BigDecimal(value))
                    : json.numberNode(Long.parseLong(value));
        }
        if (type.equals("boolean") && (value.equals("true") || value.equals("false"))) {
            return json.booleanNode(value.equals("true"));
        }
        return json.stringNode(value);
    }

    /** What a tab shows for a kind of step. */
    static List<StepField> of(String tab, String kind) {
        return switch (tab) {
            case "idempotent" -> idempotent();
            case "protection" -> protection();
            case "retry" -> retry();
            case "general" -> Stream.concat(own(kind), common().stream()).toList();
            default -> List.of();
        };
    }

    private static List<StepField> common() {
        return List.of(
                text("title", "Title").hint("for people"),
                text("when", "Only when").hint("an expression that gives true or false: ${ input.total > 0 }"),
                text("on_error", "When it fails for good")
                        .choice(List.of(
                                new Option("fail", "the run fails"), new Option("continue", "the next step runs"))));
    }

    private static Stream<StepField> own(String kind) {
        return switch (kind) {
            case "http" ->
                Stream.of(
                        text("http.method", "Method").choice(options("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")),
                        text("http.url", "Address"));
            case "send" -> message();
            case "digest" ->
                Stream.concat(
                        Stream.of(
                                text("digest.key", "Gathered together by"),
                                text("digest.collect_for", "Gathers for").hint("such as 15m")),
                        message());
            case "event" -> Stream.of(text("event", "Event"), text("to", "To").hint("a profile or an address"));
            case "sleep" -> Stream.of(text("sleep", "For").hint("such as 30s, 15m, 24h or 7d"));
            case "wait_for" ->
                Stream.of(
                        text("wait_for.signal", "Signal"),
                        text("wait_for.timeout", "At most").hint("such as 3d"));
            case "wait_for_reply" ->
                Stream.of(
                        text("wait_for_reply.to", "Reply to step"),
                        text("wait_for_reply.timeout", "At most").hint("such as 3d"));
            case "approval" ->
                Stream.of(
                        text("approval.to", "Who decides"),
                        text("approval.title", "Question"),
                        text("approval.timeout", "At most").hint("such as 1d"));
            case "workflow" -> Stream.of(text("workflow", "Workflow"), text("key", "Key of its run"));
            case "for_each" ->
                Stream.of(
                        text("for_each", "For each of"),
                        text("as", "Called"),
                        text("item_key", "Told apart by"),
                        text("parallel", "At once"));
            case "tx" -> Stream.of(text("tx.sql", "Statement"));
            case "java" -> Stream.of(text("java", "Registered step"));
            default -> Stream.empty();
        };
    }

    private static Stream<StepField> message() {
        return Stream.of(text("send.channel", "Channel"), text("send.to", "To"), text("send.template", "Template"));
    }

    private static List<StepField> idempotent() {
        return List.of(
                text("idempotent.key", "Idempotent key").hint("what makes two of these the same one"),
                text("idempotent.time", "Time").hint("1 second to 365 days"),
                text("idempotent.unit", "Units").choice(UNITS),
                text("idempotent.on_change", "If the data changed inside that time")
                        .choice(List.of(
                                new Option("send", "send again"),
                                new Option("suppress", "suppress"),
                                new Option("review", "ask a person"))));
    }

    private static List<StepField> protection() {
        return List.of(
                text("protect", "When an answer is lost")
                        .choice(List.of(
                                new Option("provider_key", "provider_key: sent again with the same key"),
                                new Option("lookup", "lookup: the provider is asked first"),
                                new Option("at_most_once", "at_most_once: never sent again"),
                                new Option("ask", "ask: a person decides"),
                                new Option("repeatable", "repeatable: doing it again changes nothing"),
                                new Option("none", "none: sent again, unprotected"))),
                text("provider_window", "The provider remembers a key for").hint("with provider_key, such as 24h"),
                text("because", "Because").hint("why it goes without; needed with none"),
                text("reviewers", "Who is asked").hint("with ask, such as role:ops; the owner unless said"),
                text("does", "It does").choice(options("create", "update", "notify")),
                text("risk", "Risk").choice(options("high")));
    }

    private static List<StepField> retry() {
        return List.of(
                text("retry.attempts", "Attempts"),
                text("retry.first", "First pause").hint("such as 1s"),
                text("retry.factor", "Each pause is longer by a factor of"),
                text("retry.max", "Longest pause").hint("such as 5m"),
                text("timeout", "One attempt takes at most").hint("such as 30s"));
    }
}
