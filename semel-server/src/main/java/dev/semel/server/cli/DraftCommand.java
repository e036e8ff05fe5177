package dev.semel.server.cli;

import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** `semel workflow draft`: checks or edits an unpublished workflow file on the server, as the builder of the dashboard does. */
@Command(
        name = "draft",
        description = {
            "Checks or edits an unpublished workflow file on the server. Nothing is published.",
            "Shows errors, changes, and the key of a step with the data of the newest run.",
            "With --edit, changes the text as the builder of the dashboard does and prints it."
        },
        footerHeading = "%nExamples:%n",
        footer = {
            "  semel workflow draft welcome.yaml --workflow welcome --step greet",
            "  semel workflow draft welcome.yaml --edit"
                    + " '{\"op\":\"set\",\"step\":\"greet\",\"field\":\"idempotent.time\",\"value\":12}'",
            "  semel workflow draft welcome.yaml --edit"
                    + " '{\"op\":\"add\",\"step\":\"greet\",\"id\":\"rest\",\"kind\":\"sleep\"}' > new.yaml"
        })
final class DraftCommand extends ApiCommand {
    @Parameters(paramLabel = "FILE", description = "A workflow file, YAML or JSON.")
    Path file = Path.of("");

    @Option(names = "--workflow", paramLabel = "W", description = "The published workflow to compare with.")
    String workflow = "";

    @Option(names = "--step", paramLabel = "STEP", description = "Also show the key of this step.")
    String step = "";

    @Option(
            names = "--edit",
            paramLabel = "JSON",
            description = "Edit with op set, clear, add, up, down or delete. Repeatable; all edits apply or none.")
    List<String> edits = new ArrayList<>();

    DraftCommand(CommandEnvironment environment) {
        super(environment);
    }

    @Override
    public Integer call() {
        ObjectNode body = TerminalJson.newObject()
                .put("text", WorkflowFiles.read(environment.folder().resolve(file)));
        if (!workflow.isEmpty()) {
            body.put("workflow", workflow);
        }
        if (!step.isEmpty()) {
            body.put("step", step);
        }
        if (!edits.isEmpty()) {
            ArrayNode list = body.putArray("edits");
            edits.forEach(edit -> list.add(dev.semel.json.StrictJson.parse(edit)));
        }
        JsonNode response =
                send(ApiRequest.post(ApiRequest.path("v1", "drafts"), TerminalJson.compactForRequest(body)));
        boolean invalid = !response.path("errors").isEmpty();
        if (output.json) {
            output.printJson(response);
        } else {
            print(response);
        }
        return invalid ? ExitCode.FAILED : ExitCode.OK;
    }

    /** Prints the text to stdout and remarks to stderr, so that the text can go into a file. */
    private void print(JsonNode response) {
        if (!edits.isEmpty()) {
            response.path("text").asString("").lines().forEach(output::printLine);
        }
        for (JsonNode error : response.path("errors")) {
            output.printMessage(
                    "error, line " + TerminalJson.text(error, "line") + ": " + TerminalJson.text(error, "message"));
        }
        response.path("warnings")
                .forEach(warning -> output.printMessage("warning: " + TerminalJson.sanitize(warning.asString(""))));
        JsonNode preview = response.path("preview");
        if (preview.isObject()) {
            String key = TerminalJson.text(preview, "key");
            output.printMessage("key of " + TerminalJson.sanitize(step) + " with the data of "
                    + TerminalJson.text(preview, "run_id") + ": "
                    + (key.isEmpty() ? TerminalJson.text(preview, "problem") : key));
        }
        String diff = response.path("diff").path("unified").asString("");
        if (edits.isEmpty() && !diff.isEmpty()) {
            diff.lines().map(TerminalJson::sanitize).forEach(output::printLine);
        }
        if (response.path("errors").isEmpty()) {
            output.printMessage(TerminalJson.text(response, "workflow") + " could be published");
        }
    }
}
