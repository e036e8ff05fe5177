package dev.semel.server.cli;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** What the builder does with a text: edits that leave the rest of the file alone, and what the server says of it. */
@Command(
        name = "draft",
        description = {
            "Asks the server about a workflow file that is not published: what is wrong, what changes, which key a"
                    + " step",
            "would have with the data of the newest run. With --edit the file is changed as the builder would, and the",
            "new text is printed. Nothing is published."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  semel draft welcome.yaml --workflow welcome --step greet",
            "  semel draft welcome.yaml --edit"
                    + " '{\"op\":\"set\",\"step\":\"greet\",\"field\":\"idempotent.time\",\"value\":12}'",
            "  semel draft welcome.yaml --edit"
                    + " '{\"op\":\"add\",\"step\":\"greet\",\"id\":\"rest\",\"kind\":\"sleep\"}' > new.yaml"
        })
final class DraftCommand implements Callable<Integer> {
    private final Surroundings around;

    @Mixin
    final Output output;

    @Mixin
    final Connection connection;

    @Parameters(paramLabel = "FILE", description = "A workflow file, YAML or JSON.")
    Path file = Path.of("");

    @Option(names = "--workflow", paramLabel = "W", description = "The published workflow to compare with.")
    String workflow = "";

    @Option(names = "--step", paramLabel = "STEP", description = "Tell the key of this step, too.")
    String step = "";

    @Option(
            names = "--edit",
            paramLabel = "JSON",
            description =
                    "An edit: op is set, clear, add, up, down or delete. May be given again; all or none are made.")
    List<String> edits = new ArrayList<>();

    DraftCommand(Surroundings around) {
        this.around = around;
        this.output = new Output(around);
        this.connection = new Connection(around);
    }

    @Override
    public Integer call() {
        ObjectNode body =
                Json.object().put("text", WorkflowFiles.read(around.folder().resolve(file)));
        if (!workflow.isEmpty()) {
            body.put("workflow", workflow);
        }
        if (!step.isEmpty()) {
            body.put("step", step);
        }
        if (!edits.isEmpty()) {
            ArrayNode list = body.putArray("edits");
            edits.forEach(edit -> list.add(dev.semel.json.Json.parse(edit)));
        }
        JsonNode said = connection
                .api()
                .ask(Call.post(Call.path("v1", "drafts"), Json.compactUnprinted(body)))
                .body();
        boolean refused = !said.path("errors").isEmpty();
        if (output.json) {
            output.document(said);
        } else {
            tell(said);
        }
        return refused ? Exit.FAILED : Exit.DONE;
    }

    /** The text is data; all that is said of it is talk, so that the text can go into a file. */
    private void tell(JsonNode said) {
        if (!edits.isEmpty()) {
            said.path("text").asString("").lines().forEach(output::line);
        }
        for (JsonNode error : said.path("errors")) {
            output.talk("error, line " + Json.text(error, "line") + ": " + Json.text(error, "message"));
        }
        said.path("warnings").forEach(warning -> output.talk("warning: " + Json.clean(warning.asString(""))));
        JsonNode preview = said.path("preview");
        if (preview.isObject()) {
            String key = Json.text(preview, "key");
            output.talk("key of " + Json.clean(step) + " with the data of " + Json.text(preview, "run_id") + ": "
                    + (key.isEmpty() ? Json.text(preview, "problem") : key));
        }
        String diff = said.path("diff").path("unified").asString("");
        if (edits.isEmpty() && !diff.isEmpty()) {
            diff.lines().map(Json::clean).forEach(output::line);
        }
        if (said.path("errors").isEmpty()) {
            output.talk(Json.text(said, "workflow") + " could be published");
        }
    }
}
