package dev.semel.server.cli;

import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** The commands of `semel replay`: plan, list, show, apply, approve and stop safe replays. */
abstract sealed class ReplayCommand extends ApiCommand {
    ReplayCommand(CommandEnvironment environment) {
        super(environment);
    }

    static CommandLine list(CommandEnvironment environment) {
        ListDefinition definition = ListDefinition.of(
                        ApiRequest.get(ApiRequest.path("v1", "replays")),
                        "replay list",
                        "no replay plans. Create one: semel replay plan status:failed since:2h")
                .addText("PLAN", "replay_id")
                .addText("STATUS", "status")
                .addText("RUNS", "selection")
                .addText("BY", "created_by")
                .addTime("CREATED", "created_at");
        return ListCommand.create(environment, "Lists replay plans, newest first.", definition);
    }

    static CommandLine approve(CommandEnvironment environment) {
        return CallCommand.create(
                environment,
                "approve PLAN",
                "Approves a plan of another user.",
                arguments -> ApiRequest.post(ApiRequest.path("v1", "replays", arguments.getFirst(), "approve"), "{}"),
                (_, plan) -> "approved " + TerminalJson.text(plan, "replay_id"));
    }

    /** Prints a plan as a table. */
    final void printPlan(JsonNode plan) {
        ReplayReport report = new ReplayReport(output);
        report.printPlan(plan);
    }

    /** Options for applying a plan. Default: the values in the plan. */
    static final class ReplayApplyOptions {
        @Option(
                names = "--include",
                paramLabel = "ACTIONS",
                split = ",",
                description = "Also apply these: ask, unprotected.")
        List<String> include = new ArrayList<>();

        @Option(names = "--rate", paramLabel = "N", description = "Runs per second.")
        int rate;

        @Option(
                names = "--canary",
                paramLabel = "N",
                description = "Replay this many first; the rest when these completed.")
        int canary;

        @Option(names = "--stop-after", paramLabel = "N", description = "Stop after this many failed runs.")
        int stopAfter;

        void writeTo(ObjectNode body) {
            if (!include.isEmpty() || rate != 0 || canary != 0 || stopAfter != 0) {
                include.forEach(body.putArray("include")::add);
                body.put("rate", rate).put("canary", canary).put("stop_after", stopAfter);
            }
        }
    }

    @Command(
            name = "plan",
            description = "Shows for every step of every run what a replay would do. Changes nothing.",
            footerHeading = "%nExamples:%n",
            footer = {
                "  semel replay plan run_9kXmP2vQwL",
                "  semel replay plan status:failed since:2h workflow:payment_receipt"
            })
    static final class ReplayPlanCreateCommand extends ReplayCommand {
        @Parameters(
                paramLabel = "RUNS",
                arity = "1..*",
                description = "Run ids, or filter terms: status:S workflow:W key:K since:2h.")
        List<String> runs = List.of();

        @Option(
                names = "--from",
                paramLabel = "STEP",
                description = "Continue from this step, or from `start`. Default: where the run ended.")
        String from = "";

        @Option(
                names = "--redo",
                paramLabel = "STEPS",
                split = ",",
                description = "Run these completed steps again on purpose.")
        List<String> redo = new ArrayList<>();

        @Option(names = "--confirm-redo", description = "Confirm that effects happen a second time.")
        boolean confirmRedo;

        @Option(
                names = "--late-signals",
                description = "Give the replay the signals that the run received but did not consume.")
        boolean lateSignals;

        @Option(
                names = "--notify",
                paramLabel = "WHICH",
                description = "Notifications: missing (those not sent), none, or again (also those sent;"
                        + " --confirm-redo).")
        String notify = "";

        @Option(names = "--input", paramLabel = "JSON", description = "Replacement input, for a single run.")
        @Nullable
        String input;

        @Option(
                names = "--definition",
                paramLabel = "VERSION",
                description = "Workflow version: current_version or recorded_version. Default: recorded_version.")
        String definition = "recorded_version";

        @Option(names = "--approval", description = "Another user must approve the plan and its options.")
        boolean approval;

        @Mixin
        final ReplayApplyOptions how = new ReplayApplyOptions();

        ReplayPlanCreateCommand(CommandEnvironment environment) {
            super(environment);
        }

        @Override
        public Integer call() {
            ObjectNode body = TerminalJson.newObject();
            if (runs.stream().allMatch(word -> word.matches("[a-z]+:.+"))) {
                body.put("q", String.join(" ", runs));
            } else {
                runs.forEach(body.putArray("runs")::add);
            }
            body.put("from", from).put("definition", definition).put("approval", approval);
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
                body.set("input", dev.semel.json.StrictJson.parse(input));
            }
            how.writeTo(body);
            ApiRequest call = ApiRequest.post(ApiRequest.path("v1", "replays"), body.toString())
                    .withTimeout(Duration.ofMinutes(2));
            JsonNode plan = send(call);
            if (output.json) {
                return printJson(plan);
            }
            printPlan(plan);
            String id = ShellQuoting.quote(TerminalJson.text(plan, "replay_id"));
            output.suggestCommand(
                    plan.path("safe").asLong() > 0 ? "semel replay apply " + id : "semel replay show " + id);
            return ExitCode.OK;
        }
    }

    @Command(name = "show", description = "Shows a plan with its progress and its runs.")
    static final class ReplayShowCommand extends ReplayCommand {
        @Parameters(index = "0", paramLabel = "PLAN", description = "The id of the plan.")
        String plan = "";

        @Option(
                names = "--only",
                paramLabel = "ACTION",
                description = "Only this action: reuse, run_again, send, resend, check, ask, unprotected or silent.")
        String only = "";

        @Option(
                names = "--worst",
                paramLabel = "ACTION",
                description = "Only runs whose riskiest action is this; blocked for runs that cannot be replayed.")
        String worst = "";

        @Mixin
        final PagingOptions listing = new PagingOptions();

        ReplayShowCommand(CommandEnvironment environment) {
            super(environment);
        }

        @Override
        public Integer call() {
            JsonNode head = send(ApiRequest.get(ApiRequest.path("v1", "replays", plan)));
            JsonNode items = send(listing.addPaging(ApiRequest.get(ApiRequest.path("v1", "replays", plan, "items")))
                    .withQuery("action", only)
                    .withQuery("worst", worst));
            if (output.json) {
                ObjectNode all = TerminalJson.newObject();
                all.set("replay", head);
                all.set("items", items.path("items"));
                all.set("next", items.path("next"));
                return printJson(all);
            }
            printPlan(head);
            new ReplayReport(output).printItems(items.path("items"), only);
            PagingOptions.printFooter(output, items, "replay show " + ShellQuoting.quote(plan), "no runs");
            return ExitCode.OK;
        }
    }

    @Command(
            name = "apply",
            description = "Applies the safe actions of a plan, and those of --include. The server rejects an"
                    + " outdated plan.")
    static final class ReplayApplyCommand extends ReplayCommand {
        @Parameters(index = "0", paramLabel = "PLAN", description = "The id of the plan.")
        String plan = "";

        @Mixin
        final ReplayApplyOptions how = new ReplayApplyOptions();

        @Option(names = "--no-wait", description = "Do not wait until it ends.")
        boolean noWait;

        ReplayApplyCommand(CommandEnvironment environment) {
            super(environment);
        }

        @Override
        public Integer call() {
            ObjectNode body = TerminalJson.newObject();
            how.writeTo(body);
            ApiRequest call = ApiRequest.post(ApiRequest.path("v1", "replays", plan, "apply"), body.toString())
                    .withTimeout(Duration.ofMinutes(2));
            JsonNode now = send(call);
            ReplayReport report = new ReplayReport(output);
            while (!noWait && !ReplayReport.isFinished(now)) {
                report.printProgressBar(now, environment.isTerminal());
                report.printNote(now);
                pause();
                now = send(ApiRequest.get(ApiRequest.path("v1", "replays", plan)));
            }
            report.printProgressBar(now, environment.isTerminal());
            if (output.json) {
                output.printJson(now);
            } else {
                report.printResult(now);
            }
            return noWait || ReplayReport.isSuccessful(now) ? ExitCode.OK : ExitCode.FAILED;
        }

        private void pause() {
            try {
                environment.sleeper().sleep(Duration.ofMillis(500));
            } catch (InterruptedException interrupted) {
                Thread.currentThread().interrupt();
                throw CommandFailure.create(
                        ExitCode.FAILED,
                        "interrupted",
                        "Stopped waiting. The replay continues.",
                        "See `semel replay show`, or stop it with `semel replay stop`.");
            }
        }
    }

    @Command(name = "stop", description = "Stops a plan. Replays that have started continue.")
    static final class ReplayStopCommand extends ReplayCommand {
        @Parameters(index = "0", paramLabel = "PLAN", description = "The id of the plan.")
        String plan = "";

        @Option(names = "--reason", paramLabel = "TEXT", description = "Reason for the audit log.")
        String reason = "";

        ReplayStopCommand(CommandEnvironment environment) {
            super(environment);
        }

        @Override
        public Integer call() {
            ApiRequest call = ApiRequest.post(
                    ApiRequest.path("v1", "replays", plan, "stop"),
                    TerminalJson.newObject().put("reason", reason).toString());
            JsonNode now = send(call);
            return print(now, TerminalJson.text(now, "status") + " " + TerminalJson.text(now, "replay_id"));
        }
    }
}
