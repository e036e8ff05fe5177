package dev.semel.server.cli.workflow;

import dev.semel.json.StrictJsonCodec;
import dev.semel.server.cli.command.CliApiCommand;
import dev.semel.server.cli.command.CliApiRequest;
import dev.semel.server.cli.command.ExitCode;
import dev.semel.server.cli.command.TerminalJsonFormatter;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

@Command(
        name = "draft",
        description = {
            "Checks or edits an unpublished workflow file on the server. Nothing is published.",
            "Shows errors, changes, and the key that a step would get from the data of the newest run.",
            "With --edit, changes the text as the builder of the dashboard does and prints the new text."
        },
        footer = {
            "  semel workflow draft welcome.yaml --workflow welcome --step greet",
            "  semel workflow draft welcome.yaml --edit"
                    + " '{\"op\":\"set\",\"step\":\"greet\",\"field\":\"idempotent.time\",\"value\":12}'",
            "  semel workflow draft welcome.yaml --edit"
                    + " '{\"op\":\"add\",\"step\":\"greet\",\"id\":\"rest\",\"kind\":\"sleep\"}' > new.yaml"
        })
public final class WorkflowDraftEditorCommand extends CliApiCommand {
    @Parameters(paramLabel = "FILE", description = "A workflow file, YAML or JSON.")
    Path file = Path.of("");

    @Option(names = "--workflow", paramLabel = "W", description = "The published workflow to compare with.")
    String workflow = "";

    @Option(
            names = "--step",
            paramLabel = "STEP",
            description = "Also show the idempotency key that this step would use.")
    String step = "";

    @Option(
            names = "--edit",
            paramLabel = "JSON",
            description =
                    "One edit as JSON; its `op` is one of set, clear, add, up, down, delete. Repeatable; the server"
                            + " applies all edits or none.")
    List<String> edits = new ArrayList<>();

    @Override
    public Integer call() {
        ObjectNode body = TerminalJsonFormatter.newObject()
                .put("text", CliWorkflowFileReader.read(environment().folder().resolve(file)));
        TerminalJsonFormatter.putText(body, "workflow", workflow);
        TerminalJsonFormatter.putText(body, "step", step);
        if (!edits.isEmpty()) {
            edits.stream().map(StrictJsonCodec::parse).forEach(body.putArray("edits")::add);
        }
        JsonNode response = send(CliApiRequest.post("v1", "drafts").withJson(body));
        boolean invalid = !response.path("errors").isEmpty();
        output.print(response, () -> print(response));
        return invalid ? ExitCode.FAILED : ExitCode.OK;
    }

    /** Prints the text to stdout and remarks to stderr, so that the text can go into a file. */
    private void print(JsonNode response) {
        if (!edits.isEmpty()) {
            response.path("text").asString("").lines().forEach(output::printLine);
        }
        for (JsonNode error : response.path("errors")) {
            output.printMessage("error, line " + TerminalJsonFormatter.text(error, "line") + ": "
                    + TerminalJsonFormatter.text(error, "message"));
        }
        output.printWarnings(response);
        JsonNode preview = response.path("preview");
        if (preview.isObject()) {
            String key = TerminalJsonFormatter.text(preview, "key");
            output.printMessage("key of step " + TerminalJsonFormatter.sanitize(step) + ", computed from the data of "
                    + TerminalJsonFormatter.text(preview, "run_id") + ": "
                    + (key.isEmpty() ? TerminalJsonFormatter.text(preview, "problem") : key));
        }
        String diff = response.path("diff").path("unified").asString("");
        if (edits.isEmpty() && !diff.isEmpty()) {
            diff.lines().map(TerminalJsonFormatter::sanitize).forEach(output::printLine);
        }
        if (response.path("errors").isEmpty()) {
            output.printMessage(TerminalJsonFormatter.text(response, "workflow") + " could be published");
        }
    }
}
