package dev.semel.server.cli;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.regex.Pattern;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;

/** `semel requests`: lists replayed requests and conflicts. */
@Command(
        name = "requests",
        description = "Lists requests with an existing key or run id: replayed requests and conflicts, newest first.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  semel requests",
            "  semel requests run_9kXmP2vQwL",
            "  semel requests kind:conflict workflow:payment_receipt since:24h",
            "  semel requests key:evt_1"
        })
final class RequestsCommand implements Callable<Integer> {
    private static final Pattern FILTER = Pattern.compile("(?:kind|workflow|key|actor|since|until):.+");

    private final CommandEnvironment environment;

    @Mixin
    final CommandOutput output;

    @Mixin
    final ServerConnectionOptions connection;

    @Mixin
    final PagingOptions listing = new PagingOptions();

    @Parameters(
            paramLabel = "RUN|FILTER",
            arity = "0..*",
            description = "Requests of this run, also the first; or filter terms such as kind:conflict"
                    + " workflow:W key:K actor:tok_1 since:2h until:2026-11-15T09:00:00Z.")
    List<String> words = new ArrayList<>();

    @Spec
    @Nullable
    CommandSpec spec;

    RequestsCommand(CommandEnvironment environment) {
        this.environment = environment;
        this.output = new CommandOutput(environment);
        this.connection = new ServerConnectionOptions(environment);
    }

    @Override
    public Integer call() {
        String run = words.size() == 1 && !FILTER.matcher(words.getFirst()).matches() ? words.getFirst() : "";
        if (run.isEmpty()
                && !words.stream().allMatch(word -> FILTER.matcher(word).matches())
                && spec != null) {
            throw new ParameterException(
                    spec.commandLine(), "Pass one run id, or filter terms such as kind:conflict since:2h, not both.");
        }
        String path = run.isEmpty() ? ApiRequest.path("v1", "requests") : ApiRequest.path("v1", "runs", run, "requests");
        String query = run.isEmpty() ? String.join(" ", words) : "";
        ApiResponse answer = connection.api().send(listing.addPaging(ApiRequest.get(path)).withQuery("q", query));
        if (output.json) {
            output.printJson(answer.body());
            return ExitCode.OK;
        }
        JsonNode items = answer.body().path("items");
        if (!items.isEmpty()) {
            toTable(output, items, answer.date().orElse(environment.clock().instant())).print(output);
            String key = TerminalJson.text(items.get(0), "key");
            output.suggestCommand(key.isEmpty() ? "semel runs" : "semel key " + ShellQuoting.quote(key));
        }
        String command =
                "requests" + words.stream().map(word -> " " + ShellQuoting.quote(word)).collect(Collectors.joining());
        PagingOptions.printFooter(output, answer.body(), command, "no requests. See all runs: semel runs");
        return ExitCode.OK;
    }

    static TextTable toTable(CommandOutput output, JsonNode items, Instant now) {
        TextTable table = new TextTable("WHEN", "STATUS", "WHAT", "RUN", "KEY", "BY", "CHANGED");
        for (JsonNode request : items) {
            table.addRow(
                    PagingOptions.formatTime(output, request, "at", now),
                    TerminalJson.text(request, "status_code"),
                    kind(output, TerminalJson.text(request, "kind")),
                    TerminalJson.text(request, "run_id"),
                    TerminalJson.text(request, "key"),
                    TerminalJson.text(request, "actor_id"),
                    String.join(", ", changedFields(request)));
        }
        return table;
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
