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
    private final CommandEnvironment environment;

    @Mixin
    final CommandOutput output;

    @Mixin
    final ServerConnectionOptions connection;

    @Mixin
    final PagingOptions listing = new PagingOptions();

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

    EventsCommand(CommandEnvironment environment) {
        this.environment = environment;
        this.output = new CommandOutput(environment);
        this.connection = new ServerConnectionOptions(environment);
    }

    @Override
    public Integer call() {
        if (reprocess || dryRun) {
            return event.isEmpty() ? reprocessMany() : reprocessOne();
        }
        if (!event.isEmpty()) {
            output.printJson(connection
                    .api()
                    .send(ApiRequest.get(ApiRequest.path("v1", "events", event)))
                    .body());
            return ExitCode.OK;
        }
        return list();
    }

    private int list() {
        ApiRequest call = listing.addPaging(ApiRequest.get(ApiRequest.path("v1", "events")))
                .withQuery("type", type)
                .withQuery("source", source)
                .withQuery("since", since)
                .withQuery("unmatched", unmatched ? "true" : "");
        ApiResponse answer = connection.api().send(call);
        if (output.json) {
            output.printJson(answer.body());
            return ExitCode.OK;
        }
        JsonNode items = answer.body().path("items");
        if (!items.isEmpty()) {
            table(items, answer.date().orElse(environment.clock().instant())).print(output);
            output.suggestCommand("semel events " + ShellQuoting.quote(TerminalJson.text(items.get(0), "event_id")));
        }
        PagingOptions.printFooter(output, answer.body(), "events", "no events. Send one: semel emit TYPE --id ID --data '{}'");
        return ExitCode.OK;
    }

    private TextTable table(JsonNode items, Instant now) {
        TextTable table = new TextTable("EVENT", "TYPE", "SOURCE", "ID", "MATCHED", "RECEIVED");
        for (JsonNode one : items) {
            table.addRow(
                    TerminalJson.text(one, "event_id"),
                    TerminalJson.text(one, "type"),
                    TerminalJson.text(one, "source"),
                    TerminalJson.text(one, "id"),
                    String.valueOf(one.path("matched").asInt(0)),
                    PagingOptions.formatTime(output, one, "received_at", now));
        }
        return table;
    }

    private int reprocessOne() {
        ApiRequest call =
                ApiRequest.post(ApiRequest.path("v1", "events", event, "reprocess"), "{}").withQuery("dry_run", dryRun ? "true" : "");
        output.printJson(connection.api().send(call).body());
        return ExitCode.OK;
    }

    private int reprocessMany() {
        ObjectNode filter = TerminalJson.newObject().put("dry_run", dryRun).put("unmatched", unmatched);
        put(filter, "type", type);
        put(filter, "source", source);
        put(filter, "since", since);
        put(filter, "after", listing.after);
        filter.put("limit", listing.limit);
        JsonNode answer = connection
                .api()
                .send(ApiRequest.post(ApiRequest.path("v1", "events", "reprocess"), TerminalJson.compact(filter)))
                .body();
        output.printJson(answer);
        PagingOptions.printFooter(output, answer, "events --reprocess", "no event matches. Nothing was done.");
        return ExitCode.OK;
    }

    private static void put(ObjectNode filter, String name, String value) {
        if (!value.isEmpty()) {
            filter.put(name, value);
        }
    }
}
