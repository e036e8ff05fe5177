package dev.semel.server.cli.run;

import dev.semel.server.cli.command.CliApiCommand;
import dev.semel.server.cli.command.CliApiRequest;
import dev.semel.server.cli.command.ExitCode;
import dev.semel.server.cli.command.ShellQuoting;
import dev.semel.server.cli.command.TerminalJsonFormatter;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

@Command(
        name = "decide",
        description = "Decides one review, several reviews of one kind, or a step that waits for a decision."
                + " The first decision counts.",
        footer = {
            "  semel review decide rev_3f9a0c11d2e4b5a69788 approve --note \"checked the stock\"",
            "  semel review decide rev_3f9a0c11d2e4b5a69788 did-not-happen",
            "  semel review decide rev_3f9a0c11d2e4b5a69788 happened --result '{\"id\": \"ch_1\"}'",
            "  semel review decide rev_3f9a0c11d2e4b5a69788,rev_77c0a1b2c3d4e5f60718 did-not-happen",
            "  semel review decide \"kind:in_doubt workflow:pay\" did-not-happen --note \"asked the bank\"",
            "  semel review decide run_9kXmP2vQwL release approve"
        })
public final class HumanReviewDecideCommand extends CliApiCommand {
    @Parameters(index = "0", paramLabel = "ID", description = "Id of a review or a run, or a filter.")
    String id = "";

    @Parameters(
            index = "1",
            paramLabel = "STEP",
            description = "Path of the step, as in `semel run timeline`. Omit it if ID is a review.")
    String step = "";

    @Parameters(
            index = "2",
            arity = "0..1",
            paramLabel = "DECISION",
            description = "The decision: happened, did_not_happen, approve, reject, send, suppress, continue or stop.")
    String decision = "";

    @Option(
            names = "--result",
            paramLabel = "JSON",
            description = "With the decision `happened`: the result of the effect.")
    @Nullable
    String result;

    @Option(names = "--note", paramLabel = "TEXT", description = "Reason for the decision.")
    String note = "";

    @Option(names = "--version", paramLabel = "N", description = "Decide only if the review has this version.")
    int version;

    @Override
    public Integer call() {
        boolean many = id.contains("kind:");
        boolean review = many || id.startsWith("rev_");
        if (review != decision.isEmpty()) {
            throw usage(
                    review
                            ? "With a review id or a filter, pass only the decision. Nothing was decided."
                            : "With a run id, pass the step and the decision. Nothing was decided.");
        }
        ObjectNode body = TerminalJsonFormatter.newObject();
        body.put("decision", (review ? step : decision).replace('-', '_')).put("note", note);
        if (result != null) {
            body.set("result", dev.semel.json.StrictJsonCodec.parse(result));
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
        CliApiRequest call = CliApiRequest.post("v1", "runs", id, "decide").withJson(body.put("step", step));
        JsonNode response = send(call);
        return printAction(
                response, "decided", id, "not decided: the step waits for no decision, or another user decided first");
    }

    /** Decides the reviews in the versions listed. Reviews that open or change meanwhile stay undecided. */
    private int decideAll(ObjectNode body) {
        JsonNode found =
                send(CliApiRequest.get("v1", "reviews").withQuery("q", id).withQuery("limit", "200"));
        List<String> ids = new ArrayList<>();
        found.path("items")
                .forEach(one -> ids.add(TerminalJsonFormatter.text(one, "review_id") + "@"
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
        reviews.stream().map(String::strip).forEach(ids::add);
        JsonNode said = send(CliApiRequest.post("v1", "reviews", "decide").withJson(body));
        output.print(said, () -> {
            for (JsonNode item : said.path("items")) {
                String decision = TerminalJsonFormatter.text(item.path("decided"), "decision");
                output.printLine(TerminalJsonFormatter.text(item, "review_id") + " "
                        + (decision.isEmpty()
                                ? "not decided: " + TerminalJsonFormatter.text(item, "detail")
                                : decision));
            }
            output.printMessage(said.path("decided").asInt(0) + " of " + ids.size() + " reviews decided");
        });
        return said.path("decided").asInt(0) == ids.size() ? ExitCode.OK : ExitCode.FAILED;
    }

    /** Decides one review. If another user decided first, the error of the server names that decision. */
    private int decide(String review, ObjectNode body) {
        JsonNode said =
                send(CliApiRequest.post("v1", "reviews", review, "decide").withJson(body));
        String run = TerminalJsonFormatter.text(said, "run_id");
        int exit = print(
                said,
                "decided " + review + ": " + TerminalJsonFormatter.text(said.path("decided"), "decision") + " (" + run
                        + ")");
        output.suggestCommand("semel run show " + ShellQuoting.quote(run));
        return exit;
    }
}
