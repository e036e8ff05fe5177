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

/** `semel draft`: checks or edits an unpublished workflow file on the server, as the builder of the dashboard does. */
@Command(
        name = "draft",
        description = {
            "Checks or edits an unpublished workflow file on the server. Nothing is published.",
            "Shows errors, changes, and the key of a step with the data of the newest run.",
            "With --edit, changes the text as the builder of the dashboard does and prints it."
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
    private final Surroundings environment;

    @Mixin
    final Output output;

    @Mixin
    final Connection connection;

    @Parameters(paramLabel = "FILE", description = "A workflow file, YAML or JSON.")
    Path file = Path.of("");

    @Option(names = "--workflow", paramLabel = "W", description = "The published workflow to compare with.")
    String workflow = "";

    @Option(names = "--step", paramLabel = "STEP", description = "Also show the key of this step.")
    String step = "";

    @Option(
            names = "--edit",
            paramLabel = "JSON",
            description =
                    "Edit with op set, clear, add, up, down or delete. Repeatable; all edits apply or none.")
    List<String> edits = new ArrayList<>();

    DraftCommand(Surroundings environment) {
        this.environment = environment;
        this.output = new Output(environment);
        this.connection = new Connection(environment);
    }

    @Override
    public Integer call() {
        ObjectNode body =
                Json.object().put("text", WorkflowFiles.read(environment.folder().resolve(file)));
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
        JsonNode response = connection
                .api()
                .ask(Call.post(Call.path("v1", "drafts"), Json.compactUnprinted(body)))
                .body();
        boolean invalid = !response.path("errors").isEmpty();
        if (output.json) {
            output.document(response);
        } else {
            print(response);
        }
        return invalid ? Exit.FAILED : Exit.DONE;
    }

    /** Prints the text to stdout and remarks to stderr, so that the text can go into a file. */
    private void print(JsonNode response) {
        if (!edits.isEmpty()) {
            response.path("text").asString("").lines().forEach(output::line);
        }
        for (JsonNode error : response.path("errors")) {
            output.talk("error, line " + Json.text(error, "line") + ": " + Json.text(error, "message"));
        }
        response.path("warnings").forEach(warning -> output.talk("warning: " + Json.clean(warning.asString(""))));
        JsonNode preview = response.path("preview");
        if (preview.isObject()) {
            String key = Json.text(preview, "key");
            output.talk("key of " + Json.clean(step) + " with the data of " + Json.text(preview, "run_id") + ": "
                    + (key.isEmpty() ? Json.text(preview, "problem") : key));
        }
        String diff = response.path("diff").path("unified").asString("");
        if (edits.isEmpty() && !diff.isEmpty()) {
            diff.lines().map(Json::clean).forEach(output::line);
        }
        if (response.path("errors").isEmpty()) {
            output.talk(Json.text(response, "workflow") + " could be published");
        }
    }
}
