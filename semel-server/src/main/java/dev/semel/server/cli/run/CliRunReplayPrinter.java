package dev.semel.server.cli.run;

import dev.semel.server.cli.command.CliCommandOutput;
import dev.semel.server.cli.command.TerminalJsonFormatter;
import dev.semel.server.cli.command.TextTable;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;

final class CliRunReplayPrinter {
    private static final int WIDTH = 30;
    private static final String[] ACTIONS = {
        "reuse", "silent", "run_again", "send", "resend", "check", "send_again", "ask", "unprotected"
    };

    private static final Map<String, String> WORDS = Map.of(
            "reuse", "reuse the recorded result",
            "silent", "send no notification",
            "run_again", "run again",
            "send", "send for the first time",
            "resend", "send again with the same key",
            "check", "check with the provider first",
            "send_again", "send again on purpose",
            "ask", "ask a user",
            "unprotected", "unprotected: could happen twice");

    private final CliCommandOutput output;
    private String last = "";
    private String lastNote = "";

    CliRunReplayPrinter(CliCommandOutput output) {
        this.output = output;
    }

    void printPlan(JsonNode plan) {
        output.printLine("plan " + TerminalJsonFormatter.text(plan, "replay_id") + " ("
                + TerminalJsonFormatter.text(plan, "status") + ") of "
                + TerminalJsonFormatter.text(plan, "selection") + ": "
                + plan.path("runs").asLong() + " runs, "
                + plan.path("safe").asLong() + " safe");
        TextTable table = new TextTable("WHAT", "RUNS", "STEPS");
        for (String action : ACTIONS) {
            JsonNode counts = plan.path("actions").path(action);
            long runs = counts.path("runs").asLong();
            long steps = counts.path("steps").asLong();
            if (runs + steps > 0) {
                table.addRow(output.plain ? action : WORDS.getOrDefault(action, action), "" + runs, "" + steps);
            }
        }
        table.print(output);
        printCount(plan, "blocked", " cannot be replayed now; `semel replay show` shows the reason for each");
        printCount(
                plan,
                "incomplete",
                " have later steps that the server cannot predict (Java code or child runs); the replay sends each"
                        + " effect of these steps that has no record");
        if (plan.path("conditional_steps").asLong() > 0) {
            output.printMessage(plan.path("conditional_steps").asLong()
                    + " more steps depend on a condition or a loop and are not counted");
        }
        JsonNode how = plan.path("apply");
        if (how.isObject() && TerminalJsonFormatter.text(plan, "status").equals("planned")) {
            List<String> include = new ArrayList<>();
            how.path("include").forEach(word -> include.add(word.asString("")));
            output.printMessage("options of this plan: apply the safe actions"
                    + (include.isEmpty() ? "" : " and these unsafe actions: " + String.join(", ", include))
                    + "; runs per second: " + orWord(how, "rate", "no limit")
                    + "; canary: " + orWord(how, "canary", "none")
                    + "; stop after failed runs: " + orWord(how, "stop_after", "never"));
        }
        printNote(plan);
        if (plan.path("needs_approval").booleanValue()) {
            output.printMessage("another user must approve this plan: semel replay approve "
                    + TerminalJsonFormatter.text(plan, "replay_id"));
        }
    }

    /** The number of an option, or the word for 0. */
    private static String orWord(JsonNode how, String member, String word) {
        long number = how.path(member).asLong();
        return number == 0 ? word : "" + number;
    }

    /** Prints once what a plan in progress waits for. */
    void printNote(JsonNode plan) {
        String note = TerminalJsonFormatter.text(plan, "note");
        if (TerminalJsonFormatter.text(plan, "status").equals("applying")
                && !note.isEmpty()
                && !note.equals(lastNote)) {
            lastNote = note;
            output.printMessage(note);
        }
    }

    private void printCount(JsonNode plan, String member, String words) {
        long runs = plan.path(member).asLong();
        if (runs > 0) {
            output.printMessage(runs + " runs" + words);
        }
    }

    /** Prints the steps of each run, or only those with one action. */
    void printItems(JsonNode items, String only) {
        TextTable table = new TextTable("RUN", "STEP", "ACTION", "REASON", "RESULT", "NEW RUN");
        for (JsonNode item : items) {
            String fate = TerminalJsonFormatter.text(item, "outcome");
            String made = TerminalJsonFormatter.text(item, "new_run_id");
            if (!TerminalJsonFormatter.text(item, "blocked").isEmpty()) {
                table.addRow(
                        TerminalJsonFormatter.text(item, "run_id"),
                        "",
                        "blocked",
                        TerminalJsonFormatter.text(item, "blocked"),
                        fate,
                        made);
            }
            for (JsonNode step : item.path("steps")) {
                if (only.isEmpty() || only.equals(TerminalJsonFormatter.text(step, "action"))) {
                    String until = TerminalJsonFormatter.text(step, "until");
                    table.addRow(
                            TerminalJsonFormatter.text(item, "run_id"),
                            TerminalJsonFormatter.text(step, "step"),
                            TerminalJsonFormatter.text(step, "action"),
                            TerminalJsonFormatter.text(step, "reason") + (until.isEmpty() ? "" : " until " + until),
                            fate,
                            made);
                }
            }
        }
        table.print(output);
    }

    static boolean isFinished(JsonNode plan) {
        String status = TerminalJsonFormatter.text(plan, "status");
        boolean ended = status.equals("done") || status.equals("stopped");
        // A run may wait for a user or a timer for days.
        JsonNode runs = plan.path("progress").path("runs");
        long moving = runs.path("started").asLong() + runs.path("running").asLong();
        return ended && moving == 0;
    }

    static boolean isSuccessful(JsonNode plan) {
        JsonNode runs = plan.path("progress").path("runs");
        return TerminalJsonFormatter.text(plan, "status").equals("done")
                && runs.path("failed").asLong() == 0
                && runs.path("cancelled").asLong() == 0
                && plan.path("progress").path("rejected").asLong() == 0;
    }

    /** Prints a progress bar on a terminal, and nothing elsewhere. */
    void printProgressBar(JsonNode plan, boolean terminal) {
        long all = plan.path("runs").asLong();
        long open = plan.path("progress").path("planned").asLong();
        if (!terminal || output.json || output.plain || all == 0) {
            return;
        }
        int full = (int) (WIDTH * (all - open) / all);
        String now = "[" + "#".repeat(full) + ".".repeat(WIDTH - full) + "] " + (all - open) + " of " + all;
        if (!now.equals(last)) {
            output.printProgress(now);
            last = now;
        }
    }

    /** Prints the result, taken from the runs themselves. */
    void printResult(JsonNode plan) {
        if (!last.isEmpty()) {
            output.printMessage(""); // ends the line of the progress bar
        }
        JsonNode progress = plan.path("progress");
        StringBuilder line = new StringBuilder(TerminalJsonFormatter.text(plan, "status"))
                .append(": ")
                .append(progress.path("applied").asLong())
                .append(" replayed");
        for (Map.Entry<String, JsonNode> one : progress.path("runs").properties()) {
            line.append(", ")
                    .append(one.getValue().asLong())
                    .append(' ')
                    .append(TerminalJsonFormatter.sanitize(one.getKey()));
        }
        for (String fate : new String[] {"skipped", "outdated", "rejected", "planned"}) {
            long items = progress.path(fate).asLong();
            if (items > 0) {
                line.append(", ").append(items).append(' ').append(fate.replace('_', ' '));
            }
        }
        output.printLine(line.toString());
        String note = TerminalJsonFormatter.text(plan, "note");
        if (!note.isEmpty()) {
            output.printMessage(note);
        }
        if (!progress.path("verified").booleanValue()) {
            output.printMessage(
                    "some runs have not ended; see semel replay show " + TerminalJsonFormatter.text(plan, "replay_id"));
        }
    }
}
