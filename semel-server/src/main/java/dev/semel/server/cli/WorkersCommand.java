package dev.semel.server.cli;

import java.time.Duration;
import java.time.Instant;
import java.util.concurrent.Callable;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import tools.jackson.databind.JsonNode;

/** `semel workers`: lists the workers with their leases and clocks. */
@Command(name = "workers", description = "Lists the workers: status, version, runs, start, lease and clock.")
final class WorkersCommand implements Callable<Integer> {
    /** Clocks that follow a time server differ less than this; a worker also logs larger differences. */
    private static final Duration CLOCKS_AGREE = Duration.ofSeconds(5);

    private final CommandEnvironment environment;

    @Mixin
    final CommandOutput output;

    @Mixin
    final ServerConnectionOptions connection;

    WorkersCommand(CommandEnvironment environment) {
        this.environment = environment;
        this.output = new CommandOutput(environment);
        this.connection = new ServerConnectionOptions(environment);
    }

    @Override
    public Integer call() {
        ApiResponse answer = connection.api().send(ApiRequest.get(ApiRequest.path("v1", "workers")));
        if (output.json) {
            output.printJson(answer.body());
            return ExitCode.OK;
        }
        JsonNode items = answer.body().path("items");
        Instant now = answer.date().orElse(environment.clock().instant());
        TextTable table = new TextTable("WORKER", "STATUS", "VERSION", "RUNS", "SINCE", "LEASE", "CLOCK");
        for (JsonNode worker : items) {
            table.addRow(
                    TerminalJson.text(worker, "worker"),
                    status(TerminalJson.text(worker, "status")),
                    TerminalJson.text(worker, "version"),
                    TerminalJson.text(worker, "runs"),
                    PagingOptions.formatTime(output, worker, "started_at", now),
                    lease(worker, now),
                    clock(worker));
        }
        if (items.isEmpty()) {
            output.printMessage("no worker has a lease, so no run is executed. Check /readyz and the log of the server");
        } else {
            table.print(output);
        }
        lag(answer.body());
        return ExitCode.OK;
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
                : left.isNegative() ? "expired " + DurationText.format(left) + " ago" : DurationText.format(left) + " left";
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

    private void lag(JsonNode body) {
        Duration lag = Duration.ofMillis(body.path("lag_ms").asLong(0));
        if (lag.isPositive() && !output.plain) {
            output.printMessage("the oldest due run has waited " + DurationText.format(lag)
                    + (lag.toSeconds() < 2 ? "" : ": workers are missing, busy, or do not know its workflow"));
        }
    }
}
