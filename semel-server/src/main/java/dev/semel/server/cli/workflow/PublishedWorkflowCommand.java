package dev.semel.server.cli.workflow;

import dev.semel.server.cli.command.CliApiCommand;
import dev.semel.server.cli.command.CliApiRequest;
import dev.semel.server.cli.command.CliListCommand;
import dev.semel.server.cli.command.CliListDefinition;
import dev.semel.server.cli.command.GenericApiCallCommand;
import dev.semel.server.cli.command.TerminalJsonFormatter;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** The commands of `semel workflow` that list or control published workflows; base of `promote` and `rollback`. */
public abstract sealed class PublishedWorkflowCommand extends CliApiCommand {
    @Parameters(paramLabel = "WORKFLOW", description = "Name or id of the workflow.")
    String workflow = "";

    final JsonNode postAction(String action, ObjectNode body) {
        CliApiRequest call = CliApiRequest.post("v1", "workflows", workflow, action);
        return send(body.isEmpty() ? call : call.withJson(body));
    }

    private static String version(JsonNode answer) {
        return TerminalJsonFormatter.text(answer, "workflow") + " v" + TerminalJsonFormatter.text(answer, "version");
    }

    @Command(
            name = "promote",
            description =
                    "Makes the candidate version current. All new triggers then use it, instead of only a percentage of"
                            + " them.",
            footer = {"  semel workflow promote payment_receipt", "  semel workflow promote payment_receipt --version 4"
            })
    public static final class PromoteCommand extends PublishedWorkflowCommand {
        @Option(names = "--version", paramLabel = "N", description = "Promote only if the candidate is this version.")
        @Nullable
        Integer version;

        @Override
        public Integer call() {
            ObjectNode body = TerminalJsonFormatter.newObject();
            if (version != null) {
                body.put("version", version);
            }
            JsonNode answer = postAction("promote", body);
            boolean changed = answer.path("changed").asBoolean(false);
            return print(
                    answer,
                    version(answer) + (changed ? " now gets all triggers" : " gets all triggers; nothing was changed"));
        }
    }

    @Command(
            name = "rollback",
            description = "Stops the rollout: all new triggers use the current version. With --to, publishes an earlier"
                    + " version again.",
            footer = {
                "  semel workflow rollback payment_receipt",
                "  semel workflow rollback payment_receipt --to 3 --reason 'wrong tax'"
            })
    public static final class RollbackCommand extends PublishedWorkflowCommand {
        @Option(names = "--to", paramLabel = "N", description = "Version to publish again.")
        @Nullable
        Integer to;

        @Option(names = "--reason", paramLabel = "TEXT", description = "Reason for the audit log.")
        String reason = "";

        @Override
        public Integer call() {
            ObjectNode body = TerminalJsonFormatter.newObject();
            if (to != null) {
                body.put("version", to);
            }
            TerminalJsonFormatter.putText(body, "reason", reason);
            JsonNode answer = postAction("rollback", body);
            boolean changed = answer.path("changed").asBoolean(false);
            String how = to == null ? "; the candidate is removed" : "; it is a copy of v" + to;
            return print(answer, version(answer) + " gets all triggers" + (changed ? how : "; nothing was changed"));
        }
    }

    public static CommandLine pause() {
        return action(
                "pause", "Pauses a workflow: new runs queue, started runs continue.", " is paused; new runs queue");
    }

    public static CommandLine resume() {
        return action("resume", "Resumes a paused workflow: queued runs start.", " is resumed; queued runs start");
    }

    private static CommandLine action(String verb, String description, String result) {
        return GenericApiCallCommand.create(
                verb + " WORKFLOW",
                description,
                arguments -> CliApiRequest.post("v1", "workflows", arguments.getFirst(), verb),
                (_, answer) -> TerminalJsonFormatter.text(answer, "workflow") + result);
    }

    public static CommandLine list() {
        CliListDefinition definition = CliListDefinition.of(
                        CliApiRequest.get("v1", "workflows"),
                        "workflow list",
                        "no workflows yet. Publish one: semel publish FILE.yaml")
                .addColumn(
                        "WORKFLOW",
                        item -> TerminalJsonFormatter.text(item, item.has("workflow") ? "workflow" : "name"))
                .addText("VERSION", "version")
                .addText("ID", "workflow_id")
                .addText("TITLE", "title");
        return CliListCommand.create("Lists the published workflows.", definition);
    }
}
