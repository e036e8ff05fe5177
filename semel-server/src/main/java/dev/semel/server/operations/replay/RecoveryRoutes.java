package dev.semel.server.operations.replay;

import dev.semel.runtime.SemelRuntime;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.TokenScope;
import dev.semel.server.operations.Operation;
import dev.semel.server.operations.OperationRouter;
import dev.semel.server.query.StoreReader;
import dev.semel.server.query.view.RecoveryView;
import dev.semel.server.query.view.StoreTime;
import dev.semel.store.DatabaseRows;
import java.util.List;
import java.util.concurrent.TimeUnit;

/** Serves `/v1/recovery`: the runs with an unknown outcome that are safe to send again, and how long. */
public record RecoveryRoutes(SemelRuntime semel) {
    private static final long HOUR = TimeUnit.HOURS.toMicros(1);
    private static final long DAY = TimeUnit.DAYS.toMicros(1);

    static final Operation<RecoveryView> SHOW = Operation.get("getRecovery", "/v1/recovery", TokenScope.READ)
            .tag("Monitoring")
            .summary("Get the runs that are safe to send again, and how long")
            .description(
                    "An effect of these runs has an unknown outcome. As long as the provider remembers the key, Semel"
                            + " can send the effect again with the same key.")
            .returns(RecoveryView.class, "The counts in total and by workflow, soonest first.");

    public static final List<Operation<?>> OPERATIONS = List.of(SHOW);

    public void addTo(OperationRouter router) {
        router.add(SHOW, this::show);
    }

    private record Losses(long now, List<DatabaseRows.ResendLoss> byWorkflow) {}

    private RecoveryView show(ServerHttpRequest request) {
        int ws = request.principal().workspace();
        Losses losses = StoreReader.read(semel, reads -> {
            long now = reads.now();
            return new Losses(now, reads.resendLosses(ws, now + HOUR, now + DAY));
        });
        List<DatabaseRows.ResendLoss> all = losses.byWorkflow();
        return new RecoveryView(
                StoreTime.instant(losses.now()),
                all.stream().mapToLong(DatabaseRows.ResendLoss::runs).sum(),
                all.stream().mapToLong(DatabaseRows.ResendLoss::inHour).sum(),
                all.stream().mapToLong(DatabaseRows.ResendLoss::inDay).sum(),
                all.isEmpty() ? null : StoreTime.instantOrNull(all.getFirst().soonest()),
                all.stream().map(one -> view(ws, one)).toList());
    }

    private RecoveryView.WorkflowRecoveryView view(int ws, DatabaseRows.ResendLoss loss) {
        DatabaseRows.WorkflowRow workflow = semel.view(reads -> reads.workflow(ws, loss.workflowId()));
        return new RecoveryView.WorkflowRecoveryView(
                loss.workflowId(),
                workflow == null ? null : workflow.name(),
                loss.runs(),
                loss.inHour(),
                loss.inDay(),
                StoreTime.instant(loss.soonest()));
    }
}
