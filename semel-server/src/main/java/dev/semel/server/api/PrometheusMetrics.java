package dev.semel.server.api;

import dev.semel.runtime.SemelRuntime;
import dev.semel.runtime.WorkerStatus;
import dev.semel.server.http.RequestObserver;
import dev.semel.store.Durability;
import io.micrometer.core.instrument.FunctionCounter;
import io.micrometer.core.instrument.Gauge;
import io.micrometer.core.instrument.Timer;
import io.micrometer.prometheusmetrics.PrometheusConfig;
import io.micrometer.prometheusmetrics.PrometheusMeterRegistry;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.lang.management.ManagementFactory;
import java.lang.management.MemoryType;
import java.util.Map;
import java.util.Objects;
import java.util.UUID;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.TimeUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * Exposes the server's counters, gauges and request timers in Prometheus format. No label value comes from a caller.
 */
public final class PrometheusMetrics implements RequestObserver {
    private static final Logger LOG = System.getLogger(PrometheusMetrics.class.getName());

    private final PrometheusMeterRegistry registry = new PrometheusMeterRegistry(PrometheusConfig.DEFAULT);
    private final ConcurrentHashMap<RouteStatus, Timer> timers = new ConcurrentHashMap<>();

    private final PrometheusWorkflowMetrics meters;

    /** A strong reference: the registry holds its counters weakly. */
    private final Map<String, LongSupplier> counts;

    private record RouteStatus(String route, int status) {}

    public PrometheusMetrics(SemelRuntime semel) {
        this.counts = semel.counts();
        this.meters = new PrometheusWorkflowMetrics(semel);
        Map<String, LongSupplier> c = counts;
        count("semel_triggers_fresh", "Triggers that started a run", Objects.requireNonNull(c.get("fresh")));
        count(
                "semel_triggers_replayed",
                "Duplicates answered with the original run",
                Objects.requireNonNull(c.get("replayed")));
        count(
                "semel_triggers_payload_mismatch",
                "Replayed although the payload differed",
                Objects.requireNonNull(c.get("mismatched")));
        count(
                "semel_triggers_conflict",
                "Triggers rejected because their key belongs to a different action",
                Objects.requireNonNull(c.get("conflicts")));
        count(
                "semel_triggers_duplicate_payload",
                "Triggers rejected because their payload ran under another key",
                Objects.requireNonNull(c.get("duplicatePayloads")));
        count(
                "semel_triggers_expired_key",
                "Triggers with a key whose window had expired",
                Objects.requireNonNull(c.get("expiredKeyRetries")));
        count("semel_triggers_unkeyed", "Runs started without a key", Objects.requireNonNull(c.get("unkeyed")));
        count(
                "semel_triggers_overload",
                "Triggers rejected because too many were waiting",
                Objects.requireNonNull(c.get("overload")));
        count("semel_runs_completed", "Runs that completed here", Objects.requireNonNull(c.get("completed")));
        count("semel_runs_failed", "Runs that failed here", Objects.requireNonNull(c.get("failed")));
        count(
                "semel_runs_recovered",
                "Runs continued after a crash or from the queue",
                Objects.requireNonNull(c.get("recovered")));
        count("semel_store_batches", "Transactions committed", Objects.requireNonNull(c.get("batches")));
        count("semel_store_writes", "Writes committed", Objects.requireNonNull(c.get("writes")));
        count(
                "semel_store_failures",
                "Batches retried after a failure",
                Objects.requireNonNull(c.get("storeFailures")));
        count(
                "semel_store_unknown_commits",
                "Commits whose outcome was unknown because the response was lost",
                Objects.requireNonNull(c.get("unknownCommits")));
        count("semel_store_poisoned_writes", "Writes that the store rejected individually",
                Objects.requireNonNull(c.get("poisonedWrites")));
        count(
                "semel_store_fenced_batches",
                "Batches rejected because the lease was lost",
                Objects.requireNonNull(c.get("fencedBatches")));
        count("semel_lease_takeovers", "Leases taken over from dead workers",
                Objects.requireNonNull(c.get("takeovers")));
        gauges(semel);
    }

    private void gauges(SemelRuntime semel) {
        Gauge.builder("semel_runs_unfinished", semel, PrometheusMetrics::unfinished)
                .description("Runs that have not ended, in all workspaces")
                .register(registry);
        Gauge.builder("semel_workers_live", semel, PrometheusMetrics::live)
                .description("Workers with a valid lease")
                .register(registry);
        Gauge.builder("semel_runs_lag_seconds", semel, PrometheusMetrics::lag)
                .description("Delay of the oldest due run that no worker executes")
                .register(registry);
        Gauge.builder("semel_store_unsafe", semel, PrometheusMetrics::unsafe)
                .description("1 if the database settings allow a crash to lose an accepted trigger")
                .register(registry);
        Gauge.builder("semel_heap_peak_bytes", PrometheusMetrics::heapPeak)
                .description("Peak heap usage since the start, summed over the memory pools")
                .register(registry);
    }

    /** Pools peak at different moments, so this is an upper bound. */
    private static double heapPeak() {
        return ManagementFactory.getMemoryPoolMXBeans().stream()
                .filter(pool -> pool.getType() == MemoryType.HEAP)
                .mapToLong(pool -> pool.getPeakUsage().getUsed())
                .sum();
    }

    private void count(String name, String what, LongSupplier count) {
        FunctionCounter.builder(name, count, LongSupplier::getAsLong)
                .description(what)
                .register(registry);
    }

    private static double unfinished(SemelRuntime semel) {
        Long count = semel.view(reads -> reads.countUnfinished());
        return count == null ? 0 : count;
    }

    private static double live(SemelRuntime semel) {
        WorkerStatus.WorkerOverview workers = semel.workerStatus().workers();
        return workers.all().stream()
                .filter(worker -> worker.leaseUntil() >= workers.now())
                .count();
    }

    private static double lag(SemelRuntime semel) {
        return semel.workerStatus().workers().dueLag() / 1e6;
    }

    private static double unsafe(SemelRuntime semel) {
        Durability durability = semel.workerStatus().durability();
        return durability == null || durability.safe() ? 0 : 1;
    }

    /** @param workspace adds the per-workflow metrics of this workspace only; null: of all workspaces */
    String scrape(@Nullable String workspace) {
        return registry.scrape() + meters.scrapeText(workspace);
    }

    @Override
    public void onResponse(String route, int status, long nanos) {
        timers.computeIfAbsent(new RouteStatus(route, status), this::timer).record(nanos, TimeUnit.NANOSECONDS);
    }

    private Timer timer(RouteStatus line) {
        return Timer.builder("semel_http_requests")
                .description("Requests by route and status")
                .tag("route", line.route())
                .tag("status", String.valueOf(line.status()))
                .register(registry);
    }

    @Override
    public void onError(String route, UUID instance, Throwable error) {
        LOG.log(Level.ERROR, "request " + instance + " to " + route + " failed with an internal error", error);
    }
}
