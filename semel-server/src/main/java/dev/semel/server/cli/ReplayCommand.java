package dev.semel.server.cli;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Safe replays: what they would do, and doing it. */
abstract sealed class ReplayCommand implements Callable<Integer> {
    final Surroundings around;

    @Mixin
    final Output output;

    @Mixin
    final Connection connection;

    ReplayCommand(Surroundings around) {
        this.around = around;
        this.output = new Output(around);
        this.connection = new Connection(around);
    }

    /** `semel replay plan|show|apply|approve|stop`. */
    static CommandLine commandLine(Surroundings around) {
        return new CommandLine(new Group(around))
                .addSubcommand(new Plan(around))
                .addSubcommand(new Show(around))
                .addSubcommand(new Apply(around))
                .addSubcommand(new Approve(around))
                .addSubcommand(new Stop(around));
    }

    /** The plan as people read it. */
    final void print(JsonNode plan) {
        ReplayReport report = new ReplayReport(output);
        report.plan(plan);
    }

    @Command(
            name = "replay",
            description = "Safe replays: plan what would happen, then apply it.",
            footerHeading = "%nExamples:%n",
            footer = {
                "  semel replay plan run_9kXmP2vQwL",
                "  semel replay plan status:failed since:2h workflow:payment_receipt",
                "  semel replay show rpl_2b --only unprotected",
                "  semel replay apply rpl_2b --rate 20 --canary 5"
            })
    static final class Group implements Callable<Integer> {
        private final Surroundings around;

        Group(Surroundings around) {
            this.around = around;
        }

        @Override
        public Integer call() {
            around.err().println("say what to do: plan, show, apply, approve or stop");
            around.err().println("help: semel replay -h");
            return Exit.USAGE;
        }
    }

    /** How a plan is applied. What is not said is left as the plan has it. */
    static final class How {
        @Option(names = "--include", paramLabel = "ACTIONS", split = ",", description = "ask, unprotected.")
        List<String> include = new ArrayList<>();

        @Option(names = "--rate", paramLabel = "N", description = "So many runs a second.")
        int rate;

        @Option(names = "--canary", paramLabel = "N", description = "So many first; the rest when these completed.")
        int canary;

        @Option(names = "--stop-after", paramLabel = "N", description = "Stop when so many failed.")
        int stopAfter;

        void into(ObjectNode body) {
            if (!include.isEmpty() || rate != 0 || canary != 0 || stopAfter != 0) {
                include.forEach(body.putArray("include")::add);
                body.put("rate", rate).put("canary", canary).put("stop_after", stopAfter);
            }
        }
    }

    @Command(name = "plan", description = "Says for every step of every run what a replay would do. Changes nothing.")
    static final class Plan extends ReplayCommand {
        @Parameters(
                paramLabel = "RUNS",
                arity = "1..*",
                description = "Run ids, or words of a filter: status:S workflow:W key:K since:2h.")
        List<String> runs = List.of();

        @Option(
                names = "--from",
                paramLabel = "STEP",
                description = "Go on from this step, or from `start`; from where it ended unless told.")
        String from = "";

        @Option(
                names = "--redo",
                paramLabel = "STEPS",
                split = ",",
                description = "Do these steps again on purpose, although they are done.")
        List<String> redo = new ArrayList<>();

        @Option(names = "--confirm-redo", description = "That is meant: effects among them happen a second time.")
        boolean confirmRedo;

        @Option(
                names = "--late-signals",
                description = "Signals that a run had got and did not take are given to its replay.")
        boolean lateSignals;

        @Option(
                names = "--notify",
                paramLabel = "WHICH",
                description = "missing (what was not sent), none, or again (what was sent, too; --confirm-redo).")
        String notify = "";

        @Option(names = "--input", paramLabel = "JSON", description = "Another input, for one run.")
        @Nullable
        String input;

        @Option(names = "--as-it-is", description = "By the current version, and not by the one that the run had.")
        boolean asItIs;

        @Option(names = "--approval", description = "Somebody else must approve the plan, and how it is applied.")
        boolean approval;

        @Mixin
        final How how = new How();

        Plan(Surroundings around) {
            super(around);
        }

        @Override
        public Integer call() {
            ObjectNode body = Json.object();
            if (runs.stream().allMatch(word -> word.matches("[a-z]+:.+"))) {
                body.put("q", String.join(" ", runs));
            } else {
                runs.forEach(body.putArray("runs")::add);
            }
            body.put("from", from)
                    .put("version", asItIs ? "as_it_is" : "as_it_was")
                    .put("approval", approval);
            if (!redo.isEmpty()) {
                redo.forEach(body.putArray("redo")::add);
            }
            if (confirmRedo) {
                body.put("confirm_redo", true);
            }
            if (!notify.isEmpty()) {
                body.put("notify", notify);
            }
            if (lateSignals) {
                body.put("late_signals", true);
            }
            if (input != null) {
                body.set("input", dev.semel.json.Json.parse(input));
            }
            how.into(body);
            Call call = Call.post(Call.path("v1", "replays"), body.toString()).within(Duration.ofMinutes(2));
            JsonNode plan = connection.api().ask(call).body();
            if (output.json) {
                output.document(plan);
                return Exit.DONE;
            }
            print(plan);
            String id = Shell.word(Json.text(plan, "replay_id"));
            output.next(plan.path("safe").asLong() > 0 ? "semel replay apply " + id : "semel replay show " + id);
            return Exit.DONE;
        }
    }

    @Command(name = "show", description = "A plan, or how far it is, with its runs.")
    static final class Show extends ReplayCommand {
        @Parameters(index = "0", paramLabel = "PLAN", description = "The id of the plan.")
        String plan = "";

        @Option(
                names = "--only",
                paramLabel = "ACTION",
                description = "reuse, run_again, send, resend, check, ask, unprotected or silent.")
        String only = "";

        @Option(
                names = "--worst",
                paramLabel = "ACTION",
                description = "Runs of which this is the most dangerous action; blocked for those that are left alone.")
        String worst = "";

        @Mixin
        final Listing listing = new Listing();

        Show(Surroundings around) {
            super(around);
        }

        @Override
        public Integer call() {
            JsonNode head = connection
                    .api()
                    .ask(Call.get(Call.path("v1", "replays", plan)))
                    .body();
            JsonNode items = connection
                    .api()
                    .ask(listing.page(Call.get(Call.path("v1", "replays", plan, "items")))
                            .where("action", only)
                            .where("worst", worst))
                    .body();
            if (output.json) {
                ObjectNode all = Json.object();
                all.set("replay", head);
                all.set("items", items.path("items"));
                all.set("next", items.path("next"));
                output.document(all);
                return Exit.DONE;
            }
            print(head);
            new ReplayReport(output).items(items.path("items"), only);
            Listing.end(output, items, "replay show " + Shell.word(plan), "no runs here");
            return Exit.DONE;
        }
    }

    @Command(
            name = "apply",
            description = "Applies a plan: what is safe, and what is named. Refused where the world has moved.")
    static final class Apply extends ReplayCommand {
        @Parameters(index = "0", paramLabel = "PLAN", description = "The id of the plan.")
        String plan = "";

        @Mixin
        final How how = new How();

        @Option(names = "--no-wait", description = "Do not wait for the end.")
        boolean noWait;

        Apply(Surroundings around) {
            super(around);
        }

        @Override
        public Integer call() {
            ObjectNode body = Json.object();
            how.into(body);
            Call call = Call.post(Call.path("v1", "replays", plan, "apply"), body.toString())
                    .within(Duration.ofMinutes(2));
            JsonNode now = connection.api().ask(call).body();
            ReplayReport report = new ReplayReport(output);
            while (!noWait && !ReplayReport.isOver(now)) {
                report.bar(now, around.terminal());
                report.waits(now);
                pause();
                now = connection
                        .api()
                        .ask(Call.get(Call.path("v1", "replays", plan)))
                        .body();
            }
            report.bar(now, around.terminal());
            if (output.json) {
                output.document(now);
            } else {
                report.end(now);
            }
            return noWait || ReplayReport.isGood(now) ? Exit.DONE : Exit.FAILED;
        }

        private void pause() {
            try {
                around.pause().of(Duration.ofMillis(500));
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
                throw Failure.here(
                        Exit.FAILED,
                        "interrupted",
                        "Stopped waiting. The replay goes on.",
                        "Look with `semel replay show`, or end it with `semel replay stop`.");
            }
        }
    }

    @Command(name = "approve", description = "Approves a plan that somebody else made.")
    static final class Approve extends ReplayCommand {
        @Parameters(index = "0", paramLabel = "PLAN", description = "The id of the plan.")
        String plan = "";

        Approve(Surroundings around) {
            super(around);
        }

        @Override
        public Integer call() {
            JsonNode now = connection
                    .api()
                    .ask(Call.post(Call.path("v1", "replays", plan, "approve"), "{}"))
                    .body();
            if (output.json) {
                output.document(now);
            } else {
                output.line("approved " + Json.text(now, "replay_id"));
            }
            return Exit.DONE;
        }
    }

    @Command(name = "stop", description = "Starts nothing more of a plan; what was started goes on.")
    static final class Stop extends ReplayCommand {
        @Parameters(index = "0", paramLabel = "PLAN", description = "The id of the plan.")
        String plan = "";

        @Option(names = "--reason", paramLabel = "TEXT", description = "Why; it stands in the audit.")
        String reason = "";

        Stop(Surroundings around) {
            super(around);
        }

        @Override
        public Integer call() {
            Call call = Call.post(
                    Call.path("v1", "replays", plan, "stop"),
                    Json.object().put("reason", reason).toString());
            JsonNode now = connection.api().ask(call).body();
            if (output.json) {
                output.document(now);
            } else {
                output.line(Json.text(now, "status") + " " + Json.text(now, "replay_id"));
            }
            return Exit.DONE;
        }
    }
}
