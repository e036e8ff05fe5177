package dev.semel.server.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Base of the commands that act on an existing run or review: `cancel`, `decide`, `approve` and `reject`. */
abstract sealed class RunActionCommand implements Callable<Integer> {
    @Mixin
    final CommandOutput output;

    @Mixin
    final ServerConnectionOptions connection;

    @Parameters(index = "0", paramLabel = "ID", description = "Id of a run or a review, or a filter.")
    String id = "";

    RunActionCommand(CommandEnvironment environment) {
        this.output = new CommandOutput(environment);
        this.connection = new ServerConnectionOptions(environment);
    }

    final int postAction(ApiRequest call, String member, String otherwise) {
        JsonNode said = connection.api().send(call).body();
        if (output.json) {
            output.printJson(said);
        } else if (said.path(member).booleanValue()) {
            output.printLine(member + " " + id + " (" + TerminalJson.text(said, "status") + ")");
        } else {
            output.printMessage(otherwise);
        }
        return said.path(member).booleanValue() ? ExitCode.OK : ExitCode.FAILED;
    }

    static ObjectNode newBody() {
        return JsonNodeFactory.instance.objectNode();
    }

    @Command(
            name = "cancel",
            description = "Cancels a run. No new step starts, and the engine runs the registered compensations.",
            footerHeading = "%nExample:%n",
            footer = "  semel cancel run_9kXmP2vQwL --reason \"ordered by mistake\"")
    static final class RunCancelCommand extends RunActionCommand {
        @Option(names = "--reason", paramLabel = "TEXT", description = "Reason for the audit log.")
        String reason = "";

        RunCancelCommand(CommandEnvironment environment) {
            super(environment);
        }

        @Override
        public Integer call() {
            ApiRequest call = ApiRequest.post(
                    ApiRequest.path("v1", "runs", id, "cancel"),
                    newBody().put("reason", reason).toString());
            return postAction(call, "cancelled", "the run has ended already; nothing was changed");
        }
    }

    /** Decides one review. If another user decided first, the error of the server names that decision. */
    final int decide(String review, ObjectNode body) {
        JsonNode said = connection
                .api()
                .send(ApiRequest.post(ApiRequest.path("v1", "reviews", review, "decide"), body.toString()))
                .body();
        if (output.json) {
            output.printJson(said);
        } else {
            output.printLine("decided " + review + ": " + TerminalJson.text(said.path("decided"), "decision") + " ("
                    + TerminalJson.text(said, "run_id") + ")");
            output.suggestCommand("semel run " + ShellQuoting.quote(TerminalJson.text(said, "run_id")));
        }
        return ExitCode.OK;
    }

    @Command(
            name = "decide",
            description = "Decides one review, several reviews of one kind, or a step that waits for a decision."
                    + " The first decision counts.",
            footerHeading = "%nExamples:%n",
            footer = {
                "  semel decide rev_3f9a0c11d2e4b5a69788 did-not-happen",
                "  semel decide rev_3f9a0c11d2e4b5a69788 happened --result '{\"id\": \"ch_1\"}'",
                "  semel decide rev_3f9a0c11d2e4b5a69788,rev_77c0a1b2c3d4e5f60718 did-not-happen",
                "  semel decide \"kind:in_doubt workflow:pay\" did-not-happen --note \"asked the bank\"",
                "  semel decide run_9kXmP2vQwL release approve"
            })
    static final class DecideCommand extends RunActionCommand {
        @Parameters(
                index = "1",
                paramLabel = "STEP",
                description = "Path of the step, as in `semel timeline`. Omit it if ID is a review.")
        String step = "";

        @Parameters(
                index = "2",
                arity = "0..1",
                paramLabel = "DECISION",
                description = "happened, did_not_happen; approve, reject; send, suppress; continue; stop.")
        String decision = "";

        @Option(names = "--result", paramLabel = "JSON", description = "With happened: the result of the effect.")
        @Nullable
        String result;

        @Option(names = "--note", paramLabel = "TEXT", description = "Reason for the decision.")
        String note = "";

        @Option(names = "--version", paramLabel = "N", description = "Decide only if the review has this version.")
        int version;

        @Spec
        @Nullable
        CommandSpec spec;

        DecideCommand(CommandEnvironment environment) {
            super(environment);
        }

        @Override
        public Integer call() {
            boolean many = id.contains("kind:");
            boolean review = many || id.startsWith("rev_");
            if (review != decision.isEmpty()) {
                throw new ParameterException(
                        Objects.requireNonNull(spec).commandLine(),
                        review
                                ? "With a review id or a filter, pass only the decision. Nothing was decided."
                                : "With a run id, pass the step and the decision. Nothing was decided.");
            }
            ObjectNode body = newBody();
            body.put("decision", (review ? step : decision).replace('-', '_')).put("note", note);
            if (result != null) {
                body.set("result", dev.semel.json.StrictJson.parse(result));
            }
            if (many) {
                return decideAll(body);
            }
            if (review && id.contains(",")) {
                return together(body, List.of(id.split(",")));
            }
            if (review) {
                return decide(id, version == 0 ? body : body.put("version", version));
            }
            ApiRequest call = ApiRequest.post(
                    ApiRequest.path("v1", "runs", id, "decide"),
                    body.put("step", step).toString());
            return postAction(call, "decided", "not decided: the step waits for no decision, or another user decided first");
        }

        /**
         * Decides the reviews that match now, in the versions listed. Reviews that open or change meanwhile stay
         * undecided.
         */
        private int decideAll(ObjectNode body) {
            JsonNode found = connection
                    .api()
                    .send(ApiRequest.get(ApiRequest.path("v1", "reviews")).withQuery("q", id).withQuery("limit", "200"))
                    .body();
            List<String> ids = new ArrayList<>();
            found.path("items")
                    .forEach(one -> ids.add(TerminalJson.text(one, "review_id") + "@"
                            + one.path("version").asInt()));
            if (ids.isEmpty()) {
                output.printMessage("no open review matches the filter; nothing was decided");
                return ExitCode.NOT_FOUND;
            }
            int exit = together(body, ids);
            if (found.path("next").isString()) {
                output.printMessage("more reviews match the filter; run the command again");
            }
            return exit;
        }

        /** Decides several reviews of one kind. Each has its own result; a rejected one does not stop the others. */
        private int together(ObjectNode body, List<String> reviews) {
            ArrayNode ids = body.putArray("ids");
            reviews.forEach(id -> ids.add(id.strip()));
            JsonNode said = connection
                    .api()
                    .send(ApiRequest.post(ApiRequest.path("v1", "reviews", "decide"), body.toString()))
                    .body();
            if (output.json) {
                output.printJson(said);
            } else {
                for (JsonNode item : said.path("items")) {
                    String decision = TerminalJson.text(item.path("decided"), "decision");
                    output.printLine(TerminalJson.text(item, "review_id") + " "
                            + (decision.isEmpty() ? "not decided: " + TerminalJson.text(item, "detail") : decision));
                }
                output.printMessage(said.path("decided").asInt(0) + " of " + ids.size() + " decided");
            }
            return said.path("decided").asInt(0) == ids.size() ? ExitCode.OK : ExitCode.FAILED;
        }
    }

    @Command(
            name = "approve",
            description = "Approves a review. The first decision counts.",
            footerHeading = "%nExample:%n",
            footer = "  semel approve rev_3f9a0c11d2e4b5a69788 --note \"checked the stock\"")
    static final class ReviewApproveCommand extends RunActionCommand {
        @Option(names = "--note", paramLabel = "TEXT", description = "Reason for the decision.")
        String note = "";

        ReviewApproveCommand(CommandEnvironment environment) {
            super(environment);
        }

        @Override
        public Integer call() {
            return decide(id, newBody().put("decision", "approve").put("note", note));
        }
    }

    @Command(
            name = "reject",
            description = "Rejects a review. The first decision counts.",
            footerHeading = "%nExample:%n",
            footer = "  semel reject rev_3f9a0c11d2e4b5a69788 --note \"too expensive\"")
    static final class ReviewRejectCommand extends RunActionCommand {
        @Option(names = "--note", paramLabel = "TEXT", description = "Reason for the decision.")
        String note = "";

        ReviewRejectCommand(CommandEnvironment environment) {
            super(environment);
        }

        @Override
        public Integer call() {
            return decide(id, newBody().put("decision", "reject").put("note", note));
        }
    }
}
