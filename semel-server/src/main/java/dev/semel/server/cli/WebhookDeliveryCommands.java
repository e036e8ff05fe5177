package dev.semel.server.cli;

import java.time.Instant;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** The webhook commands about deliveries: `hooks deliveries`, `hooks reprocess` and `hooks test`. */
final class WebhookDeliveryCommands {
    private WebhookDeliveryCommands() {}

    @Command(name = "deliveries", description = "Lists received deliveries, including rejected ones.")
    static final class DeliveryListCommand implements Callable<Integer> {
        private final CommandEnvironment environment;

        @Mixin
        final CommandOutput output;

        @Mixin
        final ServerConnectionOptions connection;

        @Mixin
        final PagingOptions listing = new PagingOptions();

        @Parameters(paramLabel = "NAME")
        String name = "";

        DeliveryListCommand(CommandEnvironment environment) {
            this.environment = environment;
            this.output = new CommandOutput(environment);
            this.connection = new ServerConnectionOptions(environment);
        }

        @Override
        public Integer call() {
            ApiResponse answer = connection.api().send(listing.addPaging(ApiRequest.get(ApiRequest.path("v1", "webhooks", name, "deliveries"))));
            if (output.json) {
                output.printJson(answer.body());
                return ExitCode.OK;
            }
            Instant now = answer.date().orElse(environment.clock().instant());
            TextTable table = new TextTable("DELIVERY", "RECEIVED", "RESULT", "EVENT", "TYPE", "NOTE");
            for (JsonNode item : answer.body().path("items")) {
                table.addRow(
                        TerminalJson.text(item, "delivery_id"),
                        PagingOptions.formatTime(output, item, "at", now),
                        TerminalJson.text(item, "outcome"),
                        TerminalJson.text(item, "event_id"),
                        TerminalJson.text(item, "type"),
                        TerminalJson.text(item, "note"));
            }
            if (!answer.body().path("items").isEmpty()) {
                table.print(output);
            }
            PagingOptions.printFooter(
                    output,
                    answer.body(),
                    "hooks deliveries " + ShellQuoting.quote(name),
                    "no deliveries yet. Send a test: semel hooks test " + ShellQuoting.quote(name));
            return ExitCode.OK;
        }
    }

    @Command(
            name = "reprocess",
            description = "Processes a stored delivery again: existing runs are replayed, missing runs start.")
    static final class DeliveryReprocessCommand implements Callable<Integer> {
        @Mixin
        final CommandOutput output;

        @Mixin
        final ServerConnectionOptions connection;

        @Parameters(paramLabel = "NAME", index = "0")
        String name = "";

        @Parameters(paramLabel = "DELIVERY", index = "1", description = "Id of the delivery, dlv_…, as in `semel hooks deliveries`.")
        String delivery = "";

        DeliveryReprocessCommand(CommandEnvironment environment) {
            this.output = new CommandOutput(environment);
            this.connection = new ServerConnectionOptions(environment);
        }

        @Override
        public Integer call() {
            ApiRequest call = ApiRequest.post(ApiRequest.path("v1", "webhooks", name, "deliveries", delivery, "reprocess"), "");
            show(output, connection.api().send(call));
            return ExitCode.OK;
        }
    }

    @Command(
            name = "test",
            description =
                    "Sends a correctly signed sample twice; the server replays the second. If no webhook has that name"
                            + " but a preset does, shows what the provider would send.")
    static final class WebhookTestCommand implements Callable<Integer> {
        @Mixin
        final CommandOutput output;

        @Mixin
        final ServerConnectionOptions connection;

        @Parameters(paramLabel = "NAME")
        String name = "";

        @Option(
                names = "--url",
                paramLabel = "URL",
                description = "Target URL, for example of your proxy. Default: the server itself.")
        String url = "";

        WebhookTestCommand(CommandEnvironment environment) {
            this.output = new CommandOutput(environment);
            this.connection = new ServerConnectionOptions(environment);
        }

        @Override
        public Integer call() {
            JsonNode sample = connection
                    .api()
                    .send(ApiRequest.post(ApiRequest.path("v1", "webhooks", name, "sample"), ""))
                    .body();
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
            show(output, provider.send(call));
            show(output, provider.send(call));
            return ExitCode.OK;
        }

        /** Prints the sample of the provider, because no webhook has that name. */
        private int printSample(JsonNode sample) {
            if (output.json) {
                output.printJson(sample);
                return ExitCode.OK;
            }
            for (Map.Entry<String, JsonNode> header : sample.path("headers").properties()) {
                output.printLine(
                        header.getKey() + ": " + TerminalJson.sanitize(header.getValue().asString("")));
            }
            output.printLine("");
            output.printLine(TerminalJson.sanitize(sample.path("body").asString("")));
            output.printMessage("no webhook is named " + name + ". This is what the provider would send, signed with the secret "
                    + TerminalJson.text(sample, "secret") + ". Nothing was sent.");
            output.printMessage("create one: semel hooks create " + ShellQuoting.quote(name) + " --preset " + ShellQuoting.quote(name)
                    + " --secret NAME");
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

    private static void show(CommandOutput output, ApiResponse answer) {
        if (output.json) {
            output.printJson(answer.body());
            return;
        }
        boolean replayed = answer.body().path("idempotent_replayed").asBoolean(false);
        int runs = answer.body().path("run_ids").size();
        StringBuilder line = new StringBuilder(replayed ? "replayed" : "accepted")
                .append("  ")
                .append(TerminalJson.text(answer.body(), "delivery_id"))
                .append("  ")
                .append(runs == 0 ? "no workflow subscribes to it" : runs + (runs == 1 ? " run" : " runs"));
        answer.body().path("run_ids").forEach(run -> line.append("  ").append(TerminalJson.sanitize(run.asString(""))));
        output.printLine(line.toString());
    }
}
