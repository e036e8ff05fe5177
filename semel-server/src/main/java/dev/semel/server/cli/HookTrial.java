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
final class HookTrial {
    private HookTrial() {}

    @Command(name = "deliveries", description = "Lists received deliveries, including rejected ones.")
    static final class Deliveries implements Callable<Integer> {
        private final Surroundings environment;

        @Mixin
        final Output output;

        @Mixin
        final Connection connection;

        @Mixin
        final Listing listing = new Listing();

        @Parameters(paramLabel = "NAME")
        String name = "";

        Deliveries(Surroundings environment) {
            this.environment = environment;
            this.output = new Output(environment);
            this.connection = new Connection(environment);
        }

        @Override
        public Integer call() {
            Answer answer = connection.api().ask(listing.page(Call.get(Call.path("v1", "hooks", name, "deliveries"))));
            if (output.json) {
                output.document(answer.body());
                return Exit.DONE;
            }
            Instant now = answer.date().orElse(environment.clock().instant());
            Table table = new Table("DELIVERY", "RECEIVED", "RESULT", "EVENT", "TYPE", "NOTE");
            for (JsonNode item : answer.body().path("items")) {
                table.row(
                        Json.text(item, "delivery_id"),
                        Listing.when(output, item, "at", now),
                        Json.text(item, "verdict"),
                        Json.text(item, "event_id"),
                        Json.text(item, "type"),
                        Json.text(item, "note"));
            }
            if (!answer.body().path("items").isEmpty()) {
                table.print(output);
            }
            Listing.end(
                    output,
                    answer.body(),
                    "hooks deliveries " + Shell.word(name),
                    "no deliveries yet. Send a test: semel hooks test " + Shell.word(name));
            return Exit.DONE;
        }
    }

    @Command(
            name = "reprocess",
            description = "Processes a stored delivery again: existing runs are replayed, missing runs start.")
    static final class Reprocess implements Callable<Integer> {
        @Mixin
        final Output output;

        @Mixin
        final Connection connection;

        @Parameters(paramLabel = "NAME", index = "0")
        String name = "";

        @Parameters(paramLabel = "DELIVERY", index = "1", description = "Id of the delivery, dlv_…, as in `semel hooks deliveries`.")
        String delivery = "";

        Reprocess(Surroundings environment) {
            this.output = new Output(environment);
            this.connection = new Connection(environment);
        }

        @Override
        public Integer call() {
            Call call = Call.post(Call.path("v1", "hooks", name, "deliveries", delivery, "reprocess"), "");
            show(output, connection.api().ask(call));
            return Exit.DONE;
        }
    }

    @Command(
            name = "test",
            description =
                    "Sends a correctly signed sample twice; the server replays the second. If no webhook has that name"
                            + " but a preset does, shows what the provider would send.")
    static final class Test implements Callable<Integer> {
        @Mixin
        final Output output;

        @Mixin
        final Connection connection;

        @Parameters(paramLabel = "NAME")
        String name = "";

        @Option(
                names = "--url",
                paramLabel = "URL",
                description = "Target URL, for example of your proxy. Default: the server itself.")
        String url = "";

        Test(Surroundings environment) {
            this.output = new Output(environment);
            this.connection = new Connection(environment);
        }

        @Override
        public Integer call() {
            JsonNode sample = connection
                    .api()
                    .ask(Call.post(Call.path("v1", "hooks", name, "sample"), ""))
                    .body();
            if (sample.path("path").isNull()) {
                return printSample(sample);
            }
            Api provider = new Api(url.isEmpty() ? connection.api().address() : root(url), "");
            Call call = Call.post(
                    url.isEmpty() ? Json.text(sample, "path") : path(url),
                    sample.path("body").asString(""));
            for (Map.Entry<String, JsonNode> header : sample.path("headers").properties()) {
                call = call.with(header.getKey(), header.getValue().asString(""));
            }
            show(output, provider.ask(call));
            show(output, provider.ask(call));
            return Exit.DONE;
        }

        /** Prints the sample of the provider, because no webhook has that name. */
        private int printSample(JsonNode sample) {
            if (output.json) {
                output.document(sample);
                return Exit.DONE;
            }
            for (Map.Entry<String, JsonNode> header : sample.path("headers").properties()) {
                output.line(
                        header.getKey() + ": " + Json.clean(header.getValue().asString("")));
            }
            output.line("");
            output.line(Json.clean(sample.path("body").asString("")));
            output.talk("no webhook is named " + name + ". This is what the provider would send, signed with the secret "
                    + Json.text(sample, "secret") + ". Nothing was sent.");
            output.talk("create one: semel hooks create " + Shell.word(name) + " --preset " + Shell.word(name)
                    + " --secret NAME");
            return Exit.DONE;
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

    private static void show(Output output, Answer answer) {
        if (output.json) {
            output.document(answer.body());
            return;
        }
        boolean replayed = answer.body().path("idempotent_replayed").asBoolean(false);
        int runs = answer.body().path("run_ids").size();
        StringBuilder line = new StringBuilder(replayed ? "replayed" : "accepted")
                .append("  ")
                .append(Json.text(answer.body(), "delivery_id"))
                .append("  ")
                .append(runs == 0 ? "no workflow subscribes to it" : runs + (runs == 1 ? " run" : " runs"));
        answer.body().path("run_ids").forEach(run -> line.append("  ").append(Json.clean(run.asString(""))));
        output.line(line.toString());
    }
}
