package dev.semel.server.cli;

import java.time.Instant;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** `semel events`: lists, shows and reprocesses stored inbound events. */
@Command(
        name = "events",
        description = "Lists events of the last 7 days, newest first, shows one, or reprocesses them.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  semel events --unmatched --since 2h",
            "  semel events evt_…                             one event with its runs",
            "  semel events --unmatched --reprocess --dry-run what would start, and what would replay",
            "  semel events evt_… --reprocess                 existing runs replay, missing runs start"
        })
final class EventsCommand implements Callable<Integer> {
    private final Surroundings environment;

    @Mixin
    final Output output;

    @Mixin
    final Connection connection;

    @Mixin
    final Listing listing = new Listing();

    @Parameters(paramLabel = "EVENT", arity = "0..1", description = "Id of one event, evt_….")
    String event = "";

    @Option(names = "--type", paramLabel = "TYPE", description = "Only events of this type.")
    String type = "";

    @Option(names = "--source", paramLabel = "SOURCE", description = "Only events of this source.")
    String source = "";

    @Option(names = "--since", paramLabel = "AGE", description = "Only events newer than this age: 30s, 15m, 2h, 7d.")
    String since = "";

    @Option(names = "--unmatched", description = "Only events without a subscribed workflow.")
    boolean unmatched;

    @Option(names = "--reprocess", description = "Deliver the events to the workflows again.")
    boolean reprocess;

    @Option(names = "--dry-run", description = "With --reprocess: show what would happen; change nothing.")
    boolean dryRun;

    EventsCommand(Surroundings environment) {
        this.environment = environment;
        this.output = new Output(environment);
        this.connection = new Connection(environment);
    }

    @Override
    public Integer call() {
        if (reprocess || dryRun) {
            return event.isEmpty() ? reprocessMany() : reprocessOne();
        }
        if (!event.isEmpty()) {
            output.document(connection
                    .api()
                    .ask(Call.get(Call.path("v1", "events", event)))
                    .body());
            return Exit.DONE;
        }
        return list();
    }

    private int list() {
        Call call = listing.page(Call.get(Call.path("v1", "events")))
                .where("type", type)
                .where("source", source)
                .where("since", since)
                .where("unmatched", unmatched ? "true" : "");
        Answer answer = connection.api().ask(call);
        if (output.json) {
            output.document(answer.body());
            return Exit.DONE;
        }
        JsonNode items = answer.body().path("items");
        if (!items.isEmpty()) {
            table(items, answer.date().orElse(environment.clock().instant())).print(output);
            output.next("semel events " + Shell.word(Json.text(items.get(0), "event_id")));
        }
        Listing.end(output, answer.body(), "events", "no events. Send one: semel emit TYPE --id ID --data '{}'");
        return Exit.DONE;
    }

    private Table table(JsonNode items, Instant now) {
        Table table = new Table("EVENT", "TYPE", "SOURCE", "ID", "MATCHED", "RECEIVED");
        for (JsonNode one : items) {
            table.row(
                    Json.text(one, "event_id"),
                    Json.text(one, "type"),
                    Json.text(one, "source"),
                    Json.text(one, "id"),
                    String.valueOf(one.path("matched").asInt(0)),
                    Listing.when(output, one, "received_at", now));
        }
        return table;
    }

    private int reprocessOne() {
        Call call =
                Call.post(Call.path("v1", "events", event, "reprocess"), "{}").where("dry_run", dryRun ? "true" : "");
        output.document(connection.api().ask(call).body());
        return Exit.DONE;
    }

    private int reprocessMany() {
        ObjectNode filter = Json.object().put("dry_run", dryRun).put("unmatched", unmatched);
        put(filter, "type", type);
        put(filter, "source", source);
        put(filter, "since", since);
        put(filter, "after", listing.after);
        filter.put("limit", listing.limit);
        JsonNode answer = connection
                .api()
                .ask(Call.post(Call.path("v1", "events", "reprocess"), Json.compact(filter)))
                .body();
        output.document(answer);
        Listing.end(output, answer, "events --reprocess", "no event matches. Nothing was done.");
        return Exit.DONE;
    }

    private static void put(ObjectNode filter, String name, String value) {
        if (!value.isEmpty()) {
            filter.put(name, value);
        }
    }
}
