package dev.semel.server.cli.workflow;

import dev.semel.server.cli.command.CliApiCommand;
import dev.semel.server.cli.command.CliApiRequest;
import dev.semel.server.cli.command.CliCommandException;
import dev.semel.server.cli.command.CliDurationFormatter;
import dev.semel.server.cli.command.ExitCode;
import dev.semel.server.cli.command.ShellQuoting;
import dev.semel.server.cli.command.TerminalJsonFormatter;
import dev.semel.server.cli.command.TextTable;
import java.time.Duration;
import java.util.List;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

@Command(
        name = "show",
        description = "Shows one workflow: every effect with its protection, and the answers to six questions about"
                + " duplicates.",
        footer = {"  semel workflow show payment_receipt", "  semel workflow show payment_receipt --json"})
public final class WorkflowShowCommand extends CliApiCommand {
    @Parameters(paramLabel = "WORKFLOW", description = "Name or id of the workflow.")
    String name = "";

    @Override
    public Integer call() {
        JsonNode workflow = send(CliApiRequest.get("v1", "workflows", name));
        JsonNode explained = explained();
        if (output.json) {
            ObjectNode all = ((ObjectNode) workflow).deepCopy();
            all.set("questions", explained.path("questions"));
            all.set("answers", explained.path("items"));
            return printJson(all);
        }
        String named = TerminalJsonFormatter.text(workflow, "owner");
        String owner = named.isEmpty() ? "none" : named;
        output.printLine(TerminalJsonFormatter.text(workflow, "workflow") + " v"
                + TerminalJsonFormatter.text(workflow, "version")
                + (workflow.path("paused").asBoolean(false) ? ", paused" : "")
                + ", owner " + owner);
        effects(workflow, owner);
        List<String> questions =
                TerminalJsonFormatter.texts(explained.path("questions")).toList();
        for (JsonNode item : explained.path("items")) {
            output.printLine("");
            output.printLine(TerminalJsonFormatter.text(item, "subject"));
            for (int i = 0; i < questions.size(); i++) {
                output.printLine("  " + questions.get(i));
                output.printLine("    "
                        + TerminalJsonFormatter.sanitize(
                                item.path("answers").path(i).asString("")));
            }
        }
        output.suggestCommand(
                "semel runs workflow:" + ShellQuoting.quote(TerminalJsonFormatter.text(workflow, "workflow")));
        return ExitCode.OK;
    }

    /** Empty for a Java workflow, which has no file to explain. */
    private JsonNode explained() {
        try {
            return send(CliApiRequest.get("v1", "workflows", name, "explanation"));
        } catch (CliCommandException e) {
            if (e.exitCode() != ExitCode.NOT_FOUND) {
                throw e;
            }
            return TerminalJsonFormatter.newObject();
        }
    }

    private void effects(JsonNode workflow, String owner) {
        if (workflow.path("effects").isEmpty()) {
            output.printLine("it has no external effects");
            return;
        }
        TextTable table = new TextTable("STEP", "DOES", "PROTECTION", "KEY", "WINDOW", "OWNER");
        for (JsonNode effect : workflow.path("effects")) {
            String key = TerminalJsonFormatter.text(effect, "key");
            long window = effect.path("window_seconds").asLong(0);
            table.addRow(
                    TerminalJsonFormatter.text(effect, "step"),
                    TerminalJsonFormatter.text(effect, "does"),
                    TerminalJsonFormatter.text(effect, "protection"),
                    key.isEmpty() ? "step id" : key,
                    window == 0 ? "" : CliDurationFormatter.format(Duration.ofSeconds(window)),
                    owner);
        }
        table.print(output);
    }
}
