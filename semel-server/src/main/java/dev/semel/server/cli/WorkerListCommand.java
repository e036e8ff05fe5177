package dev.semel.server.cli;

import java.time.Duration;
import java.time.Instant;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import tools.jackson.databind.JsonNode;

/** `semel worker list`: lists the workers with their leases and clocks. */
@Command(name = "list", description = "Lists the workers: status, version, runs, start, lease and clock.")
final class WorkerListCommand extends ListCommand {
    /** Clocks that follow a time server differ less than this; a worker also logs larger differences. */
    private static final Duration CLOCKS_AGREE = Duration.ofSeconds(5);

    WorkerListCommand(CommandEnvironment environment) {
        super(environment);
    }

    @Override
    ListDefinition listDefinition() {
        return ListDefinition.of(
                        ApiRequest.get(ApiRequest.path("v1", "workers")),
                        "worker list",
                        "no worker has a lease, so no run is executed. Check /readyz and the log of the server")
                .addText("WORKER", "worker")
                .addColumn("STATUS", worker -> status(TerminalJson.text(worker, "status")))
                .addText("VERSION", "version")
                .addText("RUNS", "runs")
                .addTime("SINCE", "started_at")
                .addCell("LEASE", (worker, _, now) -> lease(worker, now))
                .addColumn("CLOCK", this::clock);
    }

    private String status(String status) {
        return status.equals("live") ? output.green(status) : output.red(status);
    }

    private String lease(JsonNode worker, Instant now) {
        @Nullable Instant until = TerminalJson.instant(worker, "lease_until");
        if (until == null) {
            return "";
        }
        Duration left = Duration.between(now, until);
        return output.plain
                ? until.toString()
                : left.isNegative()
                        ? "expired " + DurationText.format(left) + " ago"
                        : DurationText.format(left) + " left";
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
        return output.yellow(DurationText.format(ahead) + (ahead.isNegative() ? " behind" : " ahead"));
    }

    @Override
    void printRemarks(JsonNode list) {
        Duration lag = Duration.ofMillis(list.path("lag_ms").asLong(0));
        if (lag.isPositive() && !output.plain) {
            output.printMessage("the oldest due run has waited " + DurationText.format(lag)
                    + (lag.toSeconds() < 2 ? "" : ": workers are missing, busy, or do not know its workflow"));
        }
    }
}
