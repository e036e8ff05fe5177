package dev.semel.server.api;

import dev.semel.server.settings.Incident;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/**
 * The five questions: drafts of their answers from what was counted, and the page for people. Answers are Markdown, since
 * people write them, so every text of others that a draft takes up is escaped ({@link Markdown}). A count that came to its bound
 * is told as `at least`, and nothing found within a bound is told as not known.
 */
final class IncidentText {
    private static final Map<String, String> QUESTIONS = questions();

    private IncidentText() {}

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

    static Map<String, String> drafts(JsonNode facts) {
        Map<String, String> out = new LinkedHashMap<>();
        out.put("trigger", trigger(facts));
        out.put("cause", cause(facts.path("first")));
        out.put("safe", safe(facts));
        out.put("visible", visible(facts));
        out.put("add", additions(facts));
        return out;
    }

    private static String trigger(JsonNode facts) {
        JsonNode first = facts.path("first");
        if (facts.path("failed_runs").asLong() == 0) {
            return "No run failed in this time, among those that are kept.";
        }
        if (first.isMissingNode()) { // it went on, or was swept away, in between
            return capital(counted(facts, "failed_runs", "run")) + " failed; the first is not kept any more.";
        }
        return "Run %s failed first, at %s, in step %s with %s. %s failed in all."
                .formatted(
                        text(first, "run_id"),
                        text(first, "at"),
                        text(first, "step"),
                        text(first, "code"),
                        capital(counted(facts, "failed_runs", "run")));
    }

    /** A guess by the error alone, and said to be one. */
    static String cause(JsonNode first) {
        String seen = (raw(first, "code") + " " + raw(first, "message")).toLowerCase(Locale.ROOT);
        if (seen.isBlank()) {
            return "Not known: no run is kept that failed in this time.";
        }
        String guess;
        if (has(seen, "401", "403", "forbidden", "unauthor", "secret")) {
            guess = "permissions";
        } else if (has(seen, "timed out", "timed-out", "timeout", "in time", "deadline")) {
            guess = "timing";
        } else if (has(
                seen, "500", "502", "503", "504", "429", "connection", "unavailable", "in-doubt", "ioexception")) {
            guess = "platform behavior";
        } else if (has(seen, "type-mismatch", "expression", "is missing", "diverged")) {
            guess = "mapping";
        } else if (has(seen, "400", "404", "409", "422", "invalid")) {
            guess = "source data";
        } else {
            guess = "missing validation";
        }
        return "Probably " + guess + ", going by the error " + text(first, "code") + ". Please confirm.";
    }

    private static boolean has(String seen, String... words) {
        for (String word : words) {
            if (seen.contains(word)) {
                return true;
            }
        }
        return false;
    }

    private static String safe(JsonNode facts) {
        long replayed = facts.path("replayed_requests").asLong();
        long suppressed = facts.path("suppressed_effects").asLong();
        return "%s %s prevented (%s replayed, %s suppressed), %s refused%s. %s still in doubt, %s decided by a person. An effect in doubt is never sent again without a key, a lookup or a decision. %s"
                .formatted(
                        doubled(facts),
                        count(replayed + suppressed, "duplicate"),
                        count(replayed, "request"),
                        count(suppressed, "effect"),
                        count(facts.path("conflicts").asLong(), "conflict"),
                        wider(facts),
                        capital(counted(facts, "in_doubt", "effect")),
                        counted(facts, "decided", "effect"),
                        late(facts));
    }

    /** Duplicates of long ago are counted by the hour, so of a little more than was asked for. */
    private static String wider(JsonNode facts) {
        String since = raw(facts, "counted_since");
        String until = raw(facts, "counted_until");
        if (since.isEmpty() || until.isEmpty() || !facts.path("by_the_hour").asBoolean(false)) {
            return "";
        }
        return " (counted by the hour, from " + since + " to " + until + ")";
    }

    /** What is known of doubles, and what cannot be. */
    private static String doubled(JsonNode facts) {
        List<String> names = new ArrayList<>();
        facts.path("doubled_objects").forEach(one -> names.add(text(one, "object")));
        String known;
        if (!names.isEmpty()) {
            known = "Created more than once: " + String.join(", ", names)
                    + (isBound(facts, "doubled") ? ", and perhaps others." : ".");
        } else if (isBound(facts, "doubled")) {
            known = "Whether an object was created twice is not known: more were written to than were looked at.";
        } else {
            known = "No object was created twice, as far as effects say which object they create.";
        }
        return known + perhaps(facts) + " What a provider did twice with one request is not known here.";
    }

    private static String perhaps(JsonNode facts) {
        long perhaps = facts.path("perhaps_doubled").asLong();
        if (perhaps == 0) {
            return isBound(facts, "perhaps_doubled")
                    ? " Whether effects without a protection took more than one attempt is not known: there are more"
                            + " than were looked at."
                    : "";
        }
        return " " + capital(counted(facts, "perhaps_doubled", "effect"))
                + " without a protection took more than one attempt and may have happened twice.";
    }

    private static String late(JsonNode facts) {
        long expired = facts.path("expired_key_retries").asLong();
        String least = isBound(facts, "expired_key_retries") ? "At least " : "";
        return expired == 0
                ? "No retry came after its window."
                : least + count(expired, "retry that came", "retries that came")
                        + " after the window of their key started new runs.";
    }

    private static String visible(JsonNode facts) {
        String runs = facts.path("first").isMissingNode()
                ? "No failed run that is kept shows it."
                : "It shows in the list of runs since " + text(facts.path("first"), "at") + ".";
        return runs + " " + told(facts) + " " + acted(facts) + " Say here who noticed it first, and how.";
    }

    private static String told(JsonNode facts) {
        JsonNode first = facts.path("alerts").path(0);
        boolean bound = isBound(facts, "alerts");
        if (first.isMissingNode()) {
            return bound
                    ? "Whether an alert fired is not known: the audit of this time has more rows than were looked at."
                    : "No alert fired in this time.";
        }
        return "Alert " + text(first, "name") + (bound ? " fired, at " : " fired first, at ") + text(first, "at") + ".";
    }

    private static String acted(JsonNode facts) {
        if (facts.path("audit_rows").asLong() == 0) {
            return isBound(facts, "audit_rows") ? "Whether somebody acted is not known." : "Nobody acted in this time.";
        }
        return capital(counted(facts, "audit_rows", "row")) + " in the audit.";
    }

    private static String additions(JsonNode facts) {
        List<String> out = new ArrayList<>();
        if (facts.path("failed_runs").asLong() > 0) {
            out.add("an alert on failures of step " + text(facts.path("first"), "step"));
            out.add("a case for `semel qa` with the answer that made it fail");
        }
        if (facts.path("in_doubt").asLong() + facts.path("decided").asLong() > 0) {
            out.add("a provider key or a lookup for the effects that came in doubt");
        }
        if (facts.path("conflicts").asLong() > 0) {
            out.add("a look at callers that send other data with a known key");
        }
        if (facts.path("doubled").asLong() > 0) {
            out.add("a key of the object, instead of the run, for what was created twice");
        }
        if (facts.path("perhaps_doubled").asLong() > 0) {
            out.add("a protection for the effects that have none");
        }
        if (facts.path("expired_key_retries").asLong() > 0) {
            out.add("a longer window for the keys that came late; `semel signals` says which");
        }
        if (out.isEmpty()) {
            out.add("nothing suggests itself");
        }
        return "- " + String.join("\n- ", out);
    }

    /** For a sentence: whatever somebody called it, it stands there as they wrote it. */
    private static String text(JsonNode node, String member) {
        return Markdown.text(raw(node, member));
    }

    private static String raw(JsonNode node, String member) {
        return node.path(member).asString("");
    }

    /** Whether there may be more of it than was counted. */
    private static boolean isBound(JsonNode facts, String name) {
        for (JsonNode one : facts.path("at_least")) {
            if (one.asString("").equals(name)) {
                return true;
            }
        }
        return false;
    }

    private static String counted(JsonNode facts, String name, String word) {
        long number = facts.path(name).asLong();
        if (!isBound(facts, name)) {
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

    /** For people, and for where they keep such things. */
    static String markdown(Incident incident, int version) {
        StringBuilder out = new StringBuilder();
        out.append("# ").append(Markdown.text(incident.title())).append("\n\n");
        out.append(Markdown.text(incident.since())).append(" to ").append(Markdown.text(incident.until()));
        if (incident.workflow() != null) {
            out.append(", workflow ").append(Markdown.text(incident.workflow()));
        }
        out.append(", version ").append(version).append(" of this review\n");
        int number = 1;
        for (Map.Entry<String, String> question : QUESTIONS.entrySet()) {
            out.append("\n## ")
                    .append(number++)
                    .append(". ")
                    .append(question.getValue())
                    .append("\n\n");
            out.append(Markdown.withoutHtml(incident.answers().getOrDefault(question.getKey(), "")))
                    .append('\n');
        }
        JsonNode facts = incident.facts();
        if (facts != null) {
            tables(out, facts);
        }
        return out.toString();
    }

    private static void tables(StringBuilder out, JsonNode facts) {
        out.append("\n## What was counted\n\n| error | step | runs |\n|---|---|---|\n");
        facts.path("errors")
                .forEach(error -> out.append("| ")
                        .append(text(error, "code"))
                        .append(" | ")
                        .append(text(error, "step"))
                        .append(" | ")
                        .append(error.path("runs").asLong())
                        .append(" |\n"));
        out.append("\n| at | who | did | to |\n|---|---|---|---|\n");
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
            out.append("\nThere was more than is counted here.\n");
        }
    }
}
