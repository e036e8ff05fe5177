package dev.semel.server.cli;

import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import tools.jackson.databind.JsonNode;

@Command(name = "workflows", description = "Lists the published workflows.")
final class WorkflowsCommand implements Callable<Integer> {
    @Mixin
    final Output output;

    @Mixin
    final Connection connection;

    @Mixin
    final Listing listing = new Listing();

    WorkflowsCommand(Surroundings around) {
        this.output = new Output(around);
        this.connection = new Connection(around);
    }

    @Override
    public Integer call() {
        Answer answer = connection.api().ask(listing.page(Call.get(Call.path("v1", "workflows"))));
        if (output.json) {
            output.document(answer.body());
            return Exit.DONE;
        }
        JsonNode items = answer.body().path("items");
        Table table = new Table("WORKFLOW", "VERSION", "ID", "TITLE");
        for (JsonNode workflow : items) {
            String name = Json.text(workflow, "workflow");
            table.row(
                    name.isEmpty() ? Json.text(workflow, "name") : name,
                    Json.text(workflow, "version"),
                    Json.text(workflow, "workflow_id"),
                    Json.text(workflow, "title"));
        }
        if (!items.isEmpty()) {
            table.print(output);
        }
        Listing.end(output, answer.body(), "workflows", "no workflows yet. Publish one: semel publish FILE.yaml");
        return Exit.DONE;
    }
}
