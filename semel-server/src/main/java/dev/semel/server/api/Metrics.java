package dev.semel.server.api;

import dev.semel.Semel;
import dev.semel.engine.Counters;
import dev.semel.server.http.Observer;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Timer;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.concurrent.atomic.LongAdder;

/** What the server counts, for Prometheus. No label ever comes from a caller. */
public final class Metrics implements Observer {
    private static final Logger LOG = System.getLogger(Metrics.class.getName());

    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final ConcurrentHashMap<Line, Timer> timers = new ConcurrentHashMap<>();

    private record Line(String route, int status) {}

    public Metrics(Semel semel) {
        Counters c = semel.counters();
        count("semel_triggers_fresh", "Triggers that started a run", c.fresh);
        count("semel_triggers_replayed", "Duplicates answered with the original run", c.replayed);
        count("semel_triggers_payload_mismatch", "Replayed although the payload differed", c.mismatched);
        count("semel_triggers_conflict", "Keys refused because they stand for something else", c.conflicts);
        count("semel_triggers_duplicate_payload", "Payloads refused because they ran under another key", c.duplicatePayloads);
        count("semel_triggers_expired_key", "Keys that came again after their window", c.expiredKeyRetries);
        count("semel_triggers_unkeyed", "Runs started without a key", c.unkeyed);
        count("semel_triggers_overload", "Triggers refused because too many waited", c.overload);
        count("semel_runs_completed", "Runs that completed here", c.completed);
        count("semel_runs_failed", "Runs that failed here", c.failed);
        count("semel_runs_recovered", "Runs taken up after a crash or from the queue", c.recovered);
        count("semel_store_batches", "Transactions committed", c.batches);
        count("semel_store_writes", "Writes committed", c.writes);
        count("semel_store_failures", "Batches applied again after a failure", c.storeFailures);
        count("semel_store_unknown_commits", "Commits whose answer was lost", c.unknownCommits);
        count("semel_store_poisoned_writes", "Writes refused alone", c.poisonedWrites);
        count("semel_store_fenced_batches", "Batches refused because the lease was gone", c.fencedBatches);
        count("semel_lease_takeovers", "Leases of dead workers ended", c.takeovers);
        Gauge.builder("semel_runs_unfinished", semel, Metrics::unfinished)
                .description("Runs that have not ended, in all workspaces")
                .register(registry);
    }

    private void count(String name, String what, LongAdder adder) {
        FunctionCounter.builder(name, adder, LongAdder::sum).description(what).register(registry);
    }

    private static double unfinished(Semel semel) {
        Long count = semel.view(reads -> reads.unfinished());
        return count == null ? 0 : count;
    }

    String scrape() {
        return registry.scrape();
    }

    @Override
    public void answered(String route, int status, long nanos) {
        timers.computeIfAbsent(new Line(route, status), this::timer).record(nanos, TimeUnit.NANOSECONDS);
    }

    private Timer timer(Line line) {
        return Timer.builder("semel_http_requests")
                .description("Requests by route and status")
                .tag("route", line.route())
                .tag("status", String.valueOf(line.status()))
                .register(registry);
    }

    @Override
    public void failed(String route, UUID instance, Throwable error) {
        LOG.log(Level.ERROR, "request " + instance + " to " + route + " failed inside Semel", error);
    }
}
