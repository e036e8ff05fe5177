package dev.semel.server.operations.system;

import dev.semel.runtime.SemelRuntime;
import dev.semel.runtime.WorkerStatus;
import dev.semel.server.http.TokenScope;
import dev.semel.server.operations.Operation;
import dev.semel.server.operations.OperationRouter;
import dev.semel.server.query.view.StoreTime;
import dev.semel.server.query.view.WorkerView;
import dev.semel.store.DatabaseRows;
import java.util.List;
import java.util.Locale;
import java.util.concurrent.TimeUnit;

/** Serves the list of workers of this store, with their leases and the execution lag. */
public record WorkerRoutes(SemelRuntime semel) {
    static final Operation<WorkerView.WorkerList> LIST = Operation.get("listWorkers", "/v1/workers", TokenScope.READ)
            .tag("Operate")
            .summary("List the workers of this store, oldest first")
            .description("Workers of all workspaces, because each worker serves all of them. One page.")
            .returns(
                    WorkerView.WorkerList.class,
                    "Each worker with a lease, including an expired one that was not taken over yet.");

    public static final List<Operation<?>> OPERATIONS = List.of(LIST);

    public void addTo(OperationRouter router) {
        router.add(LIST, _ -> list(semel.workerStatus().workers()));
    }

    private static WorkerView.WorkerList list(WorkerStatus.WorkerOverview workers) {
        return new WorkerView.WorkerList(
                workers.all().stream().map(worker -> view(worker, workers)).toList(),
                null,
                TimeUnit.MICROSECONDS.toMillis(workers.dueLag()));
    }

    private static WorkerView view(DatabaseRows.WorkerRow worker, WorkerStatus.WorkerOverview among) {
        return new WorkerView(
                worker.name(),
                String.format(Locale.ROOT, "wk_%016x", worker.lease()),
                worker.version().isEmpty() ? null : worker.version(),
                worker.leaseUntil() < among.now() ? WorkerView.Status.EXPIRED : WorkerView.Status.LIVE,
                worker.lease() == among.ownLease(),
                StoreTime.instant(worker.startedAt()),
                StoreTime.instantOrNull(worker.renewedAt()),
                StoreTime.instant(worker.leaseUntil()),
                worker.runs(),
                TimeUnit.MICROSECONDS.toMillis(worker.clockAhead()));
    }
}
