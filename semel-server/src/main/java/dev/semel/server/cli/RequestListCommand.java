package dev.semel.server.cli;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** `semel request list`: lists replayed requests and conflicts. */
@Command(
        name = "list",
        description = "Lists requests with an existing key or run id: replayed requests and conflicts, newest first.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  semel request list",
            "  semel request list run_9kXmP2vQwL",
            "  semel request list kind:conflict workflow:payment_receipt since:24h",
            "  semel request list key:evt_1"
        })
final class RequestListCommand extends ListCommand {
    private static final Pattern FILTER = Pattern.compile("(?:kind|workflow|key|actor|since|until):.+");

    @Parameters(
            paramLabel = "RUN|FILTER",
            arity = "0..*",
            description = "Requests of this run, also the first; or filter terms such as kind:conflict"
                    + " workflow:W key:K actor:tok_1 since:2h until:2026-11-15T09:00:00Z.")
    List<String> words = new ArrayList<>();

    RequestListCommand(CommandEnvironment environment) {
        super(environment);
    }

    @Override
    ListDefinition listDefinition() {
        String run = run();
        if (run.isEmpty()
                && !words.stream().allMatch(word -> FILTER.matcher(word).matches())) {
            throw usage("Pass one run id, or filter terms such as kind:conflict since:2h, not both.");
        }
        String path =
                run.isEmpty() ? ApiRequest.path("v1", "requests") : ApiRequest.path("v1", "runs", run, "requests");
        String command = "request list"
                + words.stream().map(word -> " " + ShellQuoting.quote(word)).collect(Collectors.joining());
        return columns(ListDefinition.of(ApiRequest.get(path), command, "no requests. See all runs: semel runs"));
    }

    /** The run whose requests are listed; empty if the words are a filter. */
    private String run() {
        return words.size() == 1 && !FILTER.matcher(words.getFirst()).matches() ? words.getFirst() : "";
    }

    @Override
    String query() {
        return run().isEmpty() ? String.join(" ", words) : "";
    }

    @Override
    String nextCommand(JsonNode first) {
        String key = TerminalJson.text(first, "key");
        return key.isEmpty() ? "semel runs" : "semel key show " + ShellQuoting.quote(key);
    }

    private static ListDefinition columns(ListDefinition list) {
        return list.addTime("WHEN", "at")
                .addText("STATUS", "status_code")
                .addCell("WHAT", (request, output, _) -> kind(output, TerminalJson.text(request, "kind")))
                .addText("RUN", "run_id")
                .addText("KEY", "key")
                .addText("BY", "actor_id")
                .addColumn("CHANGED", request -> String.join(", ", changedFields(request)));
    }

    static TextTable toTable(CommandOutput output, JsonNode items, Instant now) {
        return columns(ListDefinition.of(ApiRequest.get(""), "", "")).toTable(items, output, now);
    }

    private static String kind(CommandOutput output, String kind) {
        if (output.plain) {
            return kind;
        }
        return switch (kind) {
            case "replayed" -> output.yellow("↺ replayed");
            case "conflict" -> output.red("✗ conflict");
            default -> kind;
        };
    }

    /** Names of the fields that differed; never their values. */
    static List<String> changedFields(JsonNode request) {
        List<String> names = new ArrayList<>();
        for (JsonNode name : request.path("changed")) {
            names.add(TerminalJson.sanitize(name.asString("")));
        }
        return names;
    }
}
