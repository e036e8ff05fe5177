package dev.semel.server.cli.run;

import dev.semel.server.cli.command.CliApiCommand;
import dev.semel.server.cli.command.CliApiRequest;
import dev.semel.server.cli.command.CliCommandException;
import dev.semel.server.cli.command.CliListCommand;
import dev.semel.server.cli.command.CliListDefinition;
import dev.semel.server.cli.command.CliPagingOptions;
import dev.semel.server.cli.command.ExitCode;
import dev.semel.server.cli.command.GenericApiCallCommand;
import dev.semel.server.cli.command.ShellQuoting;
import dev.semel.server.cli.command.TerminalJsonFormatter;
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

public abstract sealed class RunReplayCommand extends CliApiCommand {
    public static CommandLine list() {
        CliListDefinition definition = CliListDefinition.of(
                        CliApiRequest.get("v1", "replays"),
                        "replay list",
                        "no replay plans. Create one: semel replay plan status:failed since:2h")
                .addText("PLAN", "replay_id")
                .addText("STATUS", "status")
                .addText("RUNS", "selection")
                .addText("BY", "created_by")
                .addTime("CREATED", "created_at");
        return CliListCommand.create("Lists replay plans, newest first.", definition);
    }

    public static CommandLine approve() {
        return GenericApiCallCommand.create(
                "approve PLAN",
                "Approves a plan that another user created.",
                arguments -> CliApiRequest.post("v1", "replays", arguments.getFirst(), "approve")
                        .withJson("{}"),
                (_, plan) -> "approved " + TerminalJsonFormatter.text(plan, "replay_id"));
    }

    /** Options for applying a plan. Default: the values in the plan. */
    static final class ReplayApplyOptions {
        @Option(
                names = "--include",
                paramLabel = "ACTIONS",
                split = ",",
                description = "Also apply these unsafe actions: ask, unprotected.")
        List<String> include = new ArrayList<>();

        @Option(names = "--rate", paramLabel = "N", description = "Maximum number of runs to start per second.")
        int rate;

        @Option(
                names = "--canary",
                paramLabel = "N",
                description = "Start this number of runs first. The rest starts after all of these have completed.")
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
            footer = {
                "  semel replay plan run_9kXmP2vQwL",
                "  semel replay plan status:failed since:2h workflow:payment_receipt"
            })
    public static final class ReplayPlanCreateCommand extends RunReplayCommand {
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

        @Option(
                names = "--confirm-redo",
                description = "Confirm that the effects of the steps in --redo may happen a second time.")
        boolean confirmRedo;

        @Option(
                names = "--late-signals",
                description = "Deliver the signals that the original run received but did not consume.")
        boolean lateSignals;

        @Option(
                names = "--notify",
                paramLabel = "WHICH",
                description = "Notifications to send: missing (those not sent before), none, or again (also those sent"
                        + " before; see --confirm-redo).")
        String notify = "";

        @Option(names = "--input", paramLabel = "JSON", description = "Replacement input, for a single run.")
        @Nullable
        String input;

        @Option(
                names = "--definition",
                paramLabel = "VERSION",
                description = "Workflow version: current_version or recorded_version. Default: recorded_version.")
        String definition = "recorded_version";

        @Option(names = "--approval", description = "Require that another user approves the plan and its options.")
        boolean approval;

        @Mixin
        final ReplayApplyOptions how = new ReplayApplyOptions();

        @Override
        public Integer call() {
            ObjectNode body = TerminalJsonFormatter.newObject();
            if (runs.stream().allMatch(word -> word.matches("[a-z_]+:.+"))) {
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
            TerminalJsonFormatter.putText(body, "notify", notify);
            if (lateSignals) {
                body.put("late_signals", true);
            }
            if (input != null) {
                body.set("input", dev.semel.json.StrictJsonCodec.parse(input));
            }
            how.writeTo(body);
            CliApiRequest call =
                    CliApiRequest.post("v1", "replays").withJson(body).withTimeout(Duration.ofMinutes(2));
            JsonNode plan = send(call);
            if (output.json) {
                return printJson(plan);
            }
            new CliRunReplayPrinter(output).printPlan(plan);
            String id = ShellQuoting.quote(TerminalJsonFormatter.text(plan, "replay_id"));
            output.suggestCommand(
                    plan.path("safe").asLong()
                                            + plan.at("/actions/send_again/runs")
                                                    .asLong(0)
                                    > 0
                            ? "semel replay apply " + id
                            : "semel replay show " + id);
            return ExitCode.OK;
        }
    }

    @Command(name = "show", description = "Shows a plan with its progress and its runs.")
    public static final class ReplayShowCommand extends RunReplayCommand {
        @Parameters(index = "0", paramLabel = "PLAN", description = "The id of the plan.")
        String plan = "";

        @Option(
                names = "--only",
                paramLabel = "ACTION",
                description = "Only steps with this action: reuse, run_again, send, resend, check, ask, unprotected or"
                        + " silent.")
        String only = "";

        @Option(
                names = "--worst",
                paramLabel = "ACTION",
                description =
                        "Only runs whose riskiest action is this one; `blocked` selects runs that cannot be replayed.")
        String worst = "";

        @Mixin
        final CliPagingOptions listing = new CliPagingOptions();

        @Override
        public Integer call() {
            JsonNode head = send(CliApiRequest.get("v1", "replays", plan));
            JsonNode items = send(listing.addPaging(CliApiRequest.get("v1", "replays", plan, "items"))
                    .withQuery("action", only)
                    .withQuery("worst", worst));
            if (output.json) {
                ObjectNode all = TerminalJsonFormatter.newObject();
                all.set("replay", head);
                all.set("items", items.path("items"));
                all.set("next", items.path("next"));
                return printJson(all);
            }
            new CliRunReplayPrinter(output).printPlan(head);
            new CliRunReplayPrinter(output).printItems(items.path("items"), only);
            CliPagingOptions.printFooter(output, items, "replay show " + ShellQuoting.quote(plan), "no runs");
            return ExitCode.OK;
        }
    }

    @Command(
            name = "apply",
            description = "Applies the safe actions of a plan, and those of --include. The server rejects an"
                    + " outdated plan.")
    public static final class ReplayApplyCommand extends RunReplayCommand {
        @Parameters(index = "0", paramLabel = "PLAN", description = "The id of the plan.")
        String plan = "";

        @Mixin
        final ReplayApplyOptions how = new ReplayApplyOptions();

        @Option(names = "--no-wait", description = "Do not wait until the replay ends.")
        boolean noWait;

        @Override
        public Integer call() {
            ObjectNode body = TerminalJsonFormatter.newObject();
            how.writeTo(body);
            CliApiRequest call = CliApiRequest.post("v1", "replays", plan, "apply")
                    .withJson(body)
                    .withTimeout(Duration.ofMinutes(2));
            JsonNode now = send(call);
            CliRunReplayPrinter report = new CliRunReplayPrinter(output);
            while (!noWait && !CliRunReplayPrinter.isFinished(now)) {
                report.printProgressBar(now, environment().isTerminal());
                report.printNote(now);
                environment().pause(Duration.ofMillis(500), ReplayApplyCommand::interrupted);
                now = send(CliApiRequest.get("v1", "replays", plan));
            }
            report.printProgressBar(now, environment().isTerminal());
            JsonNode end = now;
            output.print(end, () -> report.printResult(end));
            return noWait || CliRunReplayPrinter.isSuccessful(end) ? ExitCode.OK : ExitCode.FAILED;
        }

        private static CliCommandException interrupted() {
            return CliCommandException.create(
                    ExitCode.FAILED,
                    "interrupted",
                    "This command stopped waiting. The replay continues on the server.",
                    "Show its progress with `semel replay show`, or stop it with `semel replay stop`.");
        }
    }

    @Command(name = "stop", description = "Stops a plan. Replays that have started continue.")
    public static final class ReplayStopCommand extends RunReplayCommand {
        @Parameters(index = "0", paramLabel = "PLAN", description = "The id of the plan.")
        String plan = "";

        @Option(names = "--reason", paramLabel = "TEXT", description = "Reason for the audit log.")
        String reason = "";

        @Override
        public Integer call() {
            CliApiRequest call = CliApiRequest.post("v1", "replays", plan, "stop")
                    .withJson(TerminalJsonFormatter.newObject().put("reason", reason));
            JsonNode now = send(call);
            return print(
                    now,
                    TerminalJsonFormatter.text(now, "status") + " " + TerminalJsonFormatter.text(now, "replay_id"));
        }
    }
}
