package dev.semel.server.cli;

import java.time.Instant;
import java.util.Locale;
import java.util.stream.Collectors;
import java.util.stream.StreamSupport;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

/** `semel monitoring show`: shows the five monitoring metrics. */
@Command(
        name = "show",
        description =
                "Shows the monitoring metrics: conflicts, duplicates prevented, recoveries, expired" + " keys, writes.",
        footerHeading = "%nExamples:%n",
        footer = {"  semel monitoring show", "  semel monitoring show --since 7d payment_receipt"})
final class MonitoringShowCommand extends ApiCommand {
    @Option(names = "--since", paramLabel = "AGE", description = "Start of the period: an age or a time. Default: 24h.")
    String since = "24h";

    @Option(names = "--step", paramLabel = "STEP", description = "Only this step.")
    String step = "";

    @Parameters(paramLabel = "WORKFLOW", arity = "0..1", description = "Only this workflow. Default: all.")
    String workflow = "";

    MonitoringShowCommand(CommandEnvironment environment) {
        super(environment);
    }

    @Override
    public Integer call() {
        ApiResponse answer = connection
                .api()
                .send(ApiRequest.get(ApiRequest.path("v1", "monitoring"))
                        .withQuery("since", since)
                        .withQuery("step", step)
                        .withQuery("workflow", workflow));
        JsonNode body = answer.body();
        if (output.json) {
            return printJson(body);
        }
        TextTable table = new TextTable("METRIC", "VALUE", "");
        JsonNode conflicts = body.path("conflict_rate");
        table.addRow(
                "conflict rate",
                percent(conflicts.path("rate").asDouble(0)),
                number(conflicts, "conflicts") + " of " + number(conflicts, "keyed_triggers") + " with a key");
        JsonNode prevented = body.path("duplicates_prevented");
        table.addRow(
                "duplicates prevented",
                number(prevented, "count"),
                number(prevented, "replayed_requests") + " requests, " + number(prevented, "suppressed_effects")
                        + " effects" + worth(prevented));
        table.addRow("retry recoveries", number(body.path("retry_recoveries"), "count"), "completed after a failure");
        table.addRow("expired-key retries", number(body.path("expired_key_retries"), "count"), "started a new run");
        JsonNode writes = body.path("writes_versus_objects");
        table.addRow(
                "writes : objects",
                number(writes, "writes_with_object") + " : " + number(writes, "objects"),
                "ratio "
                        + String.format(
                                Locale.ROOT, "%.4f", writes.path("ratio").asDouble(1)) + ", " + number(writes, "writes")
                        + " writes in all");
        table.print(output);
        also(body, now(answer));
        for (JsonNode advice : body.path("advice")) {
            output.printMessage(TerminalJson.text(advice, "workflow") + ": " + TerminalJson.text(advice, "message"));
        }
        output.suggestCommand(
                number(writes, "writes_with_object").equals(number(writes, "objects"))
                        ? "semel request list"
                        : "semel object list");
        return ExitCode.OK;
    }

    private void also(JsonNode body, Instant now) {
        JsonNode also = body.path("additional");
        JsonNode doubt = also.path("in_doubt");
        String oldest = PagingOptions.formatTime(output, doubt, "oldest_at", now);
        output.printMessage(
                "also: in doubt " + number(doubt, "count") + (oldest.isEmpty() ? "" : ", the oldest " + oldest)
                        + " · unprotected effects " + number(also, "unprotected_effects") + " · without a key "
                        + number(also, "requests_without_key") + " of " + number(also, "triggers"));
    }

    private static String worth(JsonNode prevented) {
        String amounts = StreamSupport.stream(prevented.path("amount_saved").spliterator(), false)
                .map(one -> TerminalJson.text(one, "amount") + " " + TerminalJson.text(one, "currency"))
                .collect(Collectors.joining(", "));
        return amounts.isEmpty() ? "" : ", amount saved " + amounts;
    }

    private static String number(JsonNode node, String member) {
        return TerminalJson.text(node, member);
    }

    private static String percent(double rate) {
        return String.format(Locale.ROOT, "%.2f %%", rate * 100);
    }
}
