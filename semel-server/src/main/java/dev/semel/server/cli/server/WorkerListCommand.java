package dev.semel.server.cli.server;

import dev.semel.server.cli.command.CliApiRequest;
import dev.semel.server.cli.command.CliDurationFormatter;
import dev.semel.server.cli.command.CliListCommand;
import dev.semel.server.cli.command.CliListDefinition;
import dev.semel.server.cli.command.TerminalJsonFormatter;
import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import tools.jackson.databind.JsonNode;

@Command(name = "list", description = "Lists the workers: status, version, runs, start, lease and clock.")
public final class WorkerListCommand extends CliListCommand {
    /** Clocks that follow a time server differ less than this; a worker also logs larger differences. */
    private static final Duration CLOCKS_AGREE = Duration.ofSeconds(5);

    @Override
    protected CliListDefinition listDefinition() {
        return CliListDefinition.of(
                        CliApiRequest.get("v1", "workers"),
                        "worker list",
                        "no worker has a lease, so no run is executed. Check /readyz and the log of the server")
                .addText("WORKER", "worker")
                .addColumn("STATUS", worker -> {
                    String status = TerminalJsonFormatter.text(worker, "status");
                    return status.equals("live") ? output.green(status) : output.red(status);
                })
                .addText("VERSION", "version")
                .addText("RUNS", "runs")
                .addTime("SINCE", "started_at")
                .addCell("LEASE", (worker, _, now) -> lease(worker, now))
                .addColumn("CLOCK", this::clock);
    }

    private String lease(JsonNode worker, Instant now) {
        @Nullable Instant until = TerminalJsonFormatter.instant(worker, "lease_until");
        if (until == null) {
            return "";
        }
        Duration left = Duration.between(now, until);
        return output.plain
                ? until.toString()
                : left.isNegative()
                        ? "expired " + CliDurationFormatter.format(left) + " ago"
                        : CliDurationFormatter.format(left) + " left";
    }

    /** Empty if the clock is right. */
    private String clock(JsonNode worker) {
        Duration ahead = Duration.ofMillis(worker.path("clock_ahead_ms").asLong(0));
        if (output.plain) {
            return String.valueOf(ahead.toMillis());
        }
        if (ahead.abs().compareTo(CLOCKS_AGREE) <= 0) {
            return "";
        }
        return output.yellow(CliDurationFormatter.format(ahead) + (ahead.isNegative() ? " behind" : " ahead"));
    }

    @Override
    protected void printRemarks(JsonNode list) {
        Duration lag = Duration.ofMillis(list.path("lag_ms").asLong(0));
        if (lag.isPositive() && !output.plain) {
            output.printMessage("the oldest due run has waited " + CliDurationFormatter.format(lag)
                    + (lag.toSeconds() < 2 ? "" : ": workers are missing, busy, or do not know its workflow"));
        }
    }
}
