package dev.semel.server.operations.system;

import dev.semel.runtime.SemelRuntime;
import dev.semel.runtime.WorkerStatus;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.ServerHttpResponse;
import dev.semel.server.query.RunJsonRenderer;
import dev.semel.store.DatabaseRows;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import tools.jackson.databind.node.ObjectNode;

/** Serves the list of workers of this store, with their leases and the execution lag. */
public record WorkerRoutes(SemelRuntime semel) {
    public ServerHttpResponse list(ServerHttpRequest request) {
        WorkerStatus.WorkerOverview workers = semel.workerStatus().workers();
        ObjectNode out = RunJsonRenderer.pageJson(workers.all(), worker -> view(worker, workers), null);
        return RunJsonRenderer.ok(out.put("lag_ms", TimeUnit.MICROSECONDS.toMillis(workers.dueLag())));
    }

    private static ObjectNode view(DatabaseRows.WorkerRow worker, WorkerStatus.WorkerOverview among) {
        return RunJsonRenderer.newObject()
                .put("worker", worker.name())
                .put("worker_id", String.format(Locale.ROOT, "wk_%016x", worker.lease()))
                .put("version", worker.version().isEmpty() ? null : worker.version())
                .put("status", worker.leaseUntil() < among.now() ? "expired" : "live")
                .put("current", worker.lease() == among.ownLease())
                .put("started_at", RunJsonRenderer.formatTime(worker.startedAt()))
                .put("renewed_at", worker.renewedAt() == 0 ? null : RunJsonRenderer.formatTime(worker.renewedAt()))
                .put("lease_until", RunJsonRenderer.formatTime(worker.leaseUntil()))
                .put("runs", worker.runs())
                .put("clock_ahead_ms", TimeUnit.MICROSECONDS.toMillis(worker.clockAhead()));
    }
}
