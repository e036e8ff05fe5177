package dev.semel.server.api;

import dev.semel.server.operations.OperationTable;
import dev.semel.server.operations.access.AuditRoutes;
import dev.semel.server.operations.idempotency.DuplicateRequestRoutes;
import dev.semel.server.operations.idempotency.EffectLedgerRoutes;
import dev.semel.server.operations.idempotency.IdempotencyKeyRoutes;
import dev.semel.server.operations.replay.RecoveryRoutes;
import dev.semel.server.operations.run.RunRoutes;
import dev.semel.server.operations.system.ClockRoutes;
import dev.semel.server.operations.system.WorkerRoutes;
import dev.semel.server.operations.system.WorkspaceRoutes;

/** All declared operations of the API. */
public final class ApiOperations {
    public static final OperationTable TABLE = OperationTable.of(
            RunRoutes.OPERATIONS,
            DuplicateRequestRoutes.OPERATIONS,
            IdempotencyKeyRoutes.OPERATIONS,
            EffectLedgerRoutes.OPERATIONS,
            AuditRoutes.OPERATIONS,
            RecoveryRoutes.OPERATIONS,
            WorkerRoutes.OPERATIONS,
            WorkspaceRoutes.OPERATIONS,
            ClockRoutes.OPERATIONS);

    private ApiOperations() {}
}
