package dev.semel.server.cli.trigger;

import dev.semel.server.cli.command.CliCommandOutput;
import dev.semel.server.cli.command.CliDurationFormatter;
import dev.semel.server.cli.command.ShellQuoting;
import dev.semel.server.cli.command.TerminalJsonFormatter;
import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Prints the responses of `semel send`: one line each, remarks, and a summary. */
record CliTriggerResponsePrinter(
        CliCommandOutput output, @Nullable String key) {
    void printResponse(ObjectNode answer, @Nullable Duration waited) {
        if (!output.json) {
            output.printLine(line(answer));
            if (waited != null && answer.has("output") && !answer.path("output").isNull()) {
                output.printLine(TerminalJsonFormatter.pretty(answer.path("output")));
            }
        }
        remarks(answer);
        String status = TerminalJsonFormatter.text(answer, "status");
        if (waited != null && !CliRunCompletionPoller.isEnded(status)) {
            output.printMessage("the run has not ended after " + CliDurationFormatter.format(waited) + " (" + status
                    + "); it continues on the server");
        }
    }

    private String line(ObjectNode answer) {
        String run = TerminalJsonFormatter.text(answer, "run_id");
        String status = TerminalJsonFormatter.text(answer, "status");
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
                TerminalJsonFormatter.text(answer, "previous_run_id"));
        remark(
                "another run had the same payload under another key: ",
                TerminalJsonFormatter.text(answer, "duplicate_of"));
        remark("a safe replay replaced this run; the new run is ", TerminalJsonFormatter.text(answer, "superseded_by"));
        for (JsonNode warning : answer.path("warnings")) {
            remark(
                    "warning: ",
                    warning.isString()
                            ? TerminalJsonFormatter.sanitize(warning.asString())
                            : TerminalJsonFormatter.compact(warning));
        }
        JsonNode error = answer.path("error");
        if (error.isObject()) {
            String step = TerminalJsonFormatter.text(error, "step");
            remark(
                    step.isEmpty() ? "the run failed: " : "step " + step + " failed: ",
                    TerminalJsonFormatter.text(error, "message"));
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
            output.printMessage(
                    CliCommandOutput.countOf(answers.size(), "answer") + " above. The next request failed:");
        }
    }

    void printSummary(List<ObjectNode> answers) {
        long replayed =
                answers.stream().filter(CliTriggerResponsePrinter::replayed).count();
        long runs = answers.stream()
                .map(answer -> TerminalJsonFormatter.text(answer, "run_id"))
                .distinct()
                .count();
        if (output.json) {
            output.printJson(
                    answers.size() == 1
                            ? answers.getFirst()
                            : document(answers).put("runs", runs).put("duplicates_prevented", replayed));
            return;
        }
        if (answers.size() > 1 && !output.plain) {
            output.printLine(CliCommandOutput.countOf(runs, "run") + ", "
                    + CliCommandOutput.countOf(replayed, "duplicate") + " prevented");
        }
        String run = TerminalJsonFormatter.text(answers.getLast(), "run_id");
        output.suggestCommand(
                key != null && replayed > 0
                        ? "semel key show " + ShellQuoting.quote(key)
                        : "semel run show " + ShellQuoting.quote(run));
    }

    static ObjectNode document(List<ObjectNode> answers) {
        ObjectNode document = TerminalJsonFormatter.newObject();
        answers.forEach(document.putArray("items")::add);
        return document;
    }

    private static boolean replayed(ObjectNode answer) {
        return answer.path("idempotent_replayed").asBoolean(false);
    }
}
