package dev.semel.server.api;

import dev.semel.server.settings.Incident;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/** The five questions: drafts of their answers from what was counted, and the page for people. */
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
        if (first.isMissingNode()) {
            return "No run failed in this time.";
        }
        return "Run %s failed first, at %s, in step %s with %s. %s failed in all."
                .formatted(
                        text(first, "run_id"),
                        text(first, "at"),
                        text(first, "step"),
                        text(first, "code"),
                        count(facts.path("failed_runs").asLong(), "run"));
    }

    /** A guess by the error alone, and said to be one. */
    static String cause(JsonNode first) {
        String seen = (text(first, "code") + " " + text(first, "message")).toLowerCase(Locale.ROOT);
        if (seen.isBlank()) {
            return "Not known: no run failed.";
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
        long open = facts.path("in_doubt").asLong();
        long decided = facts.path("decided").asLong();
        return "%s %s prevented (%s replayed, %s). %s still in doubt, %s decided by a person. An effect in doubt is never sent again without a key, a lookup or a decision. %s"
                .formatted(
                        doubled(facts),
                        count(
                                facts.path("replayed_requests").asLong()
                                        + facts.path("conflicts").asLong(),
                                "duplicate"),
                        count(facts.path("replayed_requests").asLong(), "request"),
                        count(facts.path("conflicts").asLong(), "conflict"),
                        count(open, "effect"),
                        count(decided, "effect"),
                        late(facts.path("expired_key_retries").asLong()));
    }

    /** What is known of doubles, and what cannot be. */
    private static String doubled(JsonNode facts) {
        List<String> names = new ArrayList<>();
        facts.path("doubled_objects").forEach(one -> names.add(text(one, "object")));
        long perhaps = facts.path("perhaps_doubled").asLong();
        String known = names.isEmpty()
                ? "No object was created twice, as far as effects say which object they create."
                : "Created more than once: " + plain(String.join(", ", names)) + ".";
        String unsure = perhaps == 0
                ? ""
                : " " + count(perhaps, "effect")
                        + " without a protection took more than one attempt and may have happened" + " twice.";
        return known + unsure + " What a provider did twice with one request is not known here.";
    }

    private static String late(long expired) {
        return expired == 0
                ? "No retry came after its window."
                : count(expired, "retry that came", "retries that came")
                        + " after the window of their key started new runs.";
    }

    private static String visible(JsonNode facts) {
        long failed = facts.path("failed_runs").asLong();
        String runs = failed == 0
                ? "No failed run shows it."
                : "It shows in the list of runs since " + text(facts.path("first"), "at") + ".";
        long rows = facts.path("audit_rows").asLong();
        JsonNode alerts = facts.path("alerts");
        String told = alerts.isEmpty()
                ? "No alert fired in this time."
                : "Alert " + text(alerts.path(0), "name") + " fired first, at " + text(alerts.path(0), "at") + ".";
        return runs + " " + told + " "
                + (rows == 0 ? "Nobody acted in this time." : count(rows, "row") + " in the audit.")
                + " Say here who noticed it first, and how.";
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

    private static String text(JsonNode node, String member) {
        return node.path(member).asString("");
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
        out.append("# ").append(plain(incident.title())).append("\n\n");
        out.append(incident.since()).append(" to ").append(incident.until());
        if (incident.workflow() != null) {
            out.append(", workflow ").append(plain(incident.workflow()));
        }
        out.append(", version ").append(version).append(" of this review\n");
        int number = 1;
        for (Map.Entry<String, String> question : QUESTIONS.entrySet()) {
            out.append("\n## ")
                    .append(number++)
                    .append(". ")
                    .append(question.getValue())
                    .append("\n\n");
            out.append(incident.answers().getOrDefault(question.getKey(), "").strip())
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
                        .append(cell(text(error, "code")))
                        .append(" | ")
                        .append(cell(text(error, "step")))
                        .append(" | ")
                        .append(error.path("runs").asLong())
                        .append(" |\n"));
        out.append("\n| at | who | did | to |\n|---|---|---|---|\n");
        facts.path("audit")
                .forEach(row -> out.append("| ")
                        .append(text(row, "at"))
                        .append(" | ")
                        .append(cell(text(row, "actor_id")))
                        .append(" | ")
                        .append(cell(text(row, "action")))
                        .append(" | ")
                        .append(cell(text(row, "target")))
                        .append(" |\n"));
        if (!facts.path("complete").asBoolean(true)) {
            out.append("\nThere was more than is counted here.\n");
        }
    }

    /** One line, whatever somebody typed. */
    private static String plain(String text) {
        return text.replaceAll("\\s+", " ").strip();
    }

    private static String cell(String text) {
        return plain(text).replace("|", "\\|");
    }
}
