package dev.semel.runtime;

import dev.semel.engine.ClockAndRandomSource;
import dev.semel.engine.EngineLimits;
import dev.semel.engine.admission.DuplicateRequestRecorder;
import dev.semel.engine.run.WorkflowCatalog;
import java.util.function.LongSupplier;

/**
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
        DuplicateRequestRecorder.RecordedRequestObserver requestObserver,
        EngineLimits limits,
        ClockAndRandomSource ambient,
        LongSupplier databaseClockSkew) {
    public static RuntimeOptions of(String store, WorkflowCatalog.VersionCompiler compiler) {
        return new RuntimeOptions(
                store,
                WorkerStatus.defaultWorkerName(),
                compiler,
                (_, _) -> {},
                EngineLimits.DEFAULT,
                ClockAndRandomSource.real(),
                () -> 0);
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

    public RuntimeOptions withRequestObserver(DuplicateRequestRecorder.RecordedRequestObserver value) {
        return new RuntimeOptions(store, workerName, compiler, value, limits, ambient, databaseClockSkew);
    }

    public RuntimeOptions withWorkerName(String value) {
        return new RuntimeOptions(store, value, compiler, requestObserver, limits, ambient, databaseClockSkew);
    }

    /** For tests: a manual clock, on either store. */
    public RuntimeOptions withClock(ClockAndRandomSource clock, LongSupplier databaseSkew) {
        return new RuntimeOptions(store, workerName, compiler, requestObserver, limits, clock, databaseSkew);
    }
}
