package dev.semel;

import dev.semel.engine.EngineEnvironment;
import dev.semel.engine.EngineLimits;
import dev.semel.engine.RequestRecorder;
import dev.semel.engine.WorkflowCatalog;
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
public record SemelOptions(
        String store,
        String workerName,
        WorkflowCatalog.VersionCompiler compiler,
        RequestRecorder.RecordedRequestObserver requestObserver,
        EngineLimits limits,
        EngineEnvironment ambient,
        LongSupplier databaseClockSkew) {
    public static SemelOptions of(String store, WorkflowCatalog.VersionCompiler compiler) {
        return new SemelOptions(
                store,
                WorkerStatus.defaultWorkerName(),
                compiler,
                (_, _) -> {},
                EngineLimits.DEFAULT,
                EngineEnvironment.real(),
                () -> 0);
    }

    public SemelOptions withLimits(EngineLimits value) {
        return new SemelOptions(store, workerName, compiler, requestObserver, value, ambient, databaseClockSkew);
    }

    public SemelOptions withRequestObserver(RequestRecorder.RecordedRequestObserver value) {
        return new SemelOptions(store, workerName, compiler, value, limits, ambient, databaseClockSkew);
    }

    public SemelOptions withWorkerName(String value) {
        return new SemelOptions(store, value, compiler, requestObserver, limits, ambient, databaseClockSkew);
    }

    /** For tests: a manual clock, on either store. */
    public SemelOptions withClock(EngineEnvironment clock, LongSupplier databaseSkew) {
        return new SemelOptions(store, workerName, compiler, requestObserver, limits, clock, databaseSkew);
    }
}
