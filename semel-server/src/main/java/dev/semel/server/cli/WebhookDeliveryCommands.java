package dev.semel.server.cli;

import java.util.Map;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** The webhook commands about deliveries: `webhook deliveries`, `reprocess` and `test`. */
final class WebhookDeliveryCommands {
    private WebhookDeliveryCommands() {}

    @Command(name = "deliveries", description = "Lists received deliveries, including rejected ones.")
    static final class DeliveryListCommand extends ListCommand {
        @Parameters(paramLabel = "NAME")
        String name = "";

        DeliveryListCommand(CommandEnvironment environment) {
            super(environment);
        }

        @Override
        ListDefinition listDefinition() {
            return ListDefinition.of(
                            ApiRequest.get(ApiRequest.path("v1", "webhooks", name, "deliveries")),
                            "webhook deliveries " + ShellQuoting.quote(name),
                            "no deliveries yet. Send a test: semel webhook test " + ShellQuoting.quote(name))
                    .addText("DELIVERY", "delivery_id")
                    .addTime("RECEIVED", "at")
                    .addText("RESULT", "outcome")
                    .addText("EVENT", "event_id")
                    .addText("TYPE", "type")
                    .addText("NOTE", "note");
        }
    }

    static CommandLine reprocess(CommandEnvironment environment) {
        return CallCommand.create(
                environment,
                "reprocess NAME DELIVERY",
                "Processes a stored delivery again: existing runs are replayed, missing runs start.",
                arguments -> ApiRequest.post(
                        ApiRequest.path(
                                "v1", "webhooks", arguments.get(0), "deliveries", arguments.get(1), "reprocess"),
                        ""),
                (_, response) -> line(response));
    }

    @Command(
            name = "test",
            description =
                    "Sends a correctly signed sample twice; the server replays the second. If no webhook has that name"
                            + " but a preset does, shows what the provider would send.")
    static final class WebhookTestCommand extends ApiCommand {
        @Parameters(paramLabel = "NAME")
        String name = "";

        @Option(
                names = "--url",
                paramLabel = "URL",
                description = "Target URL, for example of your proxy. Default: the server itself.")
        String url = "";

        WebhookTestCommand(CommandEnvironment environment) {
            super(environment);
        }

        @Override
        public Integer call() {
            JsonNode sample = send(ApiRequest.post(ApiRequest.path("v1", "webhooks", name, "sample"), ""));
            if (sample.path("path").isNull()) {
                return printSample(sample);
            }
            ApiClient provider = new ApiClient(url.isEmpty() ? connection.api().address() : root(url), "");
            ApiRequest call = ApiRequest.post(
                    url.isEmpty() ? TerminalJson.text(sample, "path") : path(url),
                    sample.path("body").asString(""));
            for (Map.Entry<String, JsonNode> header : sample.path("headers").properties()) {
                call = call.withHeader(header.getKey(), header.getValue().asString(""));
            }
            JsonNode first = provider.send(call).body();
            JsonNode second = provider.send(call).body();
            ObjectNode both = TerminalJson.newObject();
            both.putArray("items").add(first).add(second);
            return print(both, line(first) + System.lineSeparator() + line(second));
        }

        /** Prints the sample of the provider, because no webhook has that name. */
        private int printSample(JsonNode sample) {
            if (output.json) {
                return printJson(sample);
            }
            for (Map.Entry<String, JsonNode> header : sample.path("headers").properties()) {
                output.printLine(header.getKey() + ": "
                        + TerminalJson.sanitize(header.getValue().asString("")));
            }
            output.printLine("");
            output.printLine(TerminalJson.sanitize(sample.path("body").asString("")));
            output.printMessage(
                    "no webhook is named " + name + ". This is what the provider would send, signed with the secret "
                            + TerminalJson.text(sample, "secret") + ". Nothing was sent.");
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
        StringBuilder line = new StringBuilder(replayed ? "replayed" : "accepted")
                .append("  ")
                .append(TerminalJson.text(response, "delivery_id"))
                .append("  ")
                .append(runs == 0 ? "no workflow subscribes to it" : runs + (runs == 1 ? " run" : " runs"));
        response.path("run_ids").forEach(run -> line.append("  ").append(TerminalJson.sanitize(run.asString(""))));
        return line.toString();
    }
}
