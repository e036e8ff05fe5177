package dev.semel.server.cli;

import java.time.Instant;
import java.util.concurrent.Callable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** What starts by itself: one schedule, its ticks, and what an operator turns about it. */
abstract sealed class ScheduleCommand implements Callable<Integer> {
    final Surroundings around;

    @Mixin
    final Output output;

    @Mixin
    final Connection connection;

    @Parameters(index = "0", paramLabel = "WORKFLOW", description = "Name or id of the workflow.")
    String workflow = "";

    @Parameters(index = "1", paramLabel = "NAME", description = "The id of the schedule in the file.")
    String name = "";

    ScheduleCommand(Surroundings around) {
        this.around = around;
        this.output = new Output(around);
        this.connection = new Connection(around);
    }

    /** `semel schedule show|ticks|pause|resume|backfill`. */
    static CommandLine commandLine(Surroundings around) {
        return new CommandLine(new Group(around))
                .addSubcommand(new Show(around))
                .addSubcommand(new Ticks(around))
                .addSubcommand(new Pause(around))
                .addSubcommand(new Resume(around))
                .addSubcommand(new Backfill(around));
    }

    String path(String... more) {
        String path = Call.path("v1", "workflows", workflow, "schedules", name);
        return more.length == 0 ? path : path + "/" + more[0];
    }

    /** Writes the ticks of an answer, newest first. */
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
            description = "One schedule: look, pause, resume, make up for what was missed.",
            footerHeading = "%nExamples:%n",
            footer = {
                "  semel schedule show billing nightly --next 10",
                "  semel schedule ticks billing nightly",
                "  semel schedule pause billing nightly",
                "  semel schedule backfill billing nightly --from 2026-11-01T00:00:00Z --to 2026-11-08T00:00:00Z"
            })
    static final class Group implements Callable<Integer> {
        private final Surroundings around;

        Group(Surroundings around) {
            this.around = around;
        }

        @Override
        public Integer call() {
            around.err().println("say what to do with it: show, ticks, pause, resume or backfill");
            around.err().println("help: semel schedule -h");
            return Exit.USAGE;
        }
    }

    @Command(name = "show", description = "How a schedule stands, when it fires next, and its last ticks.")
    static final class Show extends ScheduleCommand {
        @Option(names = "--next", paramLabel = "N", description = "So many times to come, 5 unless told.")
        int next = 5;

        Show(Surroundings around) {
            super(around);
        }

        @Override
        public Integer call() {
            Answer answer = connection.api().ask(Call.get(path()).where("next", Integer.toString(next)));
            JsonNode schedule = answer.body();
            if (output.json) {
                output.document(schedule);
                return Exit.DONE;
            }
            Instant now = answer.date().orElse(around.clock().instant());
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

    @Command(name = "ticks", description = "What became of each tick, newest first.")
    static final class Ticks extends ScheduleCommand {
        @Mixin
        final Listing listing = new Listing();

        Ticks(Surroundings around) {
            super(around);
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
                print(items, answer.date().orElse(around.clock().instant()));
            }
            String again = "schedule ticks " + Shell.word(workflow) + " " + Shell.word(name);
            Listing.end(output, answer.body(), again, "no tick yet");
            return Exit.DONE;
        }
    }

    int turn(String deed, String said) {
        JsonNode answer = connection.api().ask(Call.post(path(deed), "")).body();
        if (output.json) {
            output.document(answer);
        } else {
            output.line(Json.text(answer, "workflow") + " › " + Json.text(answer, "schedule") + said);
        }
        return Exit.DONE;
    }

    @Command(name = "pause", description = "Its ticks are skipped, each with a row that says so.")
    static final class Pause extends ScheduleCommand {
        Pause(Surroundings around) {
            super(around);
        }

        @Override
        public Integer call() {
            return turn("pause", " is paused; its ticks are skipped and told");
        }
    }

    @Command(name = "resume", description = "Its ticks fire again.")
    static final class Resume extends ScheduleCommand {
        Resume(Surroundings around) {
            super(around);
        }

        @Override
        public Integer call() {
            return turn("resume", " fires again; what was skipped can be made up for by backfill");
        }
    }

    @Command(name = "backfill", description = "Gives each tick of a time that has no run one. Safe to ask for twice.")
    static final class Backfill extends ScheduleCommand {
        @Option(names = "--from", paramLabel = "TIME", required = true, description = "First nominal time.")
        String from = "";

        @Option(names = "--to", paramLabel = "TIME", required = true, description = "No tick at it or behind it.")
        String to = "";

        Backfill(Surroundings around) {
            super(around);
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
                print(answer.path("ticks"), around.clock().instant());
            }
            output.line(Json.text(answer, "started") + " started, " + Json.text(answer, "already_done")
                    + " had a run already" + (refused(answer) ? ", " + Json.text(answer, "refused") + " refused" : ""));
            return Exit.DONE;
        }

        private static boolean refused(JsonNode answer) {
            return answer.path("refused").asInt(0) > 0;
        }
    }
}
