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

    private final Surroundings environment;

    @Mixin
    final Output output;

    @Mixin
    final Connection connection;

    @Mixin
    final Listing listing = new Listing();

    @Parameters(
            paramLabel = "RUN|FILTER",
            arity = "0..*",
            description = "Requests of this run, also the first; or filter terms such as kind:conflict"
                    + " workflow:W key:K actor:tok_1 since:2h until:2026-11-15T09:00:00Z.")
    List<String> words = new ArrayList<>();

    @Spec
    @Nullable
    CommandSpec spec;

    RequestsCommand(Surroundings environment) {
        this.environment = environment;
        this.output = new Output(environment);
        this.connection = new Connection(environment);
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
        String path = run.isEmpty() ? Call.path("v1", "requests") : Call.path("v1", "runs", run, "requests");
        String query = run.isEmpty() ? String.join(" ", words) : "";
        Answer answer = connection.api().ask(listing.page(Call.get(path)).where("q", query));
        if (output.json) {
            output.document(answer.body());
            return Exit.DONE;
        }
        JsonNode items = answer.body().path("items");
        if (!items.isEmpty()) {
            table(output, items, answer.date().orElse(environment.clock().instant())).print(output);
            String key = Json.text(items.get(0), "key");
            output.next(key.isEmpty() ? "semel runs" : "semel key " + Shell.word(key));
        }
        String command =
                "requests" + words.stream().map(word -> " " + Shell.word(word)).collect(Collectors.joining());
        Listing.end(output, answer.body(), command, "no requests. See all runs: semel runs");
        return Exit.DONE;
    }

    static Table table(Output output, JsonNode items, Instant now) {
        Table table = new Table("WHEN", "STATUS", "WHAT", "RUN", "KEY", "BY", "CHANGED");
        for (JsonNode request : items) {
            table.row(
                    Listing.when(output, request, "at", now),
                    Json.text(request, "status_code"),
                    kind(output, Json.text(request, "kind")),
                    Json.text(request, "run_id"),
                    Json.text(request, "key"),
                    Json.text(request, "actor_id"),
                    String.join(", ", changed(request)));
        }
        return table;
    }

    private static String kind(Output output, String kind) {
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
    static List<String> changed(JsonNode request) {
        List<String> names = new ArrayList<>();
        for (JsonNode name : request.path("changed")) {
            names.add(Json.clean(name.asString("")));
        }
        return names;
    }
}
