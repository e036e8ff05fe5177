package dev.semel.server.cli;

import java.time.Instant;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** The commands of `semel schedule`, and the base of those that need more than one call or option. */
abstract sealed class ScheduleCommand extends ApiCommand {
    @Parameters(index = "0", paramLabel = "WORKFLOW", description = "Name or id of the workflow.")
    String workflow = "";

    @Parameters(index = "1", paramLabel = "NAME", description = "The id of the schedule in the file.")
    String name = "";

    ScheduleCommand(CommandEnvironment environment) {
        super(environment);
    }

    String path(String... more) {
        String path = ApiRequest.path("v1", "workflows", workflow, "schedules", name);
        return more.length == 0 ? path : path + "/" + more[0];
    }

    /** Prints ticks, newest first. */
    void printTicks(JsonNode ticks, Instant now) {
        tickColumns(ListDefinition.of(ApiRequest.get(""), "", ""))
                .toTable(ticks, output, now)
                .print(output);
    }

    private static ListDefinition tickColumns(ListDefinition list) {
        return list.addText("SCHEDULED", "scheduled_at")
                .addText("STATUS", "status")
                .addText("REASON", "reason")
                .addText("RUN", "run_id")
                .addTime("WHEN", "at");
    }

    static CommandLine list(CommandEnvironment environment) {
        ListDefinition definition = ListDefinition.of(
                        ApiRequest.get(ApiRequest.path("v1", "schedules")),
                        "schedule list",
                        "no schedules yet. Add trigger.schedules to a workflow file")
                .addText("WORKFLOW", "workflow")
                .addText("SCHEDULE", "schedule")
                .addColumn("TIMES", ScheduleCommand::times)
                .addColumn("ZONE", schedule -> TerminalJson.text(schedule.path("spec"), "zone"))
                .addColumn("STATE", ScheduleCommand::state)
                .addTime("NEXT", "next_at");
        return ListCommand.create(environment, "Lists schedules with their next times.", definition);
    }

    private static String times(JsonNode schedule) {
        String cron = TerminalJson.text(schedule.path("spec"), "cron");
        return cron.isEmpty() ? "every " + TerminalJson.text(schedule.path("spec"), "every") : cron;
    }

    private static String state(JsonNode schedule) {
        return schedule.path("paused").asBoolean(false)
                ? "paused"
                : schedule.path("running").asBoolean(false) ? "running" : "";
    }

    static CommandLine pause(CommandEnvironment environment) {
        return action(
                environment,
                "pause",
                "Pauses a schedule. Each skipped tick is recorded.",
                " is paused; its ticks are skipped and recorded");
    }

    static CommandLine resume(CommandEnvironment environment) {
        return action(
                environment,
                "resume",
                "Resumes a paused schedule.",
                " is resumed; backfill can start the skipped ticks");
    }

    private static CommandLine action(CommandEnvironment environment, String verb, String description, String result) {
        return CallCommand.create(
                environment,
                verb + " WORKFLOW NAME",
                description,
                arguments -> ApiRequest.post(
                        ApiRequest.path("v1", "workflows", arguments.get(0), "schedules", arguments.get(1), verb), ""),
                (_, answer) ->
                        TerminalJson.text(answer, "workflow") + " › " + TerminalJson.text(answer, "schedule") + result);
    }

    @Command(name = "show", description = "Shows a schedule with its next times and its last ticks.")
    static final class ScheduleShowCommand extends ScheduleCommand {
        @Option(names = "--next", paramLabel = "N", description = "Number of next times. Default: 5.")
        int next = 5;

        ScheduleShowCommand(CommandEnvironment environment) {
            super(environment);
        }

        @Override
        public Integer call() {
            ApiResponse answer =
                    connection.api().send(ApiRequest.get(path()).withQuery("next", Integer.toString(next)));
            JsonNode schedule = answer.body();
            if (output.json) {
                return printJson(schedule);
            }
            Instant now = now(answer);
            boolean paused = schedule.path("paused").asBoolean(false);
            output.printLine(TerminalJson.text(schedule, "workflow") + " › " + TerminalJson.text(schedule, "schedule")
                    + (paused ? " (paused)" : ""));
            output.printLine("  " + TerminalJson.sanitize(TerminalJson.compact(schedule.path("spec"))));
            output.printLine("next:");
            for (JsonNode time : schedule.path("next")) {
                output.printLine("  " + TerminalJson.sanitize(time.asString()));
            }
            if (!schedule.path("ticks").isEmpty()) {
                printTicks(schedule.path("ticks"), now);
            }
            return ExitCode.OK;
        }
    }

    @Command(name = "ticks", description = "Lists ticks with their results, newest first.")
    static final class TickListCommand extends ListCommand {
        @Parameters(index = "0", paramLabel = "WORKFLOW", description = "Name or id of the workflow.")
        String workflow = "";

        @Parameters(index = "1", paramLabel = "NAME", description = "The id of the schedule in the file.")
        String name = "";

        TickListCommand(CommandEnvironment environment) {
            super(environment);
        }

        @Override
        ListDefinition listDefinition() {
            return tickColumns(ListDefinition.of(
                    ApiRequest.get(ApiRequest.path("v1", "workflows", workflow, "schedules", name, "ticks")),
                    "schedule ticks " + ShellQuoting.quote(workflow) + " " + ShellQuoting.quote(name),
                    "no ticks yet"));
        }
    }

    @Command(
            name = "backfill",
            description = "Starts a run for each tick of a period that has none. Safe to repeat.",
            footerHeading = "%nExample:%n",
            footer = "  semel schedule backfill billing nightly --from 2026-11-01T00:00:00Z --to 2026-11-08T00:00:00Z")
    static final class ScheduleBackfillCommand extends ScheduleCommand {
        @Option(names = "--from", paramLabel = "TIME", required = true, description = "Start of the period, inclusive.")
        String from = "";

        @Option(names = "--to", paramLabel = "TIME", required = true, description = "End of the period, exclusive.")
        String to = "";

        ScheduleBackfillCommand(CommandEnvironment environment) {
            super(environment);
        }

        @Override
        public Integer call() {
            String body = TerminalJson.compact(
                    TerminalJson.newObject().put("from", from).put("to", to));
            JsonNode answer = send(ApiRequest.post(path("backfill"), body));
            if (output.json) {
                return printJson(answer);
            }
            if (!answer.path("ticks").isEmpty()) {
                printTicks(answer.path("ticks"), environment.clock().instant());
            }
            output.printLine(TerminalJson.text(answer, "started") + " started, "
                    + TerminalJson.text(answer, "already_done") + " had a run already"
                    + (hasRejected(answer) ? ", " + TerminalJson.text(answer, "rejected") + " rejected" : ""));
            return ExitCode.OK;
        }

        private static boolean hasRejected(JsonNode answer) {
            return answer.path("rejected").asInt(0) > 0;
        }
    }
}
