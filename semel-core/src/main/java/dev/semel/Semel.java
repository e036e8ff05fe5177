package dev.semel;

import dev.semel.workflow.Key;
import dev.semel.workflow.Signal;
import dev.semel.workflow.Start;
import dev.semel.workflow.Workflow;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import javax.sql.DataSource;
import org.jspecify.annotations.Nullable;

/**
 * A Semel engine in this process: registers workflows, starts and finds runs, and executes them on its store.
 * Open one with {@link #sqlite} or {@link #postgres}, and close it when the process ends.
 */
public interface Semel extends AutoCloseable {
    /** Options for Semel on a SQLite file. Semel creates the file if it does not exist; one process can open it. */
    static SemelOptions sqlite(Path file) {
        return SemelOptions.sqlite(file);
    }

    /**
     * Options for Semel in the application's own PostgreSQL database, for any number of workers. {@code tx} steps write
     * the application's tables and the record of the step in one commit. Semel keeps about a dozen connections of this
     * data source for itself, so do not pass a shared pool.
     */
    static SemelOptions postgres(DataSource source) {
        return SemelOptions.postgres(source);
    }

    /** Registers and publishes workflows: this process then admits their triggers and executes their runs. */
    Semel register(Workflow<?, ?>... workflows);

    /** Starts a run with the key that the workflow derives; without {@code keyedBy} each call starts a new run. */
    <I, O extends @Nullable Object> Run<O> start(Workflow<I, O> workflow, I input);

    /** Starts a run. A repeated start with the same key or run id returns the existing run. */
    <I, O extends @Nullable Object> Run<O> start(Workflow<I, O> workflow, I input, Start start);

    /** Finds a run of this workflow by its id. */
    <I, O extends @Nullable Object> Run<O> run(Workflow<I, O> workflow, String runId);

    /** Sends a keyed signal; each call sends a new one. See {@link #signal(Signal, Object, Key)}. */
    <T> List<String> signal(Signal<T> signal, T value);

    /**
     * Sends a signal to every run that waits for it {@linkplain Signal#withKey with this key}. If no run waits, Semel
     * stores the signal for 7 days and the first run that waits receives it.
     *
     * @param once the sender's id of the signal: runs receive signals with the same id once within 7 days
     * @return ids of the runs that received the signal so far; empty while Semel only stores it
     */
    <T> List<String> signal(Signal<T> signal, T value, Key once);

    /** Makes an operation of the application idempotent, without a workflow. */
    IdempotentCall idempotent(String operation);

    /** Whether this worker can execute runs now. */
    Health health();

    /**
     * Confirms the clock of this machine after a jump that {@link #health} reports as a warning. On SQLite Semel deletes
     * nothing and lets no key expire after a jump, until this call or until the clock has run evenly for an hour.
     */
    void confirmClock();

    /** Closes with a grace period of 10 seconds. */
    @Override
    void close();

    /**
     * Stops admitting triggers, commits pending writes and gives up the lease. Another worker or the next start
     * continues unfinished runs.
     *
     * @param grace time that runs get to finish their current step
     */
    void close(Duration grace);
}
