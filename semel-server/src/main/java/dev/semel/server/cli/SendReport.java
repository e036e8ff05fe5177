package dev.semel.server.cli;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Prints the responses of `semel send`: one line each, remarks, and a summary. */
final class SendReport {
    private final Output output;
    private final @Nullable String key;

    SendReport(Output output, @Nullable String key) {
        this.output = output;
        this.key = key;
    }

    void answer(ObjectNode answer, @Nullable Duration waited) {
        if (!output.json) {
            output.line(line(answer));
            if (waited != null && answer.has("output") && !answer.path("output").isNull()) {
                output.line(Json.pretty(answer.path("output")));
            }
        }
        remarks(answer);
        String status = Json.text(answer, "status");
        if (waited != null && !Waiting.ended(status)) {
            output.talk(
                    "the run has not ended after " + Times.span(waited) + " (" + status + "); it continues on the server");
        }
    }

    private String line(ObjectNode answer) {
        String run = Json.text(answer, "run_id");
        String status = Json.text(answer, "status");
        boolean replayed = replayed(answer);
        if (output.plain) {
            return run + "\t" + status + "\t" + (replayed ? "replayed" : "new");
        }
        return replayed
                ? output.yellow("↺ replayed") + " " + run + " (" + output.status(status) + ")"
                : run + " " + output.status(status);
    }

    /** Prints remarks that are not errors to stderr, also with --json. */
    private void remarks(ObjectNode answer) {
        if (answer.path("payload_mismatch").asBoolean(false)) {
            output.talk("the data differs from the first request with this key; the original run was returned and"
                    + " the new data was not used (--strict makes this an error)");
        }
        remark("the key had expired and this is a new run; the previous run was ", Json.text(answer, "previous_run_id"));
        remark("the same payload already ran under another key: ", Json.text(answer, "duplicate_of"));
        remark("a safe replay superseded this run: ", Json.text(answer, "superseded_by"));
        for (JsonNode warning : answer.path("warnings")) {
            remark("warning: ", warning.isString() ? Json.clean(warning.asString()) : Json.compact(warning));
        }
        JsonNode error = answer.path("error");
        if (error.isObject()) {
            String step = Json.text(error, "step");
            remark(step.isEmpty() ? "the run failed: " : "step " + step + " failed: ", Json.text(error, "message"));
        }
    }

    private void remark(String before, String text) {
        if (!text.isEmpty()) {
            output.talk(before + text);
        }
    }

    /** Called before a failure ends the command, so that earlier responses are not lost. */
    void before(List<ObjectNode> answers) {
        if (!answers.isEmpty() && !output.json) {
            output.talk("after " + answers.size() + " of the answers above:");
        }
    }

    void end(List<ObjectNode> answers) {
        long replayed = answers.stream().filter(SendReport::replayed).count();
        long runs = answers.stream()
                .map(answer -> Json.text(answer, "run_id"))
                .distinct()
                .count();
        if (output.json) {
            output.document(answers.size() == 1 ? answers.getFirst() : document(answers, runs, replayed));
            return;
        }
        if (answers.size() > 1 && !output.plain) {
            output.line(count(runs, "run") + ", " + count(replayed, "duplicate") + " prevented");
        }
        String run = Json.text(answers.getLast(), "run_id");
        output.next(key != null && replayed > 0 ? "semel key " + Shell.word(key) : "semel run " + Shell.word(run));
    }

    private static ObjectNode document(List<ObjectNode> answers, long runs, long replayed) {
        ObjectNode document = Json.object();
        ArrayNode items = document.putArray("items");
        answers.forEach(items::add);
        return document.put("runs", runs).put("duplicates_prevented", replayed);
    }

    private static boolean replayed(ObjectNode answer) {
        return answer.path("idempotent_replayed").asBoolean(false);
    }

    static String count(long number, String noun) {
        return number + " " + noun + (number == 1 ? "" : "s");
    }
}
