package dev.semel.server.cli;

import java.time.Instant;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** Base of the schedule commands: `schedule show`, `ticks`, `pause`, `resume` and `backfill`. */
abstract sealed class ScheduleCommand implements Callable<Integer> {
    final CommandEnvironment environment;

    @Mixin
    final CommandOutput output;

    @Mixin
    final ServerConnectionOptions connection;

    @Parameters(index = "0", paramLabel = "WORKFLOW", description = "Name or id of the workflow.")
    String workflow = "";

    @Parameters(index = "1", paramLabel = "NAME", description = "The id of the schedule in the file.")
    String name = "";

    ScheduleCommand(CommandEnvironment environment) {
        this.environment = environment;
        this.output = new CommandOutput(environment);
        this.connection = new ServerConnectionOptions(environment);
    }

    /** `semel schedule show|ticks|pause|resume|backfill`. */
    static CommandLine commandLine(CommandEnvironment environment) {
        return new CommandLine(new ScheduleGroupCommand(environment))
                .addSubcommand(new ScheduleShowCommand(environment))
                .addSubcommand(new TickListCommand(environment))
                .addSubcommand(new SchedulePauseCommand(environment))
                .addSubcommand(new ScheduleResumeCommand(environment))
                .addSubcommand(new ScheduleBackfillCommand(environment));
    }

    String path(String... more) {
        String path = ApiRequest.path("v1", "workflows", workflow, "schedules", name);
        return more.length == 0 ? path : path + "/" + more[0];
    }

    /** Prints ticks, newest first. */
    void printTicks(JsonNode ticks, Instant now) {
        TextTable table = new TextTable("SCHEDULED", "STATUS", "REASON", "RUN", "WHEN");
        for (JsonNode tick : ticks) {
            table.addRow(
                    TerminalJson.text(tick, "scheduled_at"),
                    TerminalJson.text(tick, "status"),
                    TerminalJson.text(tick, "reason"),
                    TerminalJson.text(tick, "run_id"),
                    PagingOptions.formatTime(output, tick, "at", now));
        }
        table.print(output);
    }

    @Command(
            name = "schedule",
            description = "Shows, pauses, resumes or backfills one schedule.",
            footerHeading = "%nExamples:%n",
            footer = {
                "  semel schedule show billing nightly --next 10",
                "  semel schedule ticks billing nightly",
                "  semel schedule pause billing nightly",
                "  semel schedule backfill billing nightly --from 2026-11-01T00:00:00Z --to 2026-11-08T00:00:00Z"
            })
    static final class ScheduleGroupCommand implements Callable<Integer> {
        private final CommandEnvironment environment;

        ScheduleGroupCommand(CommandEnvironment environment) {
            this.environment = environment;
        }

        @Override
        public Integer call() {
            environment.err().println("missing subcommand: show, ticks, pause, resume or backfill");
            environment.err().println("help: semel schedule -h");
            return ExitCode.USAGE;
        }
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
            ApiResponse answer = connection.api().send(ApiRequest.get(path()).withQuery("next", Integer.toString(next)));
            JsonNode schedule = answer.body();
            if (output.json) {
                output.printJson(schedule);
                return ExitCode.OK;
            }
            Instant now = answer.date().orElse(environment.clock().instant());
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
    static final class TickListCommand extends ScheduleCommand {
        @Mixin
        final PagingOptions listing = new PagingOptions();

        TickListCommand(CommandEnvironment environment) {
            super(environment);
        }

        @Override
        public Integer call() {
            ApiResponse answer = connection.api().send(listing.addPaging(ApiRequest.get(path("ticks"))));
            if (output.json) {
                output.printJson(answer.body());
                return ExitCode.OK;
            }
            JsonNode items = answer.body().path("items");
            if (!items.isEmpty()) {
                printTicks(items, answer.date().orElse(environment.clock().instant()));
            }
            String again = "schedule ticks " + ShellQuoting.quote(workflow) + " " + ShellQuoting.quote(name);
            PagingOptions.printFooter(output, answer.body(), again, "no ticks yet");
            return ExitCode.OK;
        }
    }

    int postAction(String action, String result) {
        JsonNode answer = connection.api().send(ApiRequest.post(path(action), "")).body();
        if (output.json) {
            output.printJson(answer);
        } else {
            output.printLine(TerminalJson.text(answer, "workflow") + " › " + TerminalJson.text(answer, "schedule") + result);
        }
        return ExitCode.OK;
    }

    @Command(name = "pause", description = "Pauses a schedule. Each skipped tick is recorded.")
    static final class SchedulePauseCommand extends ScheduleCommand {
        SchedulePauseCommand(CommandEnvironment environment) {
            super(environment);
        }

        @Override
        public Integer call() {
            return postAction("pause", " is paused; its ticks are skipped and recorded");
        }
    }

    @Command(name = "resume", description = "Resumes a paused schedule.")
    static final class ScheduleResumeCommand extends ScheduleCommand {
        ScheduleResumeCommand(CommandEnvironment environment) {
            super(environment);
        }

        @Override
        public Integer call() {
            return postAction("resume", " is resumed; backfill can start the skipped ticks");
        }
    }

    @Command(name = "backfill", description = "Starts a run for each tick of a period that has none. Safe to repeat.")
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
            String body = TerminalJson.compact(TerminalJson.newObject().put("from", from).put("to", to));
            JsonNode answer =
                    connection.api().send(ApiRequest.post(path("backfill"), body)).body();
            if (output.json) {
                output.printJson(answer);
                return ExitCode.OK;
            }
            if (!answer.path("ticks").isEmpty()) {
                printTicks(answer.path("ticks"), environment.clock().instant());
            }
            output.printLine(TerminalJson.text(answer, "started") + " started, " + TerminalJson.text(answer, "already_done")
                    + " had a run already" + (hasRejected(answer) ? ", " + TerminalJson.text(answer, "rejected") + " rejected" : ""));
            return ExitCode.OK;
        }

        private static boolean hasRejected(JsonNode answer) {
            return answer.path("rejected").asInt(0) > 0;
        }
    }
}
