package dev.semel.server.pages;

import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * A text that is edited, as templates show it.
 *
 * @param action where its form goes
 * @param name of the workflow; empty for one that was never published
 * @param base the version that was seen when it was begun, as `If-Match` takes it
 * @param may whether this person may publish
 * @param draft what the API says of the text
 * @param refused why the last edit could not be made; nothing where it could
 */
public record BuilderView(String action, String name, String base, boolean may, Doc draft, Doc refused) {
    private static final int LONGEST_SUMMARY = 100;

    public String text() {
        return draft.text("text");
    }

    public String eol() {
        return text().contains("\r\n") ? "crlf" : "lf";
    }

    public List<Doc> steps() {
        return draft.list("steps");
    }

    public String address(String step, String tab) {
        return action + "?step=" + dev.semel.server.http.Inside.encoded(step) + "&tab=" + tab;
    }

    /** How many lines differ from what is published. */
    public long changes() {
        return draft.at("diff")
                .text("unified")
                .lines()
                .filter(line -> line.startsWith("+") || line.startsWith("-"))
                .count();
    }

    /** The lines of a difference, each with its tone. */
    public static List<Line> lines(Doc diff) {
        return diff.text("unified").lines().map(Line::of).toList();
    }

    public record Line(String tone, String text) {
        static Line of(String text) {
            String tone = switch (text.isEmpty() ? ' ' : text.charAt(0)) {
                case '+' -> "more";
                case '-' -> "less";
                case '@' -> "at";
                default -> "";
            };
            return new Line(tone, text);
        }
    }

    /** A mark for each kind of step. */
    public static String mark(String kind) {
        return switch (kind) {
            case "http" -> "⇄";
            case "send", "event", "digest" -> "✉";
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

    /** What a step does, on one line. */
    public static String summary(Doc step) {
        Doc says = step.at("says");
        return switch (step.text("kind")) {
            case "http" -> (says.has("method") ? says.text("method") : "GET") + " " + says.text("url");
            case "send" -> says.text("template") + " by " + says.text("channel") + " to " + says.text("to");
            case "event", "sleep", "workflow", "java", "for_each" -> says.text();
            case "choose" -> says.text("count") + " cases";
            case "wait_for" -> "signal " + says.text("signal");
            case "wait_for_reply" -> "to " + (says.has("to") ? says.text("to") : says.text("from"));
            case "approval" -> says.text("title");
            case "tx" -> says.text("sql").lines().findFirst().orElse("");
            case "digest" -> "gathers for " + says.text("collect_for");
            case "" -> "not a step that can be read";
            default -> says.node().isObject() ? members(says) : says.text();
        };
    }

    private static String members(Doc says) {
        String all = says.node().propertyNames().stream()
                .map(name -> name + ": " + says.text(name))
                .collect(Collectors.joining(", "));
        return all.length() <= LONGEST_SUMMARY ? all : all.substring(0, LONGEST_SUMMARY) + "…";
    }

    /** The window of a step; empty where it has none. */
    public static String window(Doc step) {
        Doc once = step.at("idempotent");
        return once.has("time") ? once.text("time") + " " + once.text("unit").toLowerCase(Locale.ROOT) : "";
    }
}
