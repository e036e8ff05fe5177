package dev.semel.server.cli.idempotency;

import dev.semel.server.cli.command.CliApiRequest;
import dev.semel.server.cli.command.CliCommandOutput;
import dev.semel.server.cli.command.CliListCommand;
import dev.semel.server.cli.command.CliListDefinition;
import dev.semel.server.cli.command.ShellQuoting;
import dev.semel.server.cli.command.TerminalJsonFormatter;
import dev.semel.server.cli.command.TextTable;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

@Command(
        name = "list",
        description =
                "Lists duplicate requests and conflicts, newest first: requests whose key or run id existed already.",
        footer = {
            "  semel request list",
            "  semel request list run_9kXmP2vQwL",
            "  semel request list kind:conflict workflow:payment_receipt since:24h",
            "  semel request list key:evt_1"
        })
public final class DuplicateRequestListCommand extends CliListCommand {
    private static final Pattern FILTER = Pattern.compile("(?:kind|workflow|key|actor|since|until):.+");

    @Parameters(
            paramLabel = "RUN|FILTER",
            arity = "0..*",
            description = "A run id, for all requests of this run; or filter terms such as kind:conflict"
                    + " workflow:W key:K actor:tok_1 since:2h until:2026-11-15T09:00:00Z.")
    List<String> words = new ArrayList<>();

    @Override
    protected CliListDefinition listDefinition() {
        boolean one = words.size() == 1 && !FILTER.matcher(words.getFirst()).matches();
        String run = one ? words.getFirst() : "";
        if (run.isEmpty()
                && !words.stream().allMatch(word -> FILTER.matcher(word).matches())) {
            throw usage("Pass one run id, or filter terms such as kind:conflict since:2h, not both.");
        }
        CliApiRequest call =
                run.isEmpty() ? CliApiRequest.get("v1", "requests") : CliApiRequest.get("v1", "runs", run, "requests");
        String command = "request list"
                + words.stream().map(word -> " " + ShellQuoting.quote(word)).collect(Collectors.joining());
        return columns(CliListDefinition.of(call, command, "no requests. See all runs: semel runs"))
                .filter(run.isEmpty() ? words : List.of())
                .suggest(first -> {
                    String key = TerminalJsonFormatter.text(first, "key");
                    return key.isEmpty() ? "semel runs" : "semel key show " + ShellQuoting.quote(key);
                });
    }

    private static CliListDefinition columns(CliListDefinition list) {
        return list.addTime("WHEN", "at")
                .addText("STATUS", "status_code")
                .addCell("WHAT", (request, output, _) -> kind(output, TerminalJsonFormatter.text(request, "kind")))
                .addText("RUN", "run_id")
                .addText("KEY", "key")
                .addText("BY", "actor_id")
                .addColumn("CHANGED", request -> String.join(", ", changedFields(request)));
    }

    static TextTable toTable(CliCommandOutput output, JsonNode items, Instant now) {
        return columns(CliListDefinition.of(CliApiRequest.get(""), "", "")).toTable(items, output, now);
    }

    private static String kind(CliCommandOutput output, String kind) {
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
    public static List<String> changedFields(JsonNode request) {
        return TerminalJsonFormatter.texts(request.path("changed")).toList();
    }
}
