package dev.semel.server.cli;

import dev.semel.error.SemelException;
import dev.semel.server.definition.DefinitionChange;
import dev.semel.server.definition.LineDiff;
import dev.semel.server.definition.WorkflowDefinition;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** `semel workflow diff`: shows the changes between two workflow versions, or between a file and the published version. */
@Command(
        name = "diff",
        description = "Shows the changes between two versions, or between a file and the published version, and their"
                + " effect on active keys.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  semel workflow diff payment_receipt                    the current version against its candidate, or"
                    + " the one before",
            "  semel workflow diff payment_receipt --from 3 --to 5",
            "  semel workflow diff workflows/payment_receipt.yaml     a file against the current version"
        })
final class DiffCommand extends ApiCommand {
    @Parameters(paramLabel = "WORKFLOW|FILE", description = "Name or id of a workflow, or a file.")
    String what = "";

    @Option(names = "--from", paramLabel = "VERSION", description = "Older version.")
    @Nullable
    Integer from;

    @Option(names = "--to", paramLabel = "VERSION", description = "Newer version.")
    @Nullable
    Integer to;

    DiffCommand(CommandEnvironment environment) {
        super(environment);
    }

    @Override
    public Integer call() {
        Path file = environment.folder().resolve(what);
        JsonNode diff = WorkflowFiles.isWorkflowFile(file) && Files.isRegularFile(file) ? ofFile(file) : ofVersions();
        if (output.json) {
            return printJson(diff);
        }
        diff.path("unified")
                .asString("")
                .lines()
                .forEach(line -> output.printLine(coloured(TerminalJson.sanitize(line))));
        for (JsonNode note : diff.path("notes")) {
            String before = TerminalJson.text(note, "from");
            String after = TerminalJson.text(note, "to");
            output.printMessage(TerminalJson.text(note, "field") + ": " + (before.isEmpty() ? "(none)" : before) + " → "
                    + (after.isEmpty() ? "(none)" : after));
            output.printMessage("  " + TerminalJson.text(note, "impact"));
        }
        output.printMessage(
                diff.path("unified").asString("").isEmpty()
                        ? "no difference"
                        : "Unfinished runs keep the version that they started with.");
        return ExitCode.OK;
    }

    private String coloured(String line) {
        return line.startsWith("+") ? output.green(line) : line.startsWith("-") ? output.red(line) : line;
    }

    private JsonNode ofVersions() {
        return send(ApiRequest.get(ApiRequest.path("v1", "workflows", what, "diff"))
                .withQuery("from", from == null ? "" : from.toString())
                .withQuery("to", to == null ? "" : to.toString()));
    }

    /** Compares a local file with the published text, with the same code as the server. */
    private ObjectNode ofFile(Path file) {
        WorkflowDefinition fresh;
        WorkflowDefinition current;
        try {
            fresh = WorkflowDefinition.compile(WorkflowFiles.read(file));
            JsonNode published = send(ApiRequest.get(ApiRequest.path("v1", "workflows", fresh.name())));
            current = WorkflowDefinition.compile(published.path("definition").asString(""));
        } catch (SemelException e) {
            throw CommandFailure.from(ExitCode.FAILED, e);
        }
        ObjectNode diff = TerminalJson.newObject().put("workflow", fresh.name());
        diff.put("unified", LineDiff.unified(current.text(), fresh.text()));
        ArrayNode notes = diff.putArray("notes");
        DefinitionChange.between(current, fresh)
                .forEach(change -> notes.addObject()
                        .put("field", change.field())
                        .put("from", change.from())
                        .put("to", change.to())
                        .put("impact", change.consequence()));
        return diff;
    }
}
