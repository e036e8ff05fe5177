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
abstract sealed class TurnCommand implements Callable<Integer> {
    @Mixin
    final Output output;

    @Mixin
    final Connection connection;

    @Parameters(paramLabel = "WORKFLOW", description = "Name or id.")
    String workflow = "";

    TurnCommand(Surroundings environment) {
        this.output = new Output(environment);
        this.connection = new Connection(environment);
    }

    int turn(String action, ObjectNode body) {
        JsonNode answer = connection
                .api()
                .ask(Call.post(Call.path("v1", "workflows", workflow, action), body.isEmpty() ? "" : Json.compact(body)))
                .body();
        if (output.json) {
            output.document(answer);
        } else {
            output.line(said(answer));
        }
        return Exit.DONE;
    }

    abstract String said(JsonNode answer);

    private static String version(JsonNode answer) {
        return Json.text(answer, "workflow") + " v" + Json.text(answer, "version");
    }

    @Command(
            name = "promote",
            description = "Makes the candidate the current version, for all new triggers.",
            footerHeading = "%nExamples:%n",
            footer = {"  semel promote payment_receipt", "  semel promote payment_receipt --version 4"})
    static final class Promote extends TurnCommand {
        @Option(names = "--version", paramLabel = "N", description = "Only if the candidate is this version.")
        @Nullable
        Integer version;

        Promote(Surroundings environment) {
            super(environment);
        }

        @Override
        public Integer call() {
            ObjectNode body = Json.object();
            if (version != null) {
                body.put("version", version);
            }
            return turn("promote", body);
        }

        @Override
        String said(JsonNode answer) {
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
    static final class Rollback extends TurnCommand {
        @Option(names = "--to", paramLabel = "N", description = "Version to publish again.")
        @Nullable
        Integer to;

        @Option(names = "--reason", paramLabel = "TEXT", description = "Reason for the audit log.")
        String reason = "";

        Rollback(Surroundings environment) {
            super(environment);
        }

        @Override
        public Integer call() {
            ObjectNode body = Json.object();
            if (to != null) {
                body.put("version", to);
            }
            if (!reason.isEmpty()) {
                body.put("reason", reason);
            }
            return turn("rollback", body);
        }

        @Override
        String said(JsonNode answer) {
            boolean changed = answer.path("changed").asBoolean(false);
            return version(answer) + " gets all triggers"
                    + (!changed ? "; nothing was changed" : to == null ? "; the candidate is removed" : ", as in v" + to);
        }
    }

    @Command(name = "pause", description = "Pauses a workflow: new runs queue, started runs continue.")
    static final class Pause extends TurnCommand {
        Pause(Surroundings environment) {
            super(environment);
        }

        @Override
        public Integer call() {
            return turn("pause", Json.object());
        }

        @Override
        String said(JsonNode answer) {
            return Json.text(answer, "workflow") + " is paused; new runs queue";
        }
    }

    @Command(name = "resume", description = "Resumes a paused workflow: queued runs start.")
    static final class Resume extends TurnCommand {
        Resume(Surroundings environment) {
            super(environment);
        }

        @Override
        public Integer call() {
            return turn("resume", Json.object());
        }

        @Override
        String said(JsonNode answer) {
            return Json.text(answer, "workflow") + " is resumed; queued runs start";
        }
    }
}
