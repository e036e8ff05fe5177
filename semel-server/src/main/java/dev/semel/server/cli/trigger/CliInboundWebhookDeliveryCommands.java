package dev.semel.server.cli.trigger;

import dev.semel.server.cli.command.CliApiClient;
import dev.semel.server.cli.command.CliApiCommand;
import dev.semel.server.cli.command.CliApiRequest;
import dev.semel.server.cli.command.CliCommandOutput;
import dev.semel.server.cli.command.CliListCommand;
import dev.semel.server.cli.command.CliListDefinition;
import dev.semel.server.cli.command.ExitCode;
import dev.semel.server.cli.command.GenericApiCallCommand;
import dev.semel.server.cli.command.ShellQuoting;
import dev.semel.server.cli.command.TerminalJsonFormatter;
import java.util.Map;
import java.util.stream.Collectors;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

public final class CliInboundWebhookDeliveryCommands {
    private CliInboundWebhookDeliveryCommands() {}

    public static CommandLine list() {
        return CliListCommand.create(
                "deliveries NAME",
                "Lists received deliveries, including rejected ones.",
                arguments -> CliListDefinition.of(
                                CliApiRequest.get("v1", "webhooks", arguments.getFirst(), "deliveries"),
                                "webhook deliveries " + ShellQuoting.quote(arguments.getFirst()),
                                "no deliveries yet. Send a test: semel webhook test "
                                        + ShellQuoting.quote(arguments.getFirst()))
                        .addText("DELIVERY", "delivery_id")
                        .addTime("RECEIVED", "at")
                        .addText("RESULT", "outcome")
                        .addText("EVENT", "event_id")
                        .addText("TYPE", "type")
                        .addText("NOTE", "note"));
    }

    public static CommandLine reprocess() {
        return GenericApiCallCommand.create(
                "reprocess NAME DELIVERY",
                "Processes a stored delivery again. The server keeps existing runs and starts only missing runs.",
                arguments -> CliApiRequest.post(
                        "v1", "webhooks", arguments.get(0), "deliveries", arguments.get(1), "reprocess"),
                (_, response) -> line(response));
    }

    @Command(
            name = "test",
            description = "Sends a correctly signed sample twice. The server answers the second with the result of the"
                    + " first. If NAME is a preset without a webhook, only shows what the provider would send.")
    public static final class WebhookTestCommand extends CliApiCommand {
        @Parameters(paramLabel = "NAME")
        String name = "";

        @Option(
                names = "--url",
                paramLabel = "URL",
                description = "Target URL, for example of your proxy. Default: the server itself.")
        String url = "";

        @Override
        public Integer call() {
            JsonNode sample = send(CliApiRequest.post("v1", "webhooks", name, "sample"));
            if (sample.path("path").isNull()) {
                return printSample(sample);
            }
            CliApiClient provider =
                    new CliApiClient(url.isEmpty() ? connection.api().address() : root(url), "");
            CliApiRequest call = CliApiRequest.of(
                            "POST", url.isEmpty() ? TerminalJsonFormatter.text(sample, "path") : path(url))
                    .withJson(sample.path("body").asString(""));
            for (Map.Entry<String, JsonNode> header : sample.path("headers").properties()) {
                call = call.withHeader(header.getKey(), header.getValue().asString(""));
            }
            JsonNode first = provider.send(call).body();
            JsonNode second = provider.send(call).body();
            ObjectNode both = TerminalJsonFormatter.newObject();
            both.putArray("items").add(first).add(second);
            return print(both, line(first) + System.lineSeparator() + line(second));
        }

        /** Prints the sample of the provider, because no webhook has that name. */
        private int printSample(JsonNode sample) {
            if (output.json) {
                return printJson(sample);
            }
            sample.path("headers")
                    .forEachEntry((header, value) ->
                            output.printLine(header + ": " + TerminalJsonFormatter.sanitize(value.asString(""))));
            output.printLine("");
            output.printLine(TerminalJsonFormatter.sanitize(sample.path("body").asString("")));
            output.printMessage(
                    "no webhook is named " + name + ", so nothing was sent. The provider would send the request above,"
                            + " signed with the secret " + TerminalJsonFormatter.text(sample, "secret") + ".");
            output.printMessage("create one: semel webhook create " + ShellQuoting.quote(name) + " --preset "
                    + ShellQuoting.quote(name) + " --secret NAME");
            return ExitCode.OK;
        }

        private static String root(String url) {
            int slash = url.indexOf('/', url.indexOf("://") + 3);
            return slash < 0 ? url : url.substring(0, slash);
        }

        private static String path(String url) {
            int slash = url.indexOf('/', url.indexOf("://") + 3);
            return slash < 0 ? "/" : url.substring(slash);
        }
    }

    private static String line(JsonNode response) {
        boolean replayed = response.path("idempotent_replayed").asBoolean(false);
        int runs = response.path("run_ids").size();
        return (replayed ? "replayed" : "accepted") + "  " + TerminalJsonFormatter.text(response, "delivery_id") + "  "
                + (runs == 0 ? "no workflow subscribes to this event" : CliCommandOutput.countOf(runs, "run"))
                + TerminalJsonFormatter.texts(response.path("run_ids"))
                        .map(run -> "  " + run)
                        .collect(Collectors.joining());
    }
}
