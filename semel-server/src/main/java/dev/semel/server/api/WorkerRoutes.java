package dev.semel.server.api;

import dev.semel.runtime.SemelRuntime;
import dev.semel.runtime.WorkerStatus;
import dev.semel.server.http.HttpResponse;
import dev.semel.server.http.HttpRequest;
import dev.semel.store.StoredRows;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Serves the list of workers of this store, with their leases and the execution lag. */
final class WorkerRoutes {
    private final SemelRuntime semel;

    WorkerRoutes(SemelRuntime semel) {
        this.semel = semel;
    }

    HttpResponse list(HttpRequest request) {
        WorkerStatus.WorkerOverview workers = semel.workerStatus().workers();
        ObjectNode out = JsonViews.newObject();
        ArrayNode items = out.putArray("items");
        workers.all().forEach(worker -> items.add(view(worker, workers)));
        out.putNull("next");
        out.put("lag_ms", TimeUnit.MICROSECONDS.toMillis(workers.dueLag()));
        return JsonViews.ok(out);
    }

    private static ObjectNode view(StoredRows.WorkerRow worker, WorkerStatus.WorkerOverview among) {
        return JsonViews.newObject()
                .put("worker", worker.name())
                .put("worker_id", String.format(Locale.ROOT, "wk_%016x", worker.lease()))
                .put("version", worker.version().isEmpty() ? null : worker.version())
                .put("status", worker.leaseUntil() < among.now() ? "expired" : "live")
                .put("here", worker.lease() == among.ownLease())
                .put("started_at", JsonViews.formatTime(worker.startedAt()))
                .put("renewed_at", worker.renewedAt() == 0 ? null : JsonViews.formatTime(worker.renewedAt()))
                .put("lease_until", JsonViews.formatTime(worker.leaseUntil()))
                .put("runs", worker.runs())
                .put("clock_ahead_ms", TimeUnit.MICROSECONDS.toMillis(worker.clockAhead()));
    }
}
