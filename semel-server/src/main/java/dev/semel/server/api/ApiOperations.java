package dev.semel.server.api;

import dev.semel.server.operations.OperationTable;

/** All declared operations of the API. */
public final class ApiOperations {
    public static final OperationTable TABLE = OperationTable.of(
            RunRoutes.OPERATIONS,
            DuplicateRequestRoutes.OPERATIONS,
            EffectLedgerRoutes.OPERATIONS,
            AuditRoutes.OPERATIONS);

    private ApiOperations() {}
}
