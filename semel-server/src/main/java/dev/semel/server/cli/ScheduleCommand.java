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
    final Surroundings environment;

    @Mixin
    final Output output;

    @Mixin
    final Connection connection;

    @Parameters(index = "0", paramLabel = "WORKFLOW", description = "Name or id of the workflow.")
    String workflow = "";

    @Parameters(index = "1", paramLabel = "NAME", description = "The id of the schedule in the file.")
    String name = "";

    ScheduleCommand(Surroundings environment) {
        this.environment = environment;
        this.output = new Output(environment);
        this.connection = new Connection(environment);
    }

    /** `semel schedule show|ticks|pause|resume|backfill`. */
    static CommandLine commandLine(Surroundings environment) {
        return new CommandLine(new Group(environment))
                .addSubcommand(new Show(environment))
                .addSubcommand(new Ticks(environment))
                .addSubcommand(new Pause(environment))
                .addSubcommand(new Resume(environment))
                .addSubcommand(new Backfill(environment));
    }

    String path(String... more) {
        String path = Call.path("v1", "workflows", workflow, "schedules", name);
        return more.length == 0 ? path : path + "/" + more[0];
    }

    /** Prints ticks, newest first. */
    void print(JsonNode ticks, Instant now) {
        Table table = new Table("SCHEDULED", "STATUS", "REASON", "RUN", "WHEN");
        for (JsonNode tick : ticks) {
            table.row(
                    Json.text(tick, "scheduled_at"),
                    Json.text(tick, "status"),
                    Json.text(tick, "reason"),
                    Json.text(tick, "run_id"),
                    Listing.when(output, tick, "at", now));
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
    static final class Group implements Callable<Integer> {
        private final Surroundings environment;

        Group(Surroundings environment) {
            this.environment = environment;
        }

        @Override
        public Integer call() {
            environment.err().println("missing subcommand: show, ticks, pause, resume or backfill");
            environment.err().println("help: semel schedule -h");
            return Exit.USAGE;
        }
    }

    @Command(name = "show", description = "Shows a schedule with its next times and its last ticks.")
    static final class Show extends ScheduleCommand {
        @Option(names = "--next", paramLabel = "N", description = "Number of next times. Default: 5.")
        int next = 5;

        Show(Surroundings environment) {
            super(environment);
        }

        @Override
        public Integer call() {
            Answer answer = connection.api().ask(Call.get(path()).where("next", Integer.toString(next)));
            JsonNode schedule = answer.body();
            if (output.json) {
                output.document(schedule);
                return Exit.DONE;
            }
            Instant now = answer.date().orElse(environment.clock().instant());
            boolean paused = schedule.path("paused").asBoolean(false);
            output.line(Json.text(schedule, "workflow") + " › " + Json.text(schedule, "schedule")
                    + (paused ? " (paused)" : ""));
            output.line("  " + Json.clean(Json.compact(schedule.path("spec"))));
            output.line("next:");
            for (JsonNode time : schedule.path("next")) {
                output.line("  " + Json.clean(time.asString()));
            }
            if (!schedule.path("ticks").isEmpty()) {
                print(schedule.path("ticks"), now);
            }
            return Exit.DONE;
        }
    }

    @Command(name = "ticks", description = "Lists ticks with their results, newest first.")
    static final class Ticks extends ScheduleCommand {
        @Mixin
        final Listing listing = new Listing();

        Ticks(Surroundings environment) {
            super(environment);
        }

        @Override
        public Integer call() {
            Answer answer = connection.api().ask(listing.page(Call.get(path("ticks"))));
            if (output.json) {
                output.document(answer.body());
                return Exit.DONE;
            }
            JsonNode items = answer.body().path("items");
            if (!items.isEmpty()) {
                print(items, answer.date().orElse(environment.clock().instant()));
            }
            String again = "schedule ticks " + Shell.word(workflow) + " " + Shell.word(name);
            Listing.end(output, answer.body(), again, "no ticks yet");
            return Exit.DONE;
        }
    }

    int turn(String action, String result) {
        JsonNode answer = connection.api().ask(Call.post(path(action), "")).body();
        if (output.json) {
            output.document(answer);
        } else {
            output.line(Json.text(answer, "workflow") + " › " + Json.text(answer, "schedule") + result);
        }
        return Exit.DONE;
    }

    @Command(name = "pause", description = "Pauses a schedule. Each skipped tick is recorded.")
    static final class Pause extends ScheduleCommand {
        Pause(Surroundings environment) {
            super(environment);
        }

        @Override
        public Integer call() {
            return turn("pause", " is paused; its ticks are skipped and recorded");
        }
    }

    @Command(name = "resume", description = "Resumes a paused schedule.")
    static final class Resume extends ScheduleCommand {
        Resume(Surroundings environment) {
            super(environment);
        }

        @Override
        public Integer call() {
            return turn("resume", " is resumed; backfill can start the skipped ticks");
        }
    }

    @Command(name = "backfill", description = "Starts a run for each tick of a period that has none. Safe to repeat.")
    static final class Backfill extends ScheduleCommand {
        @Option(names = "--from", paramLabel = "TIME", required = true, description = "Start of the period, inclusive.")
        String from = "";

        @Option(names = "--to", paramLabel = "TIME", required = true, description = "End of the period, exclusive.")
        String to = "";

        Backfill(Surroundings environment) {
            super(environment);
        }

        @Override
        public Integer call() {
            String body = Json.compact(Json.object().put("from", from).put("to", to));
            JsonNode answer =
                    connection.api().ask(Call.post(path("backfill"), body)).body();
            if (output.json) {
                output.document(answer);
                return Exit.DONE;
            }
            if (!answer.path("ticks").isEmpty()) {
                print(answer.path("ticks"), environment.clock().instant());
            }
            output.line(Json.text(answer, "started") + " started, " + Json.text(answer, "already_done")
                    + " had a run already" + (hasRejected(answer) ? ", " + Json.text(answer, "refused") + " rejected" : ""));
            return Exit.DONE;
        }

        private static boolean hasRejected(JsonNode answer) {
            return answer.path("refused").asInt(0) > 0;
        }
    }
}
