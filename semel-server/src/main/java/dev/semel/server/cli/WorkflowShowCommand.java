package dev.semel.server.cli;

import java.time.Duration;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** `semel workflow show`: shows one workflow with its effects and their protections. */
@Command(
        name = "show",
        description = "Shows one workflow: every effect with its protection, and six answers about duplicates of each.",
        footerHeading = "%nExamples:%n",
        footer = {"  semel workflow show payment_receipt", "  semel workflow show payment_receipt --json"})
final class WorkflowShowCommand extends ApiCommand {
    @Parameters(paramLabel = "WORKFLOW", description = "Name or id.")
    String name = "";

    WorkflowShowCommand(CommandEnvironment environment) {
        super(environment);
    }

    @Override
    public Integer call() {
        String path = ApiRequest.path("v1", "workflows", name);
        JsonNode workflow = send(ApiRequest.get(path));
        JsonNode explained = explained(path);
        if (output.json) {
            ObjectNode all = ((ObjectNode) workflow).deepCopy();
            all.set("questions", explained.path("questions"));
            all.set("answers", explained.path("items"));
            return printJson(all);
        }
        output.printLine(TerminalJson.text(workflow, "workflow") + " v" + TerminalJson.text(workflow, "version")
                + (workflow.path("paused").asBoolean(false) ? ", paused" : "")
                + ", owner " + said(TerminalJson.text(workflow, "owner")));
        effects(workflow);
        for (JsonNode item : explained.path("items")) {
            output.printLine("");
            output.printLine(TerminalJson.text(item, "subject"));
            for (int i = 0; i < explained.path("questions").size(); i++) {
                output.printLine("  "
                        + TerminalJson.sanitize(
                                explained.path("questions").get(i).asString("")));
                output.printLine("    "
                        + TerminalJson.sanitize(item.path("answers").path(i).asString("")));
            }
        }
        output.suggestCommand("semel runs workflow:" + ShellQuoting.quote(TerminalJson.text(workflow, "workflow")));
        return ExitCode.OK;
    }

    /** Empty for a Java workflow, which has no file to explain. */
    private JsonNode explained(String path) {
        try {
            return send(ApiRequest.get(path + "/explanation"));
        } catch (CommandFailure e) {
            if (e.exitCode() != ExitCode.NOT_FOUND) {
                throw e;
            }
            return TerminalJson.newObject();
        }
    }

    private void effects(JsonNode workflow) {
        if (workflow.path("effects").isEmpty()) {
            output.printLine("it has no external effects");
            return;
        }
        TextTable table = new TextTable("STEP", "DOES", "PROTECTION", "KEY", "WINDOW", "OWNER");
        for (JsonNode effect : workflow.path("effects")) {
            String key = TerminalJson.text(effect, "key");
            long window = effect.path("window_seconds").asLong(0);
            table.addRow(
                    TerminalJson.text(effect, "step"),
                    TerminalJson.text(effect, "does"),
                    TerminalJson.text(effect, "protection"),
                    key.isEmpty() ? "step id" : key,
                    window == 0 ? "" : DurationText.format(Duration.ofSeconds(window)),
                    said(TerminalJson.text(workflow, "owner")));
        }
        table.print(output);
    }

    private static String said(String owner) {
        return owner.isEmpty() ? "none" : owner;
    }
}
