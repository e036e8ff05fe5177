package dev.semel.server.api;

import dev.semel.Semel;
import dev.semel.Standing;
import dev.semel.server.http.Answer;
import dev.semel.server.http.Request;
import dev.semel.store.Rows;
import java.util.Locale;
import java.util.concurrent.TimeUnit;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Serves the list of workers of this store, with their leases and the execution lag. */
final class Workers {
    private final Semel semel;

    Workers(Semel semel) {
        this.semel = semel;
    }

    Answer list(Request request) {
        Standing.Workers workers = semel.standing().workers();
        ObjectNode out = Views.object();
        ArrayNode items = out.putArray("items");
        workers.all().forEach(worker -> items.add(view(worker, workers)));
        out.putNull("next");
        out.put("lag_ms", TimeUnit.MICROSECONDS.toMillis(workers.lag()));
        return Views.ok(out);
    }

    private static ObjectNode view(Rows.Worker worker, Standing.Workers among) {
        return Views.object()
                .put("worker", worker.name())
                .put("worker_id", String.format(Locale.ROOT, "wk_%016x", worker.lease()))
                .put("version", worker.version().isEmpty() ? null : worker.version())
                .put("status", worker.until() < among.now() ? "expired" : "live")
                .put("here", worker.lease() == among.here())
                .put("started_at", Views.time(worker.startedAt()))
                .put("renewed_at", worker.renewedAt() == 0 ? null : Views.time(worker.renewedAt()))
                .put("lease_until", Views.time(worker.until()))
                .put("runs", worker.runs())
                .put("clock_ahead_ms", TimeUnit.MICROSECONDS.toMillis(worker.ahead()));
    }
}
