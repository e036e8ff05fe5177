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
abstract sealed class ActCommand implements Callable<Integer> {
    @Mixin
    final Output output;

    @Mixin
    final Connection connection;

    @Parameters(index = "0", paramLabel = "ID", description = "Id of a run or a review, or a filter.")
    String run = "";

    ActCommand(Surroundings environment) {
        this.output = new Output(environment);
        this.connection = new Connection(environment);
    }

    final int act(Call call, String member, String otherwise) {
        JsonNode said = connection.api().ask(call).body();
        if (output.json) {
            output.document(said);
        } else if (said.path(member).booleanValue()) {
            output.line(member + " " + run + " (" + Json.text(said, "status") + ")");
        } else {
            output.talk(otherwise);
        }
        return said.path(member).booleanValue() ? Exit.DONE : Exit.FAILED;
    }

    static ObjectNode body() {
        return JsonNodeFactory.instance.objectNode();
    }

    @Command(
            name = "cancel",
            description = "Cancels a run. No new step starts, and the engine runs the registered compensations.",
            footerHeading = "%nExample:%n",
            footer = "  semel cancel run_9kXmP2vQwL --reason \"ordered by mistake\"")
    static final class Cancel extends ActCommand {
        @Option(names = "--reason", paramLabel = "TEXT", description = "Reason for the audit log.")
        String reason = "";

        Cancel(Surroundings environment) {
            super(environment);
        }

        @Override
        public Integer call() {
            Call call = Call.post(
                    Call.path("v1", "runs", run, "cancel"),
                    body().put("reason", reason).toString());
            return act(call, "cancelled", "the run has ended already; nothing was changed");
        }
    }

    /** Decides one review. If another user decided first, the error of the server names that decision. */
    final int decide(String review, ObjectNode body) {
        JsonNode said = connection
                .api()
                .ask(Call.post(Call.path("v1", "reviews", review, "decide"), body.toString()))
                .body();
        if (output.json) {
            output.document(said);
        } else {
            output.line("decided " + review + ": " + Json.text(said.path("decided"), "decision") + " ("
                    + Json.text(said, "run_id") + ")");
            output.next("semel run " + Shell.word(Json.text(said, "run_id")));
        }
        return Exit.DONE;
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
    static final class Decide extends ActCommand {
        @Parameters(
                index = "1",
                paramLabel = "STEP",
                description = "Path of the step, as in `semel timeline`. Omit it if ID is a review.")
        String step = "";

        @Parameters(
                index = "2",
                arity = "0..1",
                paramLabel = "DECISION",
                description = "happened, did_not_happen; approve, reject; send, suppress; go_on; stop.")
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

        Decide(Surroundings environment) {
            super(environment);
        }

        @Override
        public Integer call() {
            boolean many = run.contains("kind:");
            boolean review = many || run.startsWith("rev_");
            if (review != decision.isEmpty()) {
                throw new ParameterException(
                        Objects.requireNonNull(spec).commandLine(),
                        review
                                ? "With a review id or a filter, pass only the decision. Nothing was decided."
                                : "With a run id, pass the step and the decision. Nothing was decided.");
            }
            ObjectNode body = body();
            body.put("decision", (review ? step : decision).replace('-', '_')).put("note", note);
            if (result != null) {
                body.set("result", dev.semel.json.Json.parse(result));
            }
            if (many) {
                return decideAll(body);
            }
            if (review && run.contains(",")) {
                return together(body, List.of(run.split(",")));
            }
            if (review) {
                return decide(run, version == 0 ? body : body.put("version", version));
            }
            Call call = Call.post(
                    Call.path("v1", "runs", run, "decide"),
                    body.put("step", step).toString());
            return act(call, "decided", "not decided: the step waits for no decision, or another user decided first");
        }

        /**
         * Decides the reviews that match now, in the versions listed. Reviews that open or change meanwhile stay
         * undecided.
         */
        private int decideAll(ObjectNode body) {
            JsonNode found = connection
                    .api()
                    .ask(Call.get(Call.path("v1", "reviews")).where("q", run).where("limit", "200"))
                    .body();
            List<String> ids = new ArrayList<>();
            found.path("items")
                    .forEach(one -> ids.add(Json.text(one, "review_id") + "@"
                            + one.path("version").asInt()));
            if (ids.isEmpty()) {
                output.talk("no open review matches the filter; nothing was decided");
                return Exit.NOT_FOUND;
            }
            int exit = together(body, ids);
            if (found.path("next").isString()) {
                output.talk("more reviews match the filter; run the command again");
            }
            return exit;
        }

        /** Decides several reviews of one kind. Each has its own result; a rejected one does not stop the others. */
        private int together(ObjectNode body, List<String> reviews) {
            ArrayNode ids = body.putArray("ids");
            reviews.forEach(id -> ids.add(id.strip()));
            JsonNode said = connection
                    .api()
                    .ask(Call.post(Call.path("v1", "reviews", "decide"), body.toString()))
                    .body();
            if (output.json) {
                output.document(said);
            } else {
                for (JsonNode item : said.path("items")) {
                    String decision = Json.text(item.path("decided"), "decision");
                    output.line(Json.text(item, "review_id") + " "
                            + (decision.isEmpty() ? "not decided: " + Json.text(item, "detail") : decision));
                }
                output.talk(said.path("decided").asInt(0) + " of " + ids.size() + " decided");
            }
            return said.path("decided").asInt(0) == ids.size() ? Exit.DONE : Exit.FAILED;
        }
    }

    @Command(
            name = "approve",
            description = "Approves a review. The first decision counts.",
            footerHeading = "%nExample:%n",
            footer = "  semel approve rev_3f9a0c11d2e4b5a69788 --note \"checked the stock\"")
    static final class Approve extends ActCommand {
        @Option(names = "--note", paramLabel = "TEXT", description = "Reason for the decision.")
        String note = "";

        Approve(Surroundings environment) {
            super(environment);
        }

        @Override
        public Integer call() {
            return decide(run, body().put("decision", "approve").put("note", note));
        }
    }

    @Command(
            name = "reject",
            description = "Rejects a review. The first decision counts.",
            footerHeading = "%nExample:%n",
            footer = "  semel reject rev_3f9a0c11d2e4b5a69788 --note \"too expensive\"")
    static final class Reject extends ActCommand {
        @Option(names = "--note", paramLabel = "TEXT", description = "Reason for the decision.")
        String note = "";

        Reject(Surroundings environment) {
            super(environment);
        }

        @Override
        public Integer call() {
            return decide(run, body().put("decision", "reject").put("note", note));
        }
    }
}
