package dev.semel.server.cli;

import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

@Command(
        name = "requests",
        description = "Lists requests that met a known key or run: replayed and refused ones, newest first.",
        footerHeading = "%nExamples:%n",
        footer = {"  semel requests", "  semel requests run_9kXmP2vQwL"})
final class RequestsCommand implements Callable<Integer> {
    private final Surroundings around;

    @Mixin
    final Output output;

    @Mixin
    final Connection connection;

    @Mixin
    final Listing listing = new Listing();

    @Parameters(
            paramLabel = "RUN",
            arity = "0..1",
            description = "Those that met this run, and the one that started it.")
    String run = "";

    RequestsCommand(Surroundings around) {
        this.around = around;
        this.output = new Output(around);
        this.connection = new Connection(around);
    }

    @Override
    public Integer call() {
        String path = run.isEmpty() ? Call.path("v1", "requests") : Call.path("v1", "runs", run, "requests");
        Answer answer = connection.api().ask(listing.page(Call.get(path)));
        if (output.json) {
            output.document(answer.body());
            return Exit.DONE;
        }
        JsonNode items = answer.body().path("items");
        if (!items.isEmpty()) {
            table(output, items, answer.date().orElse(around.clock().instant())).print(output);
            String key = Json.text(items.get(0), "key");
            output.next(key.isEmpty() ? "semel runs" : "semel key " + Shell.word(key));
        }
        String command = "requests" + (run.isEmpty() ? "" : " " + Shell.word(run));
        Listing.end(output, answer.body(), command, "no requests here. See all runs: semel runs");
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
