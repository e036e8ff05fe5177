package dev.semel.server.cli;

import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** The commands of `semel event` that list, show and reprocess stored inbound events. */
abstract sealed class EventCommands extends ListCommand {
    @Option(names = "--type", paramLabel = "TYPE", description = "Only events of this type.")
    String type = "";

    @Option(names = "--source", paramLabel = "SOURCE", description = "Only events of this source.")
    String source = "";

    @Option(names = "--since", paramLabel = "AGE", description = "Only events newer than this age: 30s, 15m, 2h, 7d.")
    String since = "";

    @Option(names = "--unmatched", description = "Only events without a subscribed workflow.")
    boolean unmatched;

    EventCommands(CommandEnvironment environment) {
        super(environment);
    }

    static CommandLine show(CommandEnvironment environment) {
        return CallCommand.create(
                environment,
                "show EVENT",
                "Shows one event with its runs, as JSON.",
                arguments -> ApiRequest.get(ApiRequest.path("v1", "events", arguments.getFirst())),
                (_, event) -> TerminalJson.pretty(event));
    }

    @Override
    ListDefinition listDefinition() {
        ApiRequest call = ApiRequest.get(ApiRequest.path("v1", "events"))
                .withQuery("type", type)
                .withQuery("source", source)
                .withQuery("since", since)
                .withQuery("unmatched", unmatched ? "true" : "");
        return ListDefinition.of(call, "event list", "no events. Send one: semel event send TYPE --id ID --data '{}'")
                .addText("EVENT", "event_id")
                .addText("TYPE", "type")
                .addText("SOURCE", "source")
                .addText("ID", "id")
                .addColumn(
                        "MATCHED", event -> String.valueOf(event.path("matched").asInt(0)))
                .addTime("RECEIVED", "received_at");
    }

    @Override
    String nextCommand(JsonNode first) {
        return "semel event show " + ShellQuoting.quote(TerminalJson.text(first, "event_id"));
    }

    @Command(
            name = "list",
            description = "Lists events of the last 7 days, newest first.",
            footerHeading = "%nExample:%n",
            footer = "  semel event list --unmatched --since 2h")
    static final class EventListCommand extends EventCommands {
        EventListCommand(CommandEnvironment environment) {
            super(environment);
        }
    }

    @Command(
            name = "reprocess",
            description =
                    "Delivers stored events to the workflows again: existing runs are replayed, missing runs start.",
            footerHeading = "%nExamples:%n",
            footer = {
                "  semel event reprocess evt_…",
                "  semel event reprocess --unmatched --dry-run     what would start, and what would replay"
            })
    static final class EventReprocessCommand extends EventCommands {
        @Parameters(paramLabel = "EVENT", arity = "0..1", description = "Id of one event. Default: all that match.")
        String event = "";

        @Option(names = "--dry-run", description = "Only show what would happen. Changes nothing.")
        boolean dryRun;

        EventReprocessCommand(CommandEnvironment environment) {
            super(environment);
        }

        @Override
        public Integer call() {
            return event.isEmpty() ? reprocessMany() : reprocessOne();
        }

        private int reprocessOne() {
            ApiRequest call = ApiRequest.post(ApiRequest.path("v1", "events", event, "reprocess"), "{}")
                    .withQuery("dry_run", dryRun ? "true" : "");
            return printJson(send(call));
        }

        private int reprocessMany() {
            ObjectNode filter = TerminalJson.newObject().put("dry_run", dryRun).put("unmatched", unmatched);
            put(filter, "type", type);
            put(filter, "source", source);
            put(filter, "since", since);
            put(filter, "after", listing.after);
            filter.put("limit", listing.limit);
            JsonNode answer =
                    send(ApiRequest.post(ApiRequest.path("v1", "events", "reprocess"), TerminalJson.compact(filter)));
            output.printJson(answer);
            PagingOptions.printFooter(output, answer, "event reprocess", "no event matches. Nothing was done.");
            return ExitCode.OK;
        }

        private static void put(ObjectNode filter, String name, String value) {
            if (!value.isEmpty()) {
                filter.put(name, value);
            }
        }
    }
}
