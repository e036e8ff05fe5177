package dev.semel.server.cli;

import picocli.CommandLine.Command;
import tools.jackson.databind.JsonNode;

/** `semel schedules`: lists schedules with their next times. */
@Command(name = "schedules", description = "Lists schedules with their next times.")
final class SchedulesCommand extends ListCommand {
    SchedulesCommand(Surroundings environment) {
        super(environment);
    }

    @Override
    Sheet sheet() {
        return Sheet.of(
                        Call.get(Call.path("v1", "schedules")),
                        "schedules",
                        "no schedules yet. Add trigger.schedules to a workflow file")
                .text("WORKFLOW", "workflow")
                .text("SCHEDULE", "schedule")
                .cell("TIMES", SchedulesCommand::times)
                .cell("ZONE", schedule -> Json.text(schedule.path("spec"), "zone"))
                .cell("STATE", SchedulesCommand::state)
                .time("NEXT", "next_at");
    }

    private static String times(JsonNode schedule) {
        String cron = Json.text(schedule.path("spec"), "cron");
        return cron.isEmpty() ? "every " + Json.text(schedule.path("spec"), "every") : cron;
    }

    private static String state(JsonNode schedule) {
        return schedule.path("paused").asBoolean(false)
                ? "paused"
                : schedule.path("running").asBoolean(false) ? "running" : "";
    }
}
