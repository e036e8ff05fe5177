package dev.semel.server.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** `semel timeline`: shows the steps of a run with their attempts. */
@Command(
        name = "timeline",
        description = "Shows the steps of a run: kind, protection, status and number of attempts.",
        footerHeading = "%nExamples:%n",
        footer = {"  semel timeline run_9kXmP2vQwL", "  semel timeline run_9kXmP2vQwL --json"})
final class TimelineCommand implements Callable<Integer> {
    @Mixin
    final Output output;

    @Mixin
    final Connection connection;

    @Parameters(paramLabel = "RUN", description = "The id of the run.")
    String run = "";

    TimelineCommand(Surroundings environment) {
        this.output = new Output(environment);
        this.connection = new Connection(environment);
    }

    @Override
    public Integer call() {
        ObjectNode whole = whole();
        if (output.json) {
            output.document(whole);
            return Exit.DONE;
        }
        JsonNode items = whole.path("items");
        if (items.isEmpty()) {
            output.talk("no step is recorded yet");
            return Exit.DONE;
        }
        Table table = new Table("STEP", "KIND", "PROTECTION", "STATUS", "ATTEMPTS", "EFFECT KEY");
        for (JsonNode step : items) {
            table.row(
                    Json.text(step, "path"),
                    Json.text(step, "kind"),
                    Json.text(step, "protection"),
                    status(Json.text(step, "status")),
                    String.valueOf(step.path("attempts").size()),
                    Json.text(step, "effect_key"));
        }
        table.print(output);
        for (JsonNode resumed : whole.path("resumed")) {
            output.line("resumed by " + Json.text(resumed, "by") + ": " + Json.text(resumed, "reason"));
        }
        for (JsonNode step : items) {
            String by = Json.text(step, "skipped_by");
            if (!by.isEmpty()) {
                output.line(Json.text(step, "path") + " skipped by " + by + ": " + Json.text(step, "reason"));
            }
        }
        return Exit.DONE;
    }

    /** Reads all pages into one document. */
    private ObjectNode whole() {
        Api api = connection.api();
        Call call = Call.get(Call.path("v1", "runs", run, "timeline"));
        ObjectNode whole = (ObjectNode) api.ask(call).body();
        while (!Json.text(whole, "next").isEmpty()) {
            JsonNode more =
                    api.ask(call.where("after", Json.text(whole, "next"))).body();
            ((ArrayNode) whole.path("items")).addAll((ArrayNode) more.path("items"));
            whole.set("next", more.path("next"));
        }
        return whole;
    }

    private String status(String word) {
        return switch (word) {
            case "suppressed", "in_doubt", "skipped", "silent" -> output.yellow(word);
            case "failed" -> output.red(word);
            default -> word;
        };
    }
}
