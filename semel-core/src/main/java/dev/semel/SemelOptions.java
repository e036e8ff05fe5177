package dev.semel;

import dev.semel.engine.EngineLimits;
import dev.semel.runtime.RuntimeOptions;
import dev.semel.runtime.SemelRuntime;
import dev.semel.runtime.StoreFactory;
import dev.semel.store.WorkflowStore;
import java.nio.file.Path;
import java.time.Duration;
import java.util.function.UnaryOperator;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/** Options for opening Semel; {@link #open} opens it. */
public final class SemelOptions {
    private final StoreOpener opener;
    private final boolean hasSchemas;
    private RuntimeOptions options = RuntimeOptions.javaOnly();
    private @Nullable String schema;

    @FunctionalInterface
    private interface StoreOpener {
        WorkflowStore open(RuntimeOptions options, @Nullable String schema);
    }

    private SemelOptions(StoreOpener opener, boolean hasSchemas) {
        this.opener = opener;
        this.hasSchemas = hasSchemas;
    }

    static SemelOptions sqlite(Path file) {
        return new SemelOptions((options, _) -> StoreFactory.sqlite(file, options), false);
    }

    static SemelOptions postgres(DataSource source) {
        return new SemelOptions((options, schema) -> StoreFactory.postgres(source, schema, options), true);
    }

    /**
     * The PostgreSQL schema of Semel's tables; Semel creates it if it does not exist. Default: the connection's own
     * default schema.
     */
    public SemelOptions schema(String name) {
        if (!hasSchemas) {
            throw new IllegalArgumentException("SQLite has no schemas. Remove schema(…), or use Semel.postgres(…)");
        }
        if (name.isBlank() || name.indexOf('\0') >= 0) {
            throw new IllegalArgumentException("the name of the schema is empty or contains a NUL character");
        }
        schema = name;
        return this;
    }

    /** The display name of this worker. Default: process id and host name. */
    public SemelOptions workerName(String name) {
        options = options.withWorkerName(name);
        return this;
    }

    /** Maximum number of runs that this worker executes at the same time. Default: 10,000. */
    public SemelOptions maxActiveRuns(int runs) {
        if (runs < 1) {
            throw new IllegalArgumentException("maxActiveRuns must be at least 1, not " + runs);
        }
        return limits(limits -> limits.withActiveRuns(runs));
    }

    /** Maximum number of recorded steps of a run; a run with more fails as `run-too-large`. Default: 100,000. */
    public SemelOptions maxRunSteps(int steps) {
        return limits(limits -> limits.withRunSize(limits.runSize().withSteps(steps)));
    }

    /** Maximum size of the journal of a run; a run with more fails as `run-too-large`. Default: 64 MiB. */
    public SemelOptions maxRunJournal(long bytes) {
        return limits(limits -> limits.withRunSize(limits.runSize().withJournalBytes(bytes)));
    }

    /**
     * Estimated memory of the runs that this worker executes at the same time; further runs stay queued in the store.
     * Default: a quarter of the heap.
     */
    public SemelOptions maxActiveRunBytes(long bytes) {
        return limits(limits -> limits.withRunSize(limits.runSize().withActiveBytes(bytes)));
    }

    /** How long Semel keeps a run after its end. Default: 90 days. */
    public SemelOptions retention(Duration finishedRuns) {
        if (finishedRuns.isNegative() || finishedRuns.isZero()) {
            throw new IllegalArgumentException("the retention must be positive, not " + finishedRuns);
        }
        return limits(limits -> limits.withFinishedRuns(finishedRuns));
    }

    private SemelOptions limits(UnaryOperator<EngineLimits> change) {
        options = options.withLimits(change.apply(options.limits()));
        return this;
    }

    /** Opens the store, creates or migrates its tables, and resumes runs that no worker owns. */
    public Semel open() {
        return SemelRuntime.open(opener.open(options, schema), options);
    }
}
