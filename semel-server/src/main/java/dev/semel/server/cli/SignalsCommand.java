package dev.semel.server.cli;

import java.time.Instant;
import java.util.Locale;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** `semel signals`: shows the five monitoring metrics. */
@Command(
        name = "signals",
        description =
                "Shows the monitoring metrics: conflicts, duplicates prevented, recoveries, expired"
                        + " keys, writes.",
        footerHeading = "%nExamples:%n",
        footer = {"  semel signals", "  semel signals --since 7d payment_receipt"})
final class SignalsCommand implements Callable<Integer> {
    private final Surroundings environment;

    @Mixin
    final Output output;

    @Mixin
    final Connection connection;

    @Option(names = "--since", paramLabel = "AGE", description = "Start of the period: an age or a time. Default: 24h.")
    String since = "24h";

    @Option(names = "--step", paramLabel = "STEP", description = "Only this step.")
    String step = "";

    @Parameters(paramLabel = "WORKFLOW", arity = "0..1", description = "Only this workflow. Default: all.")
    String workflow = "";

    SignalsCommand(Surroundings environment) {
        this.environment = environment;
        this.output = new Output(environment);
        this.connection = new Connection(environment);
    }

    @Override
    public Integer call() {
        Answer answer = connection
                .api()
                .ask(Call.get(Call.path("v1", "signals"))
                        .where("since", since)
                        .where("step", step)
                        .where("workflow", workflow));
        JsonNode body = answer.body();
        if (output.json) {
            output.document(body);
            return Exit.DONE;
        }
        Table table = new Table("METRIC", "VALUE", "");
        JsonNode conflicts = body.path("conflict_rate");
        table.row(
                "conflict rate",
                percent(conflicts.path("rate").asDouble(0)),
                number(conflicts, "conflicts") + " of " + number(conflicts, "keyed_triggers") + " with a key");
        JsonNode prevented = body.path("duplicates_prevented");
        table.row(
                "duplicates prevented",
                number(prevented, "count"),
                number(prevented, "replayed_requests") + " requests, " + number(prevented, "suppressed_effects")
                        + " effects" + worth(prevented));
        table.row("retry recoveries", number(body.path("retry_recoveries"), "count"), "completed after a failure");
        table.row("expired-key retries", number(body.path("expired_key_retries"), "count"), "started a new run");
        JsonNode writes = body.path("writes_versus_objects");
        table.row(
                "writes : objects",
                number(writes, "writes_with_object") + " : " + number(writes, "objects"),
                "ratio "
                        + String.format(
                                Locale.ROOT, "%.4f", writes.path("ratio").asDouble(1)) + ", " + number(writes, "writes")
                        + " writes in all");
        table.print(output);
        also(body, answer.date().orElse(environment.clock().instant()));
        for (JsonNode advice : body.path("advice")) {
            output.talk(Json.text(advice, "workflow") + ": " + Json.text(advice, "says"));
        }
        output.next(
                number(writes, "writes_with_object").equals(number(writes, "objects"))
                        ? "semel requests"
                        : "semel objects");
        return Exit.DONE;
    }

    private void also(JsonNode body, Instant now) {
        JsonNode also = body.path("also");
        JsonNode doubt = also.path("in_doubt");
        String oldest = Listing.when(output, doubt, "oldest_at", now);
        output.talk("also: in doubt " + number(doubt, "count") + (oldest.isEmpty() ? "" : ", the oldest " + oldest)
                + " · unprotected effects " + number(also, "unprotected_effects") + " · without a key "
                + number(also, "requests_without_key") + " of " + number(also, "triggers"));
    }

    private static String worth(JsonNode prevented) {
        String amounts = StreamSupport.stream(prevented.path("worth").spliterator(), false)
                .map(one -> Json.text(one, "amount") + " " + Json.text(one, "currency"))
                .collect(Collectors.joining(", "));
        return amounts.isEmpty() ? "" : ", amount saved " + amounts;
    }

    private static String number(JsonNode node, String member) {
        return Json.text(node, member);
    }

    private static String percent(double rate) {
        return String.format(Locale.ROOT, "%.2f %%", rate * 100);
    }
}
