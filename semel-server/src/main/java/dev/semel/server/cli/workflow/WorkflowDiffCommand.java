package dev.semel.server.cli.workflow;

import dev.semel.error.SemelException;
import dev.semel.server.cli.command.CliApiCommand;
import dev.semel.server.cli.command.CliApiRequest;
import dev.semel.server.cli.command.CliCommandException;
import dev.semel.server.cli.command.ExitCode;
import dev.semel.server.cli.command.TerminalJsonFormatter;
import dev.semel.server.files.definition.LineDiff;
import dev.semel.server.files.definition.WorkflowDefinition;
import dev.semel.server.files.definition.WorkflowDefinitionChange;
import java.nio.file.Files;
import java.nio.file.Path;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

@Command(
        name = "diff",
        description = "Shows the changes between two versions, or between a file and the published version, and their"
                + " effect on active keys.",
        footer = {
            "  semel workflow diff payment_receipt                    compares the current version with the candidate"
                    + " or, without a candidate, with the previous version",
            "  semel workflow diff payment_receipt --from 3 --to 5",
            "  semel workflow diff workflows/payment_receipt.yaml     compares a file with the current version"
        })
public final class WorkflowDiffCommand extends CliApiCommand {
    @Parameters(paramLabel = "WORKFLOW|FILE", description = "Name or id of a workflow, or a file.")
    String what = "";

    @Option(names = "--from", paramLabel = "VERSION", description = "Older version.")
    @Nullable
    Integer from;

    @Option(names = "--to", paramLabel = "VERSION", description = "Newer version.")
    @Nullable
    Integer to;

    @Override
    public Integer call() {
        Path file = environment().folder().resolve(what);
        JsonNode diff =
                CliWorkflowFileReader.isWorkflowFile(file) && Files.isRegularFile(file) ? ofFile(file) : ofVersions();
        if (output.json) {
            return printJson(diff);
        }
        diff.path("unified")
                .asString("")
                .lines()
                .forEach(line -> output.printLine(coloured(TerminalJsonFormatter.sanitize(line))));
        for (JsonNode note : diff.path("notes")) {
            String before = TerminalJsonFormatter.text(note, "from");
            String after = TerminalJsonFormatter.text(note, "to");
            output.printMessage(TerminalJsonFormatter.text(note, "field") + ": "
                    + (before.isEmpty() ? "(none)" : before) + " → " + (after.isEmpty() ? "(none)" : after));
            output.printMessage("  " + TerminalJsonFormatter.text(note, "impact"));
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
        return send(CliApiRequest.get("v1", "workflows", what, "diff")
                .withQuery("from", from == null ? "" : from.toString())
                .withQuery("to", to == null ? "" : to.toString()));
    }

    /** Compares a local file with the published text, with the same code as the server. */
    private ObjectNode ofFile(Path file) {
        WorkflowDefinition fresh;
        WorkflowDefinition current;
        try {
            fresh = WorkflowDefinition.compile(CliWorkflowFileReader.read(file));
            JsonNode published = send(CliApiRequest.get("v1", "workflows", fresh.name()));
            current = WorkflowDefinition.compile(published.path("definition").asString(""));
        } catch (SemelException e) {
            throw CliCommandException.from(ExitCode.FAILED, e);
        }
        ObjectNode diff = TerminalJsonFormatter.newObject().put("workflow", fresh.name());
        diff.put("unified", LineDiff.unified(current.text(), fresh.text()));
        ArrayNode notes = diff.putArray("notes");
        WorkflowDefinitionChange.between(current, fresh)
                .forEach(change -> notes.addObject()
                        .put("field", change.field())
                        .put("from", change.from())
                        .put("to", change.to())
                        .put("impact", change.consequence()));
        return diff;
    }
}
