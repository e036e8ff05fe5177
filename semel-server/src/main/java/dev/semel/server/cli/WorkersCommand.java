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

    private final Surroundings environment;

    @Mixin
    final Output output;

    @Mixin
    final Connection connection;

    WorkersCommand(Surroundings environment) {
        this.environment = environment;
        this.output = new Output(environment);
        this.connection = new Connection(environment);
    }

    @Override
    public Integer call() {
        Answer answer = connection.api().ask(Call.get(Call.path("v1", "workers")));
        if (output.json) {
            output.document(answer.body());
            return Exit.DONE;
        }
        JsonNode items = answer.body().path("items");
        Instant now = answer.date().orElse(environment.clock().instant());
        Table table = new Table("WORKER", "STATUS", "VERSION", "RUNS", "SINCE", "LEASE", "CLOCK");
        for (JsonNode worker : items) {
            table.row(
                    Json.text(worker, "worker"),
                    status(Json.text(worker, "status")),
                    Json.text(worker, "version"),
                    Json.text(worker, "runs"),
                    Listing.when(output, worker, "started_at", now),
                    lease(worker, now),
                    clock(worker));
        }
        if (items.isEmpty()) {
            output.talk("no worker has a lease, so no run is executed. Check /readyz and the log of the server");
        } else {
            table.print(output);
        }
        lag(answer.body());
        return Exit.DONE;
    }

    private String status(String status) {
        return status.equals("live") ? output.green(status) : output.red(status);
    }

    private String lease(JsonNode worker, Instant now) {
        @Nullable Instant until = Json.instant(worker, "lease_until");
        if (until == null) {
            return "";
        }
        Duration left = Duration.between(now, until);
        return output.plain
                ? until.toString()
                : left.isNegative() ? "expired " + Times.span(left) + " ago" : Times.span(left) + " left";
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
        return output.yellow(Times.span(ahead) + (ahead.isNegative() ? " behind" : " ahead"));
    }

    private void lag(JsonNode body) {
        Duration lag = Duration.ofMillis(body.path("lag_ms").asLong(0));
        if (lag.isPositive() && !output.plain) {
            output.talk("the oldest due run has waited " + Times.span(lag)
                    + (lag.toSeconds() < 2 ? "" : ": workers are missing, busy, or do not know its workflow"));
        }
    }
}
