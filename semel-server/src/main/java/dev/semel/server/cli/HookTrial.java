package dev.semel.server.cli;

import java.time.Instant;
import java.util.Map;
import java.util.concurrent.Callable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** What came to a hook, and a sample to try it with. */
final class HookTrial {
    private HookTrial() {}

    @Command(name = "deliveries", description = "Lists what came, also what was turned away.")
    static final class Deliveries implements Callable<Integer> {
        private final Surroundings around;

        @Mixin
        final Output output;

        @Mixin
        final Connection connection;

        @Mixin
        final Listing listing = new Listing();

        @Parameters(paramLabel = "NAME")
        String name = "";

        Deliveries(Surroundings around) {
            this.around = around;
            this.output = new Output(around);
            this.connection = new Connection(around);
        }

        @Override
        public Integer call() {
            Answer answer = connection.api().ask(listing.page(Call.get(Call.path("v1", "hooks", name, "deliveries"))));
            if (output.json) {
                output.document(answer.body());
                return Exit.DONE;
            }
            Instant now = answer.date().orElse(around.clock().instant());
            Table table = new Table("DELIVERY", "CAME", "VERDICT", "EVENT", "TYPE", "NOTE");
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
                    "nothing came yet. Try it: semel hooks test " + Shell.word(name));
            return Exit.DONE;
        }
    }

    @Command(
            name = "reprocess",
            description = "Hands a kept delivery in again: runs that exist are replayed, missing ones start.")
    static final class Reprocess implements Callable<Integer> {
        @Mixin
        final Output output;

        @Mixin
        final Connection connection;

        @Parameters(paramLabel = "NAME", index = "0")
        String name = "";

        @Parameters(paramLabel = "DELIVERY", index = "1", description = "A dlv_… of `semel hooks deliveries`.")
        String delivery = "";

        Reprocess(Surroundings around) {
            this.output = new Output(around);
            this.connection = new Connection(around);
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
                    "Sends a correctly signed sample, and then the very same again, which is replayed. Where no hook"
                            + " has that name and a preset does, it shows what the provider would send.")
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
                description = "Sends it there, such as through your proxy; else to the server itself.")
        String url = "";

        Test(Surroundings around) {
            this.output = new Output(around);
            this.connection = new Connection(around);
        }

        @Override
        public Integer call() {
            JsonNode sample = connection
                    .api()
                    .ask(Call.post(Call.path("v1", "hooks", name, "sample"), ""))
                    .body();
            if (sample.path("path").isNull()) {
                return shown(sample);
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

        /** There is no hook of that name: what its provider would send. */
        private int shown(JsonNode sample) {
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
            output.talk("no hook is called " + name + ": this is what the provider would send, signed with the secret "
                    + Json.text(sample, "secret") + ". Nothing was sent.");
            output.talk("make one: semel hooks create " + Shell.word(name) + " --preset " + Shell.word(name)
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
                .append(runs == 0 ? "no workflow wants it" : runs + (runs == 1 ? " run" : " runs"));
        answer.body().path("run_ids").forEach(run -> line.append("  ").append(Json.clean(run.asString(""))));
        output.line(line.toString());
    }
}
