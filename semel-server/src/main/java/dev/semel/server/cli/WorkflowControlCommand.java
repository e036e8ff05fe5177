package dev.semel.server.cli;

import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Base of the commands that control a published workflow: `promote`, `rollback`, `pause` and `resume`. */
abstract sealed class WorkflowControlCommand implements Callable<Integer> {
    @Mixin
    final CommandOutput output;

    @Mixin
    final ServerConnectionOptions connection;

    @Parameters(paramLabel = "WORKFLOW", description = "Name or id.")
    String workflow = "";

    WorkflowControlCommand(CommandEnvironment environment) {
        this.output = new CommandOutput(environment);
        this.connection = new ServerConnectionOptions(environment);
    }

    int postAction(String action, ObjectNode body) {
        JsonNode answer = connection
                .api()
                .send(ApiRequest.post(ApiRequest.path("v1", "workflows", workflow, action), body.isEmpty() ? "" : TerminalJson.compact(body)))
                .body();
        if (output.json) {
            output.printJson(answer);
        } else {
            output.printLine(resultLine(answer));
        }
        return ExitCode.OK;
    }

    abstract String resultLine(JsonNode answer);

    private static String version(JsonNode answer) {
        return TerminalJson.text(answer, "workflow") + " v" + TerminalJson.text(answer, "version");
    }

    @Command(
            name = "promote",
            description = "Makes the candidate the current version, for all new triggers.",
            footerHeading = "%nExamples:%n",
            footer = {"  semel promote payment_receipt", "  semel promote payment_receipt --version 4"})
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
            footer = {"  semel rollback payment_receipt", "  semel rollback payment_receipt --to 3 --reason 'wrong tax'"
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
                    + (!changed ? "; nothing was changed" : to == null ? "; the candidate is removed" : ", as in v" + to);
        }
    }

    @Command(name = "pause", description = "Pauses a workflow: new runs queue, started runs continue.")
    static final class WorkflowPauseCommand extends WorkflowControlCommand {
        WorkflowPauseCommand(CommandEnvironment environment) {
            super(environment);
        }

        @Override
        public Integer call() {
            return postAction("pause", TerminalJson.newObject());
        }

        @Override
        String resultLine(JsonNode answer) {
            return TerminalJson.text(answer, "workflow") + " is paused; new runs queue";
        }
    }

    @Command(name = "resume", description = "Resumes a paused workflow: queued runs start.")
    static final class WorkflowResumeCommand extends WorkflowControlCommand {
        WorkflowResumeCommand(CommandEnvironment environment) {
            super(environment);
        }

        @Override
        public Integer call() {
            return postAction("resume", TerminalJson.newObject());
        }

        @Override
        String resultLine(JsonNode answer) {
            return TerminalJson.text(answer, "workflow") + " is resumed; queued runs start";
        }
    }
}
