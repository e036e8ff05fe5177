package dev.semel.server.cli;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Prints the responses of `semel send`: one line each, remarks, and a summary. */
final class SendReport {
    private final CommandOutput output;
    private final @Nullable String key;

    SendReport(CommandOutput output, @Nullable String key) {
        this.output = output;
        this.key = key;
    }

    void printResponse(ObjectNode answer, @Nullable Duration waited) {
        if (!output.json) {
            output.printLine(line(answer));
            if (waited != null && answer.has("output") && !answer.path("output").isNull()) {
                output.printLine(TerminalJson.pretty(answer.path("output")));
            }
        }
        remarks(answer);
        String status = TerminalJson.text(answer, "status");
        if (waited != null && !RunWaiter.isEnded(status)) {
            output.printMessage("the run has not ended after " + DurationText.format(waited) + " (" + status
                    + "); it continues on the server");
        }
    }

    private String line(ObjectNode answer) {
        String run = TerminalJson.text(answer, "run_id");
        String status = TerminalJson.text(answer, "status");
        boolean replayed = replayed(answer);
        if (output.plain) {
            return run + "\t" + status + "\t" + (replayed ? "replayed" : "new");
        }
        return replayed
                ? output.yellow("↺ replayed") + " " + run + " (" + output.colourStatus(status) + ")"
                : run + " " + output.colourStatus(status);
    }

    /** Prints remarks that are not errors to stderr, also with --json. */
    private void remarks(ObjectNode answer) {
        if (answer.path("payload_mismatch").asBoolean(false)) {
            output.printMessage(
                    "the data differs from the first request with this key; the original run was returned and"
                            + " the new data was not used (--strict makes this an error)");
        }
        remark(
                "the key had expired and this is a new run; the previous run was ",
                TerminalJson.text(answer, "previous_run_id"));
        remark("the same payload already ran under another key: ", TerminalJson.text(answer, "duplicate_of"));
        remark("a safe replay superseded this run: ", TerminalJson.text(answer, "superseded_by"));
        for (JsonNode warning : answer.path("warnings")) {
            remark(
                    "warning: ",
                    warning.isString() ? TerminalJson.sanitize(warning.asString()) : TerminalJson.compact(warning));
        }
        JsonNode error = answer.path("error");
        if (error.isObject()) {
            String step = TerminalJson.text(error, "step");
            remark(
                    step.isEmpty() ? "the run failed: " : "step " + step + " failed: ",
                    TerminalJson.text(error, "message"));
        }
    }

    private void remark(String before, String text) {
        if (!text.isEmpty()) {
            output.printMessage(before + text);
        }
    }

    /** Called before a failure ends the command, so that earlier responses are not lost. */
    void printBeforeFailure(List<ObjectNode> answers) {
        if (!answers.isEmpty() && !output.json) {
            output.printMessage("after " + answers.size() + " of the answers above:");
        }
    }

    void printSummary(List<ObjectNode> answers) {
        long replayed = answers.stream().filter(SendReport::replayed).count();
        long runs = answers.stream()
                .map(answer -> TerminalJson.text(answer, "run_id"))
                .distinct()
                .count();
        if (output.json) {
            output.printJson(answers.size() == 1 ? answers.getFirst() : document(answers, runs, replayed));
            return;
        }
        if (answers.size() > 1 && !output.plain) {
            output.printLine(countOf(runs, "run") + ", " + countOf(replayed, "duplicate") + " prevented");
        }
        String run = TerminalJson.text(answers.getLast(), "run_id");
        output.suggestCommand(
                key != null && replayed > 0
                        ? "semel key show " + ShellQuoting.quote(key)
                        : "semel run show " + ShellQuoting.quote(run));
    }

    private static ObjectNode document(List<ObjectNode> answers, long runs, long replayed) {
        ObjectNode document = TerminalJson.newObject();
        ArrayNode items = document.putArray("items");
        answers.forEach(items::add);
        return document.put("runs", runs).put("duplicates_prevented", replayed);
    }

    private static boolean replayed(ObjectNode answer) {
        return answer.path("idempotent_replayed").asBoolean(false);
    }

    static String countOf(long number, String noun) {
        return number + " " + noun + (number == 1 ? "" : "s");
    }
}
