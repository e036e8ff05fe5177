package dev.semel.server.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/** Prints replay plans, their items and their progress. */
final class ReplayReport {
    private static final int WIDTH = 30;
    private static final String[] ACTIONS = {
        "reuse", "silent", "run_again", "send", "resend", "check", "ask", "unprotected"
    };

    private static final Map<String, String> WORDS = Map.of(
            "reuse", "reuse the recorded result",
            "silent", "send no notification",
            "run_again", "run again",
            "send", "send for the first time",
            "resend", "send again with the same key",
            "check", "check with the provider first",
            "ask", "ask a user",
            "unprotected", "unprotected: could happen twice");

    private final Output output;
    private String last = "";
    private String lastNote = "";

    ReplayReport(Output output) {
        this.output = output;
    }

    void plan(JsonNode plan) {
        output.line("plan " + Json.text(plan, "replay_id") + " (" + Json.text(plan, "status") + ") of "
                + Json.text(plan, "what") + ": " + plan.path("runs").asLong() + " runs, "
                + plan.path("safe").asLong() + " safe");
        Table table = new Table("WHAT", "RUNS", "STEPS");
        for (String action : ACTIONS) {
            JsonNode counts = plan.path("actions").path(action);
            long runs = counts.path("runs").asLong();
            long steps = counts.path("steps").asLong();
            if (runs + steps > 0) {
                table.row(output.plain ? action : WORDS.getOrDefault(action, action), "" + runs, "" + steps);
            }
        }
        table.print(output);
        printCount(plan, "blocked", " cannot be replayed now; their items show the reason");
        printCount(
                plan,
                "open",
                " are Java code: effects without a record are sent for the first time");
        if (plan.path("perhaps").asLong() > 0) {
            output.talk(plan.path("perhaps").asLong() + " steps depend on a condition or a loop");
        }
        JsonNode how = plan.path("apply");
        if (how.isObject() && Json.text(plan, "status").equals("planned")) {
            List<String> include = new ArrayList<>();
            how.path("include").forEach(word -> include.add(word.asString("")));
            output.talk("will be applied: safe actions" + (include.isEmpty() ? "" : ", and " + String.join(", ", include))
                    + "; rate " + how.path("rate").asLong() + ", canary "
                    + how.path("canary").asLong() + ", stop after "
                    + how.path("stop_after").asLong());
        }
        waits(plan);
        if (plan.path("needs_approval").booleanValue()) {
            output.talk("another user must approve it: semel replay approve " + Json.text(plan, "replay_id"));
        }
    }

    /** Prints once what a plan in progress waits for. */
    void waits(JsonNode plan) {
        String note = Json.text(plan, "note");
        if (Json.text(plan, "status").equals("applying") && !note.isEmpty() && !note.equals(lastNote)) {
            lastNote = note;
            output.talk(note);
        }
    }

    private void printCount(JsonNode plan, String member, String words) {
        long runs = plan.path(member).asLong();
        if (runs > 0) {
            output.talk(runs + " runs" + words);
        }
    }

    /** Prints the steps of each run, or only those with one action. */
    void items(JsonNode items, String only) {
        Table table = new Table("RUN", "STEP", "ACTION", "REASON", "RESULT", "NEW RUN");
        for (JsonNode item : items) {
            String fate = Json.text(item, "fate");
            String made = Json.text(item, "new_run_id");
            if (!Json.text(item, "blocked").isEmpty()) {
                table.row(Json.text(item, "run_id"), "", "blocked", Json.text(item, "blocked"), fate, made);
            }
            for (JsonNode step : item.path("steps")) {
                if (only.isEmpty() || only.equals(Json.text(step, "action"))) {
                    String until = Json.text(step, "until");
                    table.row(
                            Json.text(item, "run_id"),
                            Json.text(step, "step"),
                            Json.text(step, "action"),
                            Json.text(step, "why") + (until.isEmpty() ? "" : " until " + until),
                            fate,
                            made);
                }
            }
        }
        table.print(output);
    }

    static boolean isOver(JsonNode plan) {
        String status = Json.text(plan, "status");
        boolean ended = status.equals("done") || status.equals("stopped");
        // A run may wait for a user or a timer for days.
        JsonNode runs = plan.path("progress").path("runs");
        long moving = runs.path("started").asLong() + runs.path("running").asLong();
        return ended && moving == 0;
    }

    static boolean isGood(JsonNode plan) {
        JsonNode runs = plan.path("progress").path("runs");
        return Json.text(plan, "status").equals("done")
                && runs.path("failed").asLong() == 0
                && runs.path("cancelled").asLong() == 0
                && plan.path("progress").path("refused").asLong() == 0;
    }

    /** Prints a progress bar on a terminal, and nothing elsewhere. */
    void bar(JsonNode plan, boolean terminal) {
        long all = plan.path("runs").asLong();
        long open = plan.path("progress").path("planned").asLong();
        if (!terminal || output.json || output.plain || all == 0) {
            return;
        }
        int full = (int) (WIDTH * (all - open) / all);
        String now = "[" + "#".repeat(full) + ".".repeat(WIDTH - full) + "] " + (all - open) + " of " + all;
        if (!now.equals(last)) {
            output.over(now);
            last = now;
        }
    }

    /** Prints the result, taken from the runs themselves. */
    void end(JsonNode plan) {
        if (!last.isEmpty()) {
            output.talk(""); // ends the line of the progress bar
        }
        JsonNode progress = plan.path("progress");
        StringBuilder line = new StringBuilder(Json.text(plan, "status"))
                .append(": ")
                .append(progress.path("applied").asLong())
                .append(" replayed");
        for (Map.Entry<String, JsonNode> one : progress.path("runs").properties()) {
            line.append(", ").append(one.getValue().asLong()).append(' ').append(Json.clean(one.getKey()));
        }
        for (String fate : new String[] {"left_out", "outdated", "refused", "planned"}) {
            long items = progress.path(fate).asLong();
            if (items > 0) {
                line.append(", ").append(items).append(' ').append(fate.replace('_', ' '));
            }
        }
        output.line(line.toString());
        String note = Json.text(plan, "note");
        if (!note.isEmpty()) {
            output.talk(note);
        }
        if (!progress.path("verified").booleanValue()) {
            output.talk(
                    "some runs have not ended; see semel replay show " + Json.text(plan, "replay_id"));
        }
    }
}
