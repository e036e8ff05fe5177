package dev.semel.server.cli.run;

import dev.semel.server.cli.command.CliApiCommand;
import dev.semel.server.cli.command.CliApiRequest;
import dev.semel.server.cli.command.ExitCode;
import dev.semel.server.cli.command.ShellQuoting;
import dev.semel.server.cli.command.TerminalJsonFormatter;
import dev.semel.server.cli.command.TextTable;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

@Command(
        name = "resume",
        description =
                "Continues a failed run under the same id, from the failed step. Completed effects are not sent again.",
        footer = {
            "  semel run resume run_9kXmP2vQwL --dry-run",
            "  semel run resume run_9kXmP2vQwL --reason \"the provider is back\"",
            "  semel run resume run_9kXmP2vQwL --skip charge --result '{\"id\": \"ch_1\"}' --reason \"paid by hand\""
        })
public final class RunResumeCommand extends CliApiCommand {
    @Parameters(paramLabel = "ID", description = "Id of the run.")
    String id = "";

    @Option(names = "--reason", paramLabel = "TEXT", description = "Reason for the timeline and the audit log.")
    String reason = "";

    @Option(
            names = "--skip",
            paramLabel = "STEP",
            description = "Treat this failed step as done, with the result in --result.")
    String skip = "";

    @Option(names = "--result", paramLabel = "JSON", description = "Result of the skipped step.")
    @Nullable
    String result;

    @Option(
            names = "--definition",
            paramLabel = "VERSION",
            description = "Workflow version: current_version or recorded_version. Default: recorded_version.")
    String definition = "recorded_version";

    @Option(
            names = "--include",
            paramLabel = "ACTIONS",
            split = ",",
            description = "Also allow these unsafe actions: ask, unprotected.")
    List<String> include = new ArrayList<>();

    @Option(names = "--dry-run", description = "Only show what would happen to each step. Changes nothing.")
    boolean dryRun;

    @Override
    public Integer call() {
        ObjectNode body = TerminalJsonFormatter.newObject();
        body.put("reason", reason).put("definition", definition);
        include.forEach(body.putArray("include")::add);
        if (!skip.isEmpty()) {
            ObjectNode skipped = body.putObject("skip").put("step", skip);
            skipped.set("result", result == null ? skipped.nullNode() : dev.semel.json.StrictJsonCodec.parse(result));
        }
        CliApiRequest call =
                CliApiRequest.post("v1", "runs", id, "resume").withJson(body).withFlag("dry_run", dryRun);
        JsonNode response = send(call);
        if (output.json) {
            output.printJson(response);
        } else if (dryRun) {
            printPreview(response);
        } else {
            output.printLine("resumed " + id + " (" + TerminalJsonFormatter.text(response, "status") + ")");
            output.suggestCommand("semel run timeline " + ShellQuoting.quote(id));
        }
        return dryRun && !TerminalJsonFormatter.text(response, "blocked").isEmpty() ? ExitCode.FAILED : ExitCode.OK;
    }

    private void printPreview(JsonNode response) {
        String blocked = TerminalJsonFormatter.text(response, "blocked");
        if (!blocked.isEmpty()) {
            output.printMessage("the run cannot be resumed: " + blocked);
            return;
        }
        TextTable table = new TextTable("STEP", "ACTION", "REASON");
        for (JsonNode step : response.path("steps")) {
            String until = TerminalJsonFormatter.text(step, "until");
            table.addRow(
                    TerminalJsonFormatter.text(step, "step"),
                    TerminalJsonFormatter.text(step, "action"),
                    TerminalJsonFormatter.text(step, "reason") + (until.isEmpty() ? "" : " until " + until));
        }
        table.print(output);
        if (response.path("incomplete").booleanValue()) {
            output.printMessage(
                    "the server cannot predict all later steps (Java code or child runs); the run sends each effect"
                            + " of these steps that has no record");
        }
        output.suggestCommand("semel run resume " + ShellQuoting.quote(id) + " --reason …");
    }
}
