package dev.semel.server.dashboard.workflow;

import dev.semel.server.dashboard.page.DashboardTemplateJsonAccessor;
import java.math.BigDecimal;
import java.util.List;
import java.util.Set;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * One form field of a step in the builder.
 *
 * @param name the path in the step, e.g. `idempotent.time`
 * @param label shown to the user
 * @param options the values to choose from; empty for a text field
 * @param hint help text; may be empty
 * @param value as in the file; empty if missing
 * @param type `number`, `boolean` or `string`, as in the file; `many` for a list or map
 */
public record WorkflowStepEditorField(
        String name, String label, List<FieldOption> options, String hint, String value, String type) {
    public record FieldOption(String value, String label) {}

    private static final List<FieldOption> UNITS = options("seconds", "minutes", "hours", "days");

    private static final Set<String> BOOLEANS = Set.of("emit", "subscription.subscribed", "cohort.member");

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

    static WorkflowStepEditorField text(String name, String label) {
        return new WorkflowStepEditorField(name, label, List.of(), "", "", "");
    }

    WorkflowStepEditorField withLabel(String words) {
        return new WorkflowStepEditorField(name, words, options, hint, value, type);
    }

    WorkflowStepEditorField hint(String words) {
        return new WorkflowStepEditorField(name, label, options, words, value, type);
    }

    private WorkflowStepEditorField choice(List<FieldOption> choices) {
        return new WorkflowStepEditorField(name, label, choices, hint, value, type);
    }

    private static List<FieldOption> options(String... values) {
        return Stream.of(values).map(value -> new FieldOption(value, value)).toList();
    }

    /** The HTML id of the input. */
    public String id() {
        return "f-" + name.replace('.', '-');
    }

    /** Whether the field needs a full line, e.g. for URLs and expressions. */
    public boolean isWide() {
        return WIDE.contains(name) || name.endsWith(".when");
    }

    public boolean hasManyValues() {
        return type.equals("many");
    }

    /** Whether the file has a value that is not an option; the form offers it too, so that it is not lost. */
    public boolean isOther() {
        return !value.isEmpty()
                && options.stream().noneMatch(option -> option.value().equals(value));
    }

    WorkflowStepEditorField withValue(DashboardTemplateJsonAccessor fields) {
        JsonNode at = fields.node();
        for (String part : name.split("\\.")) {
            at = at.isArray() && part.matches("[0-9]{1,4}") ? at.path(Integer.parseInt(part)) : at.path(part);
        }
        String shape = at.isContainer() ? "many" : at.isNumber() ? "number" : at.isBoolean() ? "boolean" : "string";
        return new WorkflowStepEditorField(
                name,
                label,
                options,
                hint,
                at.isContainer() ? "" : new DashboardTemplateJsonAccessor(at).text(),
                shape);
    }

    /** Converts typed text to JSON, so that numbers and booleans keep their type. */
    static JsonNode toJson(String name, String value, String type) {
        JsonNodeFactory json = JsonNodeFactory.instance;
        boolean numeric = type.equals("number")
                || List.of("idempotent.time", "retry.attempts", "retry.factor", "parallel")
                        .contains(name);
        if (numeric && value.matches("-?[0-9]{1,15}(\\.[0-9]{1,9})?")) {
            return value.contains(".")
                    ? json.numberNode(new BigDecimal(value))
                    : json.numberNode(Long.parseLong(value));
        }
        if ((type.equals("boolean") || BOOLEANS.contains(name)) && (value.equals("true") || value.equals("false"))) {
            return json.booleanNode(value.equals("true"));
        }
        return json.stringNode(value);
    }

    static List<WorkflowStepEditorField> forTab(String tab, String kind) {
        return switch (tab) {
            case "idempotent" -> idempotent();
            case "protection" -> protection();
            case "retry" -> retry();
            case "general" -> Stream.concat(own(kind), common().stream()).toList();
            default -> List.of();
        };
    }

    private static List<WorkflowStepEditorField> common() {
        return List.of(
                text("title", "Title").hint("shown in the dashboard"),
                text("when", "Only when").hint("an expression with the result true or false: ${ input.total > 0 }"),
                text("on_error", "After the last failed attempt")
                        .choice(List.of(
                                new FieldOption("fail", "the run fails"),
                                new FieldOption("continue", "the next step runs"))));
    }

    private static Stream<WorkflowStepEditorField> own(String kind) {
        return switch (kind) {
            case "http" ->
                Stream.of(
                        text("http.method", "Method").choice(options("GET", "HEAD", "POST", "PUT", "PATCH", "DELETE")),
                        text("http.url", "URL"));
            case "send" -> message();
            case "digest" ->
                Stream.concat(
                        Stream.of(
                                text("digest.key", "Group key"),
                                text("digest.collect_for", "Collects for").hint("e.g. 15m"),
                                text("digest.item", "Item of this run")),
                        message());
            case "notify" ->
                Stream.of(
                        text("notify", "Notification"),
                        text("to", "To").hint("a profile or an address"),
                        text("emit", "Starts workflows that subscribe to this notification")
                                .choice(options("true", "false")));
            case "sleep" -> Stream.of(text("sleep", "Duration").hint("e.g. 500ms, 30s, 15m, 24h or 7d"));
            case "wait_for" ->
                Stream.of(
                        text("wait_for.signal", "Signal"),
                        text("wait_for.timeout", "Timeout").hint("e.g. 3d"));
            case "wait_for_reply" ->
                Stream.of(
                        text("wait_for_reply.to", "Reply to step"),
                        text("wait_for_reply.from", "Or message of sender").hint("instead of a step"),
                        text("wait_for_reply.timeout", "Timeout").hint("e.g. 3d"));
            case "approval" ->
                Stream.of(
                        text("approval.to", "Who decides"),
                        text("approval.title", "Question"),
                        text("approval.timeout", "Timeout").hint("e.g. 1d"));
            case "workflow" -> Stream.of(text("workflow", "Workflow"), text("key", "Key of the child run"));
            case "for_each" ->
                Stream.of(
                        text("for_each", "List"),
                        text("as", "Item name"),
                        text("item_key", "Item key"),
                        text("parallel", "Concurrency"));
            case "user_profile", "subscription", "cohort", "template_search" -> recipient(kind);
            case "tx" -> Stream.of(text("tx.sql", "SQL statement"));
            case "java" -> Stream.of(text("java", "Registered step"));
            default -> Stream.empty();
        };
    }

    /** Steps about profiles, cohorts and templates. */
    private static Stream<WorkflowStepEditorField> recipient(String kind) {
        return switch (kind) {
            case "user_profile" ->
                Stream.of(
                        text("user_profile.find", "Find profile").hint("set one of these three"),
                        text("user_profile.find_or_create", "Find or create profile"),
                        text("user_profile.update", "Update profile"));
            case "subscription" ->
                Stream.of(
                        text("subscription.profile", "Profile"),
                        text("subscription.topic", "Topic").hint("a channel, a notification or all"),
                        text("subscription.subscribed", "Subscribed").choice(options("true", "false")));
            case "cohort" ->
                Stream.of(
                        text("cohort.profile", "Profile"),
                        text("cohort.name", "Cohort"),
                        text("cohort.member", "Member")
                                .choice(options("true", "false"))
                                .hint("not set: the step only reads"));
            case "template_search" ->
                Stream.of(
                        text("template_search.prefix", "Name begins with"), text("template_search.channel", "Channel"));
            default -> Stream.empty();
        };
    }

    private static Stream<WorkflowStepEditorField> message() {
        return Stream.of(text("send.channel", "Channel"), text("send.to", "To"), text("send.template", "Template"));
    }

    private static List<WorkflowStepEditorField> idempotent() {
        return List.of(
                text("idempotent.key", "Idempotent key").hint("two effects with the same key are duplicates"),
                text("idempotent.time", "Window").hint("1 second to 365 days"),
                text("idempotent.unit", "Unit").choice(UNITS),
                text("idempotent.on_change", "If the data changed within the window")
                        .choice(List.of(
                                new FieldOption("send", "send again"),
                                new FieldOption("suppress", "suppress"),
                                new FieldOption("review", "ask a user"))));
    }

    private static List<WorkflowStepEditorField> protection() {
        return List.of(
                text("protect", "If the response is lost")
                        .choice(List.of(
                                new FieldOption("provider_key", "provider_key: send again with the same key"),
                                new FieldOption("lookup", "lookup: check with the provider first"),
                                new FieldOption("at_most_once", "at_most_once: never send again"),
                                new FieldOption("ask", "ask: a user decides"),
                                new FieldOption("repeatable", "repeatable: safe to repeat"),
                                new FieldOption("none", "none: send again, unprotected"))),
                text("provider_window", "Provider remembers keys for").hint("with provider_key, e.g. 24h"),
                text("because", "Reason").hint("why the step has no protection; required with `none`"),
                text("reviewers", "Reviewers").hint("who decides with `ask`, e.g. role:ops. Default: the owner."),
                text("does", "Effect type").choice(options("create", "update", "notify")),
                text("risk", "Risk").choice(options("high")));
    }

    private static List<WorkflowStepEditorField> retry() {
        return List.of(
                text("retry.attempts", "Attempts"),
                text("retry.first", "First delay").hint("e.g. 1s"),
                text("retry.factor", "Backoff factor"),
                text("retry.max", "Longest delay").hint("e.g. 5m"),
                text("timeout", "Timeout per attempt").hint("e.g. 30s"));
    }
}
