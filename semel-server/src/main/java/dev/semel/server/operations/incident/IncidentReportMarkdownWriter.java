package dev.semel.server.operations.incident;

import dev.semel.server.settings.IncidentReport;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/**
 * Drafts the answers of an incident report from its facts, and renders the report as Markdown. Every text from stored
 * data is escaped ({@link MarkdownEscaper}). A count that reached its limit reads `at least`, or `not known` if it is zero.
 */
final class IncidentReportMarkdownWriter {
    private static final Map<String, String> QUESTIONS = questions();

    private IncidentReportMarkdownWriter() {}

    private static Map<String, String> questions() {
        Map<String, String> out = new LinkedHashMap<>();
        out.put("trigger", "What exact input, event, URL, record, prompt, or action triggered the failure?");
        out.put(
                "cause",
                "Was the failure caused by source data, mapping, permissions, timing, platform behavior, or missing"
                        + " validation?");
        out.put("safe", "Did the system fail safely, or did it create a downstream side effect?");
        out.put("visible", "Was the issue visible in logs or only discovered by a user?");
        out.put(
                "add",
                "What rule, test case, monitor, or approval step should be added so this failure is easier to catch"
                        + " next time?");
        return out;
    }

    static Map<String, String> draftAnswers(JsonNode facts) {
        Map<String, String> out = new LinkedHashMap<>();
        out.put("trigger", trigger(facts));
        out.put("cause", guessCause(facts.path("first")));
        out.put("safe", safe(facts));
        out.put("visible", visible(facts));
        out.put("add", additions(facts));
        return out;
    }

    private static String trigger(JsonNode facts) {
        JsonNode first = facts.path("first");
        if (facts.path("failed_runs").asLong() == 0) {
            return "No stored run failed in this period.";
        }
        if (first.isMissingNode()) { // a user resumed it, or its retention ended, in between
            return capital(counted(facts, "failed_runs", "run")) + " failed. The first one is no longer stored.";
        }
        String status = first.has("http_status")
                ? "HTTP status " + first.path("http_status").asInt() + " ("
                : "";
        return "Run %s failed first, at %s, in step %s with %s%s%s. Its input, with personal data masked, was %s. In total, %s failed."
                .formatted(
                        text(first, "run_id"),
                        text(first, "at"),
                        text(first, "step"),
                        status,
                        text(first, "code"),
                        status.isEmpty() ? "" : ")",
                        text(first, "input"),
                        counted(facts, "failed_runs", "run"));
    }

    /** Guesses the cause from the error alone, and marks it as a guess. */
    static String guessCause(JsonNode first) {
        String error = (raw(first, "code") + " " + raw(first, "message")).toLowerCase(Locale.ROOT);
        if (error.isBlank()) {
            return "Not known: no stored run failed in this period.";
        }
        String guess;
        if (has(error, "401", "403", "forbidden", "unauthor", "secret")) {
            guess = "permissions";
        } else if (has(error, "timed out", "timed-out", "timeout", "in time", "deadline")) {
            guess = "timing";
        } else if (has(
                error, "500", "502", "503", "504", "429", "connection", "unavailable", "in-doubt", "ioexception")) {
            guess = "platform behavior";
        } else if (has(error, "type-mismatch", "expression", "is missing", "diverged")) {
            guess = "mapping";
        } else if (has(error, "400", "404", "409", "422", "invalid")) {
            guess = "source data";
        } else {
            guess = "missing validation";
        }
        return "Probably " + guess + ", judging by the error " + text(first, "code") + ". Please confirm.";
    }

    private static boolean has(String error, String... words) {
        for (String word : words) {
            if (error.contains(word)) {
                return true;
            }
        }
        return false;
    }

    private static String safe(JsonNode facts) {
        long replayed = facts.path("replayed_requests").asLong();
        long suppressed = facts.path("suppressed_effects").asLong();
        return "%s %s prevented (%s replayed, %s suppressed), %s rejected%s. %s still in doubt, %s decided by a user. Semel never sends an effect in doubt again without a key, a lookup or a decision. %s"
                .formatted(
                        duplicates(facts),
                        count(replayed + suppressed, "duplicate"),
                        count(replayed, "request"),
                        count(suppressed, "effect"),
                        count(facts.path("conflicts").asLong(), "conflict"),
                        countedPeriod(facts),
                        capital(counted(facts, "in_doubt", "effect")),
                        counted(facts, "decided", "effect"),
                        lateRetries(facts));
    }

    /** Older duplicates are counted per hour, so the counts may cover more than the period. */
    private static String countedPeriod(JsonNode facts) {
        String since = raw(facts, "counted_since");
        String until = raw(facts, "counted_until");
        if (since.isEmpty() || until.isEmpty() || !facts.path("hourly").asBoolean(false)) {
            return "";
        }
        return " (counted per hour, from " + since + " to " + until + ")";
    }

    /** Which objects were created twice, and what Semel cannot know. */
    private static String duplicates(JsonNode facts) {
        List<String> names = new ArrayList<>();
        facts.path("duplicated_objects").forEach(one -> names.add(text(one, "object")));
        String known;
        if (!names.isEmpty()) {
            known = "These objects were created more than once: " + String.join(", ", names)
                    + (isAtLimit(facts, "duplicated") ? ", and perhaps others." : ".");
        } else if (isAtLimit(facts, "duplicated")) {
            known = "Whether an object was created twice is not known: the scan stopped at its limit.";
        } else {
            known = "No object was created twice. This covers only effects that name the object that they create or"
                    + " update.";
        }
        return known + unprotectedRetries(facts) + " Semel cannot see whether a provider executed one request twice.";
    }

    private static String unprotectedRetries(JsonNode facts) {
        long perhaps = facts.path("possibly_duplicated").asLong();
        if (perhaps == 0) {
            return isAtLimit(facts, "possibly_duplicated")
                    ? " The scan stopped at its limit, so it is not known whether effects without a protection took"
                            + " more than one attempt."
                    : "";
        }
        return " " + capital(counted(facts, "possibly_duplicated", "effect"))
                + " without a protection took more than one attempt and may have happened twice.";
    }

    private static String lateRetries(JsonNode facts) {
        long expired = facts.path("expired_key_retries").asLong();
        String prefix = isAtLimit(facts, "expired_key_retries") ? "At least " : "";
        return expired == 0
                ? "No retry arrived after the window of its key."
                : prefix + count(expired, "retry", "retries")
                        + " arrived after the window of their key and started new runs.";
    }

    private static String visible(JsonNode facts) {
        String runs = facts.path("first").isMissingNode()
                ? "The run list has no failed run of this period."
                : "The first failed run has been visible in the run list since " + text(facts.path("first"), "at")
                        + ".";
        return runs + " " + alertSentence(facts) + " " + auditSentence(facts)
                + " Add who noticed the failure first, and how.";
    }

    private static String alertSentence(JsonNode facts) {
        JsonNode first = facts.path("alerts").path(0);
        boolean atLimit = isAtLimit(facts, "alerts");
        if (first.isMissingNode()) {
            return atLimit
                    ? "Whether an alert fired is not known: the scan of the audit log stopped at its limit."
                    : facts.path("one_workflow").asBoolean(false)
                            ? "No alert on this workflow fired in this period."
                            : "No alert fired in this period.";
        }
        String fired = atLimit ? " fired at " : " fired first, at ";
        return "Alert " + text(first, "name") + fired + text(first, "at") + ".";
    }

    private static String auditSentence(JsonNode facts) {
        if (facts.path("audit_rows").asLong() == 0) {
            return isAtLimit(facts, "audit_rows")
                    ? "Whether a user acted is not known."
                    : facts.path("one_workflow").asBoolean(false)
                            ? "No user acted on this workflow or its runs in this period."
                            : "No user acted in this period.";
        }
        return capital(counted(facts, "audit_rows", "row")) + " in the audit log"
                + (facts.path("one_workflow").asBoolean(false) ? " about this workflow." : ".");
    }

    private static String additions(JsonNode facts) {
        List<String> out = new ArrayList<>();
        if (facts.path("failed_runs").asLong() > 0) {
            out.add("an alert on failures of step " + text(facts.path("first"), "step"));
            out.add("a case for `semel qa` with the response that made the step fail");
        }
        if (facts.path("in_doubt").asLong() + facts.path("decided").asLong() > 0) {
            out.add("a provider key or a lookup for the effects that were in doubt");
        }
        if (facts.path("conflicts").asLong() > 0) {
            out.add("a check of the callers that send different data with the same key");
        }
        if (facts.path("duplicated").asLong() > 0) {
            out.add("an effect key that is derived from the object instead of the run, for objects that were created"
                    + " twice");
        }
        if (facts.path("possibly_duplicated").asLong() > 0) {
            out.add("a protection for the effects that have none");
        }
        if (facts.path("expired_key_retries").asLong() > 0) {
            out.add("a longer window for keys whose retries came late; `semel monitoring show` suggests a window");
        }
        if (out.isEmpty()) {
            out.add("no suggestion");
        }
        return "- " + String.join("\n- ", out);
    }

    /** The member as escaped text for a sentence. */
    private static String text(JsonNode node, String member) {
        return MarkdownEscaper.escape(raw(node, member));
    }

    private static String raw(JsonNode node, String member) {
        return node.path(member).asString("");
    }

    /** Whether this count reached its limit, so that the true count may be higher. */
    private static boolean isAtLimit(JsonNode facts, String name) {
        for (JsonNode one : facts.path("at_least")) {
            if (one.asString("").equals(name)) {
                return true;
            }
        }
        return false;
    }

    private static String counted(JsonNode facts, String name, String word) {
        long number = facts.path(name).asLong();
        if (!isAtLimit(facts, name)) {
            return count(number, word);
        }
        return number == 0 ? "an unknown number of " + word + "s" : "at least " + count(number, word);
    }

    private static String capital(String text) {
        return text.substring(0, 1).toUpperCase(Locale.ROOT) + text.substring(1);
    }

    private static String count(long number, String word) {
        return count(number, word, word + "s");
    }

    private static String count(long number, String one, String many) {
        return number + " " + (number == 1 ? one : many);
    }

    static String markdown(IncidentReport incident, int version) {
        StringBuilder out = new StringBuilder();
        out.append("# ").append(MarkdownEscaper.escape(incident.title())).append("\n\n");
        out.append(MarkdownEscaper.escape(incident.since()))
                .append(" to ")
                .append(MarkdownEscaper.escape(incident.until()));
        if (incident.workflow() != null) {
            out.append(", workflow ").append(MarkdownEscaper.escape(incident.workflow()));
        }
        out.append(", version ").append(version).append(" of this report\n");
        int number = 1;
        for (Map.Entry<String, String> question : QUESTIONS.entrySet()) {
            out.append("\n## ")
                    .append(number++)
                    .append(". ")
                    .append(question.getValue())
                    .append("\n\n");
            out.append(MarkdownEscaper.escapeHtml(incident.answers().getOrDefault(question.getKey(), "")))
                    .append('\n');
        }
        JsonNode facts = incident.facts();
        if (facts != null) {
            tables(out, facts);
        }
        return out.toString();
    }

    private static void tables(StringBuilder out, JsonNode facts) {
        out.append("\n## Facts\n\n| error | step | runs |\n|---|---|---|\n");
        facts.path("errors")
                .forEach(error -> out.append("| ")
                        .append(text(error, "code"))
                        .append(" | ")
                        .append(text(error, "step"))
                        .append(" | ")
                        .append(error.path("runs").asLong())
                        .append(" |\n"));
        out.append("\n| at | actor | action | target |\n|---|---|---|---|\n");
        facts.path("audit")
                .forEach(row -> out.append("| ")
                        .append(text(row, "at"))
                        .append(" | ")
                        .append(text(row, "actor_id"))
                        .append(" | ")
                        .append(text(row, "action"))
                        .append(" | ")
                        .append(text(row, "target"))
                        .append(" |\n"));
        if (!facts.path("complete").asBoolean(true)) {
            out.append("\nSome counts stopped at their limit; the true counts may be higher.\n");
        }
    }
}
