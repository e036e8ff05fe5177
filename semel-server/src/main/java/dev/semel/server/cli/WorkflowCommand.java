package dev.semel.server.cli;

import java.time.Duration;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** `semel workflow`: shows one workflow with its effects and their protections. */
@Command(
        name = "workflow",
        description =
                "Shows one workflow: every effect with its protection, and six answers about duplicates of each.",
        footerHeading = "%nExamples:%n",
        footer = {"  semel workflow payment_receipt", "  semel workflow payment_receipt --json"})
final class WorkflowCommand implements Callable<Integer> {
    @Mixin
    final Output output;

    @Mixin
    final Connection connection;

    @Parameters(paramLabel = "WORKFLOW", description = "Name or id.")
    String name = "";

    WorkflowCommand(Surroundings environment) {
        this.output = new Output(environment);
        this.connection = new Connection(environment);
    }

    @Override
    public Integer call() {
        String path = Call.path("v1", "workflows", name);
        JsonNode workflow = connection.api().ask(Call.get(path)).body();
        JsonNode explained = explained(path);
        if (output.json) {
            ObjectNode all = ((ObjectNode) workflow).deepCopy();
            all.set("questions", explained.path("questions"));
            all.set("answers", explained.path("items"));
            output.document(all);
            return Exit.DONE;
        }
        output.line(Json.text(workflow, "workflow") + " v" + Json.text(workflow, "version")
                + (workflow.path("paused").asBoolean(false) ? ", paused" : "")
                + ", owner " + said(Json.text(workflow, "owner")));
        effects(workflow);
        for (JsonNode item : explained.path("items")) {
            output.line("");
            output.line(Json.text(item, "subject"));
            for (int i = 0; i < explained.path("questions").size(); i++) {
                output.line("  " + Json.clean(explained.path("questions").get(i).asString("")));
                output.line("    " + Json.clean(item.path("answers").path(i).asString("")));
            }
        }
        output.next("semel runs workflow:" + Shell.word(Json.text(workflow, "workflow")));
        return Exit.DONE;
    }

    /** Empty for a Java workflow, which has no file to explain. */
    private JsonNode explained(String path) {
        try {
            return connection.api().ask(Call.get(path + "/explanation")).body();
        } catch (Failure e) {
            if (e.exit() != Exit.NOT_FOUND) {
                throw e;
            }
            return Json.object();
        }
    }

    private void effects(JsonNode workflow) {
        if (workflow.path("effects").isEmpty()) {
            output.line("it has no external effects");
            return;
        }
        Table table = new Table("STEP", "DOES", "PROTECTION", "KEY", "WINDOW", "OWNER");
        for (JsonNode effect : workflow.path("effects")) {
            String key = Json.text(effect, "key");
            long window = effect.path("window_seconds").asLong(0);
            table.row(
                    Json.text(effect, "step"),
                    Json.text(effect, "does"),
                    Json.text(effect, "protection"),
                    key.isEmpty() ? "step id" : key,
                    window == 0 ? "" : Times.span(Duration.ofSeconds(window)),
                    said(Json.text(workflow, "owner")));
        }
        table.print(output);
    }

    private static String said(String owner) {
        return owner.isEmpty() ? "none" : owner;
    }
}
