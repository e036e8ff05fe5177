package dev.semel.server.cli;

import picocli.CommandLine.Command;
import tools.jackson.databind.JsonNode;

/** `semel schedules`: lists schedules with their next times. */
@Command(name = "schedules", description = "Lists schedules with their next times.")
final class SchedulesCommand extends ListCommand {
    SchedulesCommand(CommandEnvironment environment) {
        super(environment);
    }

    @Override
    ListDefinition listDefinition() {
        return ListDefinition.of(
                        ApiRequest.get(ApiRequest.path("v1", "schedules")),
                        "schedules",
                        "no schedules yet. Add trigger.schedules to a workflow file")
                .addText("WORKFLOW", "workflow")
                .addText("SCHEDULE", "schedule")
                .addColumn("TIMES", SchedulesCommand::times)
                .addColumn("ZONE", schedule -> TerminalJson.text(schedule.path("spec"), "zone"))
                .addColumn("STATE", SchedulesCommand::state)
                .addTime("NEXT", "next_at");
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
}
