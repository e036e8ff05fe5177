package dev.semel.server.cli.trigger;

import dev.semel.server.cli.command.CliApiRequest;
import dev.semel.server.cli.command.CliListCommand;
import dev.semel.server.cli.command.CliListDefinition;
import dev.semel.server.cli.command.CliPagingOptions;
import dev.semel.server.cli.command.ExitCode;
import dev.semel.server.cli.command.GenericApiCallCommand;
import dev.semel.server.cli.command.TerminalJsonFormatter;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

public abstract sealed class InboundEventCommand extends CliListCommand {
    @Option(names = "--type", paramLabel = "TYPE", description = "Only events of this type.")
    String type = "";

    @Option(names = "--source", paramLabel = "SOURCE", description = "Only events of this source.")
    String source = "";

    @Option(names = "--since", paramLabel = "AGE", description = "Only events newer than this age: 30s, 15m, 2h, 7d.")
    String since = "";

    @Option(names = "--unmatched", description = "Only events without a subscribed workflow.")
    boolean unmatched;

    public static CommandLine show() {
        return GenericApiCallCommand.create(
                "show EVENT",
                "Shows one event with its runs, as JSON.",
                arguments -> CliApiRequest.get("v1", "events", arguments.getFirst()),
                (_, event) -> TerminalJsonFormatter.pretty(event));
    }

    @Override
    protected CliListDefinition listDefinition() {
        CliApiRequest call = CliApiRequest.get("v1", "events")
                .withQuery("type", type)
                .withQuery("source", source)
                .withQuery("since", since)
                .withFlag("unmatched", unmatched);
        return CliListDefinition.of(
                        call, "event list", "no events. Send one: semel event send TYPE --id ID --data '{}'")
                .addText("EVENT", "event_id")
                .addText("TYPE", "type")
                .addText("SOURCE", "source")
                .addText("ID", "id")
                .addColumn(
                        "MATCHED", event -> String.valueOf(event.path("matched").asInt(0)))
                .addTime("RECEIVED", "received_at")
                .suggest("semel event show", "event_id");
    }

    @Command(
            name = "list",
            description = "Lists events of the last 7 days, newest first.",
            footer = "  semel event list --unmatched --since 2h")
    public static final class EventListCommand extends InboundEventCommand {}

    @Command(
            name = "reprocess",
            description =
                    "Delivers stored events to the workflows again. The server keeps existing runs and starts only"
                            + " missing runs.",
            footer = {
                "  semel event reprocess evt_…",
                "  semel event reprocess --unmatched --dry-run     shows which runs would start"
            })
    public static final class EventReprocessCommand extends InboundEventCommand {
        @Parameters(
                paramLabel = "EVENT",
                arity = "0..1",
                description = "Id of one event. Default: all events that match the options.")
        String event = "";

        @Option(names = "--dry-run", description = "Only show what would happen. Changes nothing.")
        boolean dryRun;

        @Override
        public Integer call() {
            return event.isEmpty() ? reprocessMany() : reprocessOne();
        }

        private int reprocessOne() {
            CliApiRequest call = CliApiRequest.post("v1", "events", event, "reprocess")
                    .withJson("{}")
                    .withFlag("dry_run", dryRun);
            return printJson(send(call));
        }

        private int reprocessMany() {
            ObjectNode filter =
                    TerminalJsonFormatter.newObject().put("dry_run", dryRun).put("unmatched", unmatched);
            TerminalJsonFormatter.putText(filter, "type", type);
            TerminalJsonFormatter.putText(filter, "source", source);
            TerminalJsonFormatter.putText(filter, "since", since);
            TerminalJsonFormatter.putText(filter, "after", listing.after);
            filter.put("limit", listing.limit);
            JsonNode answer =
                    send(CliApiRequest.post("v1", "events", "reprocess").withJson(filter));
            output.printJson(answer);
            CliPagingOptions.printFooter(output, answer, "event reprocess", "no event matches. Nothing was done.");
            return ExitCode.OK;
        }
    }
}
