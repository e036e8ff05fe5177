package dev.semel.server.operations.system;

import dev.semel.runtime.SemelRuntime;
import dev.semel.runtime.WorkerStatus;
import dev.semel.server.http.ServerHttpRequestObserver;
import dev.semel.server.query.StoreReader;
import dev.semel.store.WorkflowStore;
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
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Exposes counters, gauges and request timers in Prometheus format. No label value comes from a caller. */
public final class PrometheusMetrics implements ServerHttpRequestObserver {
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
        count("semel_triggers_fresh", "Triggers that started a run", "fresh");
        count("semel_triggers_replayed", "Duplicates answered with the original run", "replayed");
        count(
                "semel_triggers_payload_mismatch",
                "Duplicates answered with the original run although the payload differed",
                "mismatched");
        count(
                "semel_triggers_conflict",
                "Triggers rejected because their key belongs to a different action",
                "conflicts");
        count(
                "semel_triggers_duplicate_payload",
                "Triggers rejected because the same payload had started a run under another key",
                "duplicatePayloads");
        count("semel_triggers_expired_key", "Triggers with a key whose window had expired", "expiredKeyRetries");
        count("semel_triggers_unkeyed", "Runs started without a key", "unkeyed");
        count("semel_triggers_overload", "Triggers rejected because the trigger queue was full", "overload");
        count("semel_runs_completed", "Runs that completed on this worker", "completed");
        count("semel_runs_failed", "Runs that failed on this worker", "failed");
        count("semel_runs_recovered", "Runs continued after a crash or from the queue", "recovered");
        count("semel_store_batches", "Transactions committed", "batches");
        count("semel_store_writes", "Writes committed", "writes");
        count("semel_store_failures", "Batches of store writes that were retried after a failure", "storeFailures");
        count(
                "semel_store_unknown_commits",
                "Commits whose outcome was unknown because the response was lost",
                "unknownCommits");
        count("semel_store_poisoned_writes", "Writes that the store rejected individually", "poisonedWrites");
        count(
                "semel_store_fenced_batches",
                "Batches of store writes that were rejected because the worker lost its lease",
                "fencedBatches");
        count("semel_lease_takeovers", "Leases taken over from dead workers", "takeovers");
        gauges(semel);
    }

    private void gauges(SemelRuntime semel) {
        gauge("semel_runs_unfinished", "Runs that have not ended, in all workspaces", () -> unfinished(semel));
        gauge("semel_workers_live", "Workers with a valid lease", () -> live(semel));
        gauge("semel_runs_lag_seconds", "Delay of the oldest due run that no worker executes", () -> lag(semel));
        gauge(
                "semel_store_unsafe",
                "1 if the database settings allow a crash to lose an accepted trigger",
                () -> unsafe(semel));
        gauge(
                "semel_heap_peak_bytes",
                "Peak heap usage since the start, summed over the memory pools",
                PrometheusMetrics::heapPeak);
    }

    private void gauge(String name, String what, Supplier<Number> value) {
        Gauge.builder(name, value).description(what).register(registry);
    }

    /** Pools peak at different moments, so this is an upper bound. */
    private static double heapPeak() {
        return ManagementFactory.getMemoryPoolMXBeans().stream()
                .filter(pool -> pool.getType() == MemoryType.HEAP)
                .mapToLong(pool -> pool.getPeakUsage().getUsed())
                .sum();
    }

    /** @param count the key of the counter in {@link SemelRuntime#counts} */
    private void count(String name, String what, String count) {
        LongSupplier counter = Objects.requireNonNull(counts.get(count));
        FunctionCounter.builder(name, counter, LongSupplier::getAsLong)
                .description(what)
                .register(registry);
    }

    private static double unfinished(SemelRuntime semel) {
        return StoreReader.read(semel, reads -> reads.countUnfinished());
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
        WorkflowStore.Durability durability = semel.workerStatus().durability();
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
