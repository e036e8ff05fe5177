package dev.semel.server.cli;

import java.time.Instant;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import tools.jackson.databind.JsonNode;

@Command(name = "schedules", description = "Lists what starts by itself, and when next.")
final class SchedulesCommand implements Callable<Integer> {
    private final Surroundings around;

    @Mixin
    final Output output;

    @Mixin
    final Connection connection;

    @Mixin
    final Listing listing = new Listing();

    SchedulesCommand(Surroundings around) {
        this.around = around;
        this.output = new Output(around);
        this.connection = new Connection(around);
    }

    @Override
    public Integer call() {
        Answer answer = connection.api().ask(listing.page(Call.get(Call.path("v1", "schedules"))));
        if (output.json) {
            output.document(answer.body());
            return Exit.DONE;
        }
        JsonNode items = answer.body().path("items");
        Instant now = answer.date().orElse(around.clock().instant());
        Table table = new Table("WORKFLOW", "SCHEDULE", "TIMES", "ZONE", "STATE", "NEXT");
        for (JsonNode schedule : items) {
            JsonNode spec = schedule.path("spec");
            String cron = Json.text(spec, "cron");
            boolean paused = schedule.path("paused").asBoolean(false);
            table.row(
                    Json.text(schedule, "workflow"),
                    Json.text(schedule, "schedule"),
                    cron.isEmpty() ? "every " + Json.text(spec, "every") : cron,
                    Json.text(spec, "zone"),
                    paused ? "paused" : schedule.path("running").asBoolean(false) ? "running" : "",
                    Listing.when(output, schedule, "next_at", now));
        }
        if (!items.isEmpty()) {
            table.print(output);
        }
        Listing.end(output, answer.body(), "schedules", "no schedules yet. Add trigger.schedules to a workflow file");
        return Exit.DONE;
    }
}
