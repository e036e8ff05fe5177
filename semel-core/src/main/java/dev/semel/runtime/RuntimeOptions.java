package dev.semel.runtime;

import dev.semel.engine.EngineEnvironment;
import dev.semel.engine.WorkflowCatalog;
import dev.semel.engine.EngineLimits;
import dev.semel.engine.RequestRecorder;
import java.util.function.LongSupplier;

/**
 * Options for opening Semel: its store, worker name, limits and clock.
 *
 * @param store URL of the store: `sqlite:FILE` or `jdbc:postgresql://…`
 * @param workerName display name of this worker; its lease has a separate id
 * @param compiler compiles stored workflow versions that are not written in Java
 * @param requestObserver notified of every replayed or conflicting request once its row is durable
 * @param ambient clock, ids and randomness; tests replace it
 * @param databaseClockSkew microseconds added to the database's clock; 0 except in tests
 */
public record RuntimeOptions(
        String store,
        String workerName,
        WorkflowCatalog.VersionCompiler compiler,
        RequestRecorder.RecordedRequestObserver requestObserver,
        EngineLimits limits,
        EngineEnvironment ambient,
        LongSupplier databaseClockSkew) {
    public static RuntimeOptions of(String store, WorkflowCatalog.VersionCompiler compiler) {
        return new RuntimeOptions(
                store, WorkerStatus.defaultWorkerName(), compiler, (_, _) -> {}, EngineLimits.DEFAULT, EngineEnvironment.real(), () -> 0);
    }

    /** Options for a store that is passed separately, and workflows in Java only. */
    public static RuntimeOptions javaOnly() {
        return of("", version -> {
            throw new WorkflowCatalog.WorkflowNotRegistered(version.name(), version.workflowId());
        });
    }

    public RuntimeOptions withLimits(EngineLimits value) {
        return new RuntimeOptions(store, workerName, compiler, requestObserver, value, ambient, databaseClockSkew);
    }

    public RuntimeOptions withRequestObserver(RequestRecorder.RecordedRequestObserver value) {
        return new RuntimeOptions(store, workerName, compiler, value, limits, ambient, databaseClockSkew);
    }

    public RuntimeOptions withWorkerName(String value) {
        return new RuntimeOptions(store, value, compiler, requestObserver, limits, ambient, databaseClockSkew);
    }

    /** For tests: a manual clock, on either store. */
    public RuntimeOptions withClock(EngineEnvironment clock, LongSupplier databaseSkew) {
        return new RuntimeOptions(store, workerName, compiler, requestObserver, limits, clock, databaseSkew);
    }
}
