package dev.semel.server.cli.idempotency;

import dev.semel.server.cli.command.CliApiCommand;
import dev.semel.server.cli.command.CliApiRequest;
import dev.semel.server.cli.command.CliApiResponse;
import dev.semel.server.cli.command.ExitCode;
import dev.semel.server.cli.command.TerminalJsonFormatter;
import dev.semel.server.cli.command.TextTable;
import java.time.Instant;
import java.util.Locale;
import java.util.stream.Collectors;
import picocli.CommandLine.Command;
import picocli.CommandLine.Option;
import picocli.CommandLine.Parameters;
import tools.jackson.databind.JsonNode;

@Command(
        name = "show",
        description =
                "Shows the monitoring metrics: conflicts, duplicates prevented, recoveries, expired keys, writes.",
        footer = {"  semel monitoring show", "  semel monitoring show --since 7d payment_receipt"})
public final class IdempotencyMetricsShowCommand extends CliApiCommand {
    @Option(names = "--since", paramLabel = "AGE", description = "Start of the period: an age or a time. Default: 24h.")
    String since = "24h";

    @Option(names = "--step", paramLabel = "STEP", description = "Only this step.")
    String step = "";

    @Parameters(paramLabel = "WORKFLOW", arity = "0..1", description = "Only this workflow. Default: all.")
    String workflow = "";

    @Override
    public Integer call() {
        CliApiResponse answer = connection
                .api()
                .send(CliApiRequest.get("v1", "monitoring")
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
                String.format(Locale.ROOT, "%.2f %%", conflicts.path("rate").asDouble(0) * 100),
                number(conflicts, "conflicts") + " of " + number(conflicts, "keyed_triggers") + " triggers with a key");
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
                        + " writes in total");
        table.print(output);
        also(body, now(answer));
        for (JsonNode advice : body.path("advice")) {
            output.printMessage(TerminalJsonFormatter.text(advice, "workflow") + ": "
                    + TerminalJsonFormatter.text(advice, "message"));
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
        String oldest = output.formatTime(doubt, "oldest_at", now);
        output.printMessage("other counts: effects in doubt " + number(doubt, "count")
                + (oldest.isEmpty() ? "" : ", the oldest " + oldest)
                + " · unprotected effects " + number(also, "unprotected_effects") + " · triggers without a key "
                + number(also, "requests_without_key") + " of " + number(also, "triggers"));
    }

    private static String worth(JsonNode prevented) {
        String amounts = prevented
                .path("amount_saved")
                .valueStream()
                .map(one ->
                        TerminalJsonFormatter.text(one, "amount") + " " + TerminalJsonFormatter.text(one, "currency"))
                .collect(Collectors.joining(", "));
        return amounts.isEmpty() ? "" : ", amount saved " + amounts;
    }

    private static String number(JsonNode node, String member) {
        return TerminalJsonFormatter.text(node, member);
    }
}
