package dev.semel.server.dashboard.workflow;

import dev.semel.server.dashboard.page.DashboardTemplateJsonAccessor;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * The edited workflow file, as the builder's templates show it.
 *
 * @param action the URL of the form
 * @param name of the workflow; empty if it was never published
 * @param base the version at the start of the edit, in the form that `If-Match` expects
 * @param mayPublish whether the user may publish
 * @param draft the API's analysis of the text
 * @param rejection why the API rejected the last edit, else empty
 */
public record WorkflowBuilderView(
        String action,
        String name,
        String base,
        boolean mayPublish,
        DashboardTemplateJsonAccessor draft,
        DashboardTemplateJsonAccessor rejection) {
    private static final int LONGEST_SUMMARY = 100;

    public String text() {
        return draft.text("text");
    }

    public String eol() {
        return text().contains("\r\n") ? "crlf" : "lf";
    }

    public List<DashboardTemplateJsonAccessor> steps() {
        return draft.list("steps");
    }

    public String stepUrl(String step, String tab) {
        return action + "?step=" + dev.semel.server.http.InProcessApiClient.encode(step) + "&tab=" + tab;
    }

    /** The number of lines that differ from the published version. */
    public long changes() {
        return draft.at("diff")
                .text("unified")
                .lines()
                .filter(line -> line.startsWith("+") || line.startsWith("-"))
                .count();
    }

    /** The lines of a diff, each with its colour class. */
    public static List<DiffLine> lines(DashboardTemplateJsonAccessor diff) {
        return diff.text("unified").lines().map(DiffLine::of).toList();
    }

    public record DiffLine(String tone, String text) {
        static DiffLine of(String text) {
            String tone = switch (text.isEmpty() ? ' ' : text.charAt(0)) {
                case '+' -> "more";
                case '-' -> "less";
                case '@' -> "at";
                default -> "";
            };
            return new DiffLine(tone, text);
        }
    }

    /** The first step of a branch moves out of it, in front of the step that has the branch, unless it is the only one. */
    public static boolean canMoveUp(DashboardTemplateJsonAccessor step) {
        return !step.is("first") || (step.number("depth") > 0 && !step.is("last"));
    }

    public static boolean canMoveDown(DashboardTemplateJsonAccessor step) {
        return !step.is("last") || (step.number("depth") > 0 && !step.is("first"));
    }

    public static String symbol(String kind) {
        return switch (kind) {
            case "http" -> "⇄";
            case "send", "notify", "digest" -> "✉";
            case "set" -> "=";
            case "choose" -> "◇";
            case "for_each" -> "↻";
            case "parallel" -> "∥";
            case "sleep", "wait_for", "wait_for_reply" -> "‖";
            case "approval" -> "✓";
            case "workflow" -> "▸";
            case "tx" -> "●";
            default -> "·";
        };
    }

    public static String summary(DashboardTemplateJsonAccessor step) {
        DashboardTemplateJsonAccessor says = step.at("summary");
        return switch (step.text("kind")) {
            case "http" -> (says.has("method") ? says.text("method") : "GET") + " " + says.text("url");
            case "send" -> says.text("template") + " by " + says.text("channel") + " to " + says.text("to");
            case "notify", "sleep", "workflow", "java", "for_each" -> says.text();
            case "choose" -> says.text("count") + " cases";
            case "wait_for" -> "signal " + says.text("signal");
            case "wait_for_reply" -> "to " + (says.has("to") ? says.text("to") : says.text("from"));
            case "approval" -> says.text("title");
            case "tx" -> says.text("sql").lines().findFirst().orElse("");
            case "digest" -> "collects for " + says.text("collect_for");
            case "" -> "This step cannot be parsed";
            default -> says.node().isObject() ? members(says) : says.text();
        };
    }

    private static String members(DashboardTemplateJsonAccessor says) {
        String all = says.node().propertyNames().stream()
                .map(name -> name + ": " + says.text(name))
                .collect(Collectors.joining(", "));
        return all.length() <= LONGEST_SUMMARY ? all : all.substring(0, LONGEST_SUMMARY) + "…";
    }

    /** The window of a step; empty if it has none. */
    public static String window(DashboardTemplateJsonAccessor step) {
        DashboardTemplateJsonAccessor once = step.at("idempotent");
        return once.has("time") ? once.text("time") + " " + once.text("unit").toLowerCase(Locale.ROOT) : "";
    }
}
