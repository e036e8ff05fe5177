package dev.semel.server.cli.workflow;

import dev.semel.server.cli.command.CliApiCommand;
import dev.semel.server.cli.command.CliApiRequest;
import dev.semel.server.cli.command.CliApiResponse;
import dev.semel.server.cli.command.CliListCommand;
import dev.semel.server.cli.command.CliListDefinition;
import dev.semel.server.cli.command.ExitCode;
import dev.semel.server.cli.command.GenericApiCallCommand;
import dev.semel.server.cli.command.ShellQuoting;
import dev.semel.server.cli.command.TerminalJsonFormatter;
import java.time.Instant;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** The commands of `semel schedule`, and the base of those that need more than one call or option. */
public abstract sealed class ScheduleCommand extends CliApiCommand {
    @Parameters(index = "0", paramLabel = "WORKFLOW", description = "Name or id of the workflow.")
    String workflow = "";

    @Parameters(index = "1", paramLabel = "NAME", description = "Id of the schedule in the workflow file.")
    String name = "";

    /** Prints ticks, newest first. */
    void printTicks(JsonNode ticks, Instant now) {
        tickColumns(CliListDefinition.of(CliApiRequest.get(""), "", ""))
                .toTable(ticks, output, now)
                .print(output);
    }

    private static CliListDefinition tickColumns(CliListDefinition list) {
        return list.addText("SCHEDULED", "scheduled_at")
                .addText("STATUS", "status")
                .addText("REASON", "reason")
                .addText("RUN", "run_id")
                .addTime("WHEN", "at");
    }

    public static CommandLine list() {
        CliListDefinition definition = CliListDefinition.of(
                        CliApiRequest.get("v1", "schedules"),
                        "schedule list",
                        "no schedules yet. Add trigger.schedules to a workflow file")
                .addText("WORKFLOW", "workflow")
                .addText("SCHEDULE", "schedule")
                .addColumn("TIMES", ScheduleCommand::times)
                .addColumn("ZONE", schedule -> TerminalJsonFormatter.text(schedule.path("spec"), "zone"))
                .addColumn("STATE", ScheduleCommand::state)
                .addTime("NEXT", "next_at");
        return CliListCommand.create("Lists schedules with their next times.", definition);
    }

    private static String times(JsonNode schedule) {
        String cron = TerminalJsonFormatter.text(schedule.path("spec"), "cron");
        return cron.isEmpty() ? "every " + TerminalJsonFormatter.text(schedule.path("spec"), "every") : cron;
    }

    private static String state(JsonNode schedule) {
        return schedule.path("paused").asBoolean(false)
                ? "paused"
                : schedule.path("running").asBoolean(false) ? "running" : "";
    }

    public static CommandLine pause() {
        return action(
                "pause",
                "Pauses a schedule. The server records each tick (planned start time) as skipped.",
                " is paused; its ticks are skipped and recorded");
    }

    public static CommandLine resume() {
        return action(
                "resume", "Resumes a paused schedule.", " is resumed; a backfill can start runs for the skipped ticks");
    }

    private static CommandLine action(String verb, String description, String result) {
        return GenericApiCallCommand.create(
                verb + " WORKFLOW NAME",
                description,
                arguments ->
                        CliApiRequest.post("v1", "workflows", arguments.get(0), "schedules", arguments.get(1), verb),
                (_, answer) -> TerminalJsonFormatter.text(answer, "workflow") + " › "
                        + TerminalJsonFormatter.text(answer, "schedule") + result);
    }

    @Command(name = "show", description = "Shows a schedule with its next times and its last ticks.")
    public static final class ScheduleShowCommand extends ScheduleCommand {
        @Option(
                names = "--next",
                paramLabel = "N",
                description = "How many of the next start times to show. Default: 5.")
        int next = 5;

        @Override
        public Integer call() {
            CliApiResponse answer = connection
                    .api()
                    .send(CliApiRequest.get("v1", "workflows", workflow, "schedules", name)
                            .withQuery("next", Integer.toString(next)));
            JsonNode schedule = answer.body();
            if (output.json) {
                return printJson(schedule);
            }
            Instant now = now(answer);
            boolean paused = schedule.path("paused").asBoolean(false);
            output.printLine(TerminalJsonFormatter.text(schedule, "workflow") + " › "
                    + TerminalJsonFormatter.text(schedule, "schedule") + (paused ? " (paused)" : ""));
            output.printLine(
                    "  " + TerminalJsonFormatter.sanitize(TerminalJsonFormatter.compact(schedule.path("spec"))));
            output.printLine("next:");
            for (JsonNode time : schedule.path("next")) {
                output.printLine("  " + TerminalJsonFormatter.sanitize(time.asString()));
            }
            if (!schedule.path("ticks").isEmpty()) {
                printTicks(schedule.path("ticks"), now);
            }
            return ExitCode.OK;
        }
    }

    @Command(name = "ticks", description = "Lists ticks (planned start times) with their results, newest first.")
    public static final class TickListCommand extends CliListCommand {
        @Parameters(index = "0", paramLabel = "WORKFLOW", description = "Name or id of the workflow.")
        String workflow = "";

        @Parameters(index = "1", paramLabel = "NAME", description = "Id of the schedule in the workflow file.")
        String name = "";

        @Override
        protected CliListDefinition listDefinition() {
            return tickColumns(CliListDefinition.of(
                    CliApiRequest.get("v1", "workflows", workflow, "schedules", name, "ticks"),
                    "schedule ticks " + ShellQuoting.quote(workflow) + " " + ShellQuoting.quote(name),
                    "no ticks yet"));
        }
    }

    @Command(
            name = "backfill",
            description = "Starts the missing runs of a schedule in a past time range. Safe to repeat.",
            footer = "  semel schedule backfill billing nightly --from 2026-11-01T00:00:00Z --to 2026-11-08T00:00:00Z")
    public static final class ScheduleBackfillCommand extends ScheduleCommand {
        @Option(names = "--from", paramLabel = "TIME", required = true, description = "Start of the period, inclusive.")
        String from = "";

        @Option(names = "--to", paramLabel = "TIME", required = true, description = "End of the period, exclusive.")
        String to = "";

        @Override
        public Integer call() {
            ObjectNode body =
                    TerminalJsonFormatter.newObject().put("from", from).put("to", to);
            JsonNode answer = send(CliApiRequest.post("v1", "workflows", workflow, "schedules", name, "backfill")
                    .withJson(body));
            if (output.json) {
                return printJson(answer);
            }
            if (!answer.path("ticks").isEmpty()) {
                printTicks(answer.path("ticks"), environment().clock().instant());
            }
            output.printLine(TerminalJsonFormatter.text(answer, "started") + " started, "
                    + TerminalJsonFormatter.text(answer, "already_done") + " had a run already"
                    + (answer.path("rejected").asInt(0) > 0
                            ? ", " + TerminalJsonFormatter.text(answer, "rejected") + " rejected"
                            : ""));
            return ExitCode.OK;
        }
    }
}
