package dev.semel.server.api;

import dev.semel.server.operations.OperationTable;
import dev.semel.server.operations.access.AuditRoutes;
import dev.semel.server.operations.idempotency.DuplicateRequestRoutes;
import dev.semel.server.operations.idempotency.EffectLedgerRoutes;
import dev.semel.server.operations.run.RunRoutes;

/** All declared operations of the API. */
public final class ApiOperations {
    public static final OperationTable TABLE = OperationTable.of(
            RunRoutes.OPERATIONS,
            DuplicateRequestRoutes.OPERATIONS,
            EffectLedgerRoutes.OPERATIONS,
            AuditRoutes.OPERATIONS);

    private ApiOperations() {}
}
