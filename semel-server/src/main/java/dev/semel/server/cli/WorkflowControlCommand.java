package dev.semel.server.cli;

import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** The commands of `semel workflow` that list or control published workflows; base of `promote` and `rollback`. */
abstract sealed class WorkflowControlCommand extends ApiCommand {
    @Parameters(paramLabel = "WORKFLOW", description = "Name or id.")
    String workflow = "";

    WorkflowControlCommand(CommandEnvironment environment) {
        super(environment);
    }

    int postAction(String action, ObjectNode body) {
        JsonNode answer = send(ApiRequest.post(
                ApiRequest.path("v1", "workflows", workflow, action),
                body.isEmpty() ? "" : TerminalJson.compact(body)));
        return print(answer, resultLine(answer));
    }

    abstract String resultLine(JsonNode answer);

    private static String version(JsonNode answer) {
        return TerminalJson.text(answer, "workflow") + " v" + TerminalJson.text(answer, "version");
    }

    @Command(
            name = "promote",
            description = "Makes the candidate the current version, for all new triggers.",
            footerHeading = "%nExamples:%n",
            footer = {"  semel workflow promote payment_receipt", "  semel workflow promote payment_receipt --version 4"
            })
    static final class PromoteCommand extends WorkflowControlCommand {
        @Option(names = "--version", paramLabel = "N", description = "Only if the candidate is this version.")
        @Nullable
        Integer version;

        PromoteCommand(CommandEnvironment environment) {
            super(environment);
        }

        @Override
        public Integer call() {
            ObjectNode body = TerminalJson.newObject();
            if (version != null) {
                body.put("version", version);
            }
            return postAction("promote", body);
        }

        @Override
        String resultLine(JsonNode answer) {
            boolean changed = answer.path("changed").asBoolean(false);
            return version(answer) + (changed ? " now gets all triggers" : " gets all triggers; nothing was changed");
        }
    }

    @Command(
            name = "rollback",
            description = "Removes the candidate. With --to, publishes an earlier version again.",
            footerHeading = "%nExamples:%n",
            footer = {
                "  semel workflow rollback payment_receipt",
                "  semel workflow rollback payment_receipt --to 3 --reason 'wrong tax'"
            })
    static final class RollbackCommand extends WorkflowControlCommand {
        @Option(names = "--to", paramLabel = "N", description = "Version to publish again.")
        @Nullable
        Integer to;

        @Option(names = "--reason", paramLabel = "TEXT", description = "Reason for the audit log.")
        String reason = "";

        RollbackCommand(CommandEnvironment environment) {
            super(environment);
        }

        @Override
        public Integer call() {
            ObjectNode body = TerminalJson.newObject();
            if (to != null) {
                body.put("version", to);
            }
            if (!reason.isEmpty()) {
                body.put("reason", reason);
            }
            return postAction("rollback", body);
        }

        @Override
        String resultLine(JsonNode answer) {
            boolean changed = answer.path("changed").asBoolean(false);
            return version(answer) + " gets all triggers"
                    + (!changed
                            ? "; nothing was changed"
                            : to == null ? "; the candidate is removed" : ", as in v" + to);
        }
    }

    static CommandLine pause(CommandEnvironment environment) {
        return action(
                environment,
                "pause",
                "Pauses a workflow: new runs queue, started runs continue.",
                " is paused; new runs queue");
    }

    static CommandLine resume(CommandEnvironment environment) {
        return action(
                environment,
                "resume",
                "Resumes a paused workflow: queued runs start.",
                " is resumed; queued runs start");
    }

    private static CommandLine action(CommandEnvironment environment, String verb, String description, String result) {
        return CallCommand.create(
                environment,
                verb + " WORKFLOW",
                description,
                arguments -> ApiRequest.post(ApiRequest.path("v1", "workflows", arguments.getFirst(), verb), ""),
                (_, answer) -> TerminalJson.text(answer, "workflow") + result);
    }

    /** The `list` command. */
    static CommandLine list(CommandEnvironment environment) {
        ListDefinition definition = ListDefinition.of(
                        ApiRequest.get(ApiRequest.path("v1", "workflows")),
                        "workflow list",
                        "no workflows yet. Publish one: semel publish FILE.yaml")
                .addColumn("WORKFLOW", item -> TerminalJson.text(item, item.has("workflow") ? "workflow" : "name"))
                .addText("VERSION", "version")
                .addText("ID", "workflow_id")
                .addText("TITLE", "title");
        return ListCommand.create(environment, "Lists the published workflows.", definition);
    }
}
