package dev.semel.engine;

import java.time.Duration;

/** Every bound of the engine, in one place. */
public record Limits(
        int queuedTriggers,
        int batchWrites,
        int batchBytes,
        Duration writeDeadline,
        Duration lease,
        int residentRuns,
        int stepResultBytes,
        int bufferedEntries,
        int bufferedBytes,
        Duration requestFlush,
        Duration tombstones,
        Duration finishedRuns,
        Keeping keeping) {
    public static final Limits DEFAULT = new Limits(
            10_000,
            512,
            4 * 1024 * 1024,
            Duration.ofSeconds(5),
            Duration.ofSeconds(10),
            10_000,
            256 * 1024,
            16,
            256 * 1024,
            Duration.ofMillis(250),
            Duration.ofDays(7),
            Duration.ofDays(90),
            Keeping.DEFAULT);

    /** So often in a row may a worker die with a run before the run is held. */
    public int mostFalls() {
        return 5;
    }

    /** Whether what a run was told and what it made may be gone, by how long ago it ended. */
    public Duration payloads() {
        Duration payloads = keeping.payloads();
        return payloads == null || payloads.compareTo(finishedRuns) > 0 ? finishedRuns : payloads;
    }

    /** Of what a run returns in the end. */
    public int outputBytes() {
        return 1024 * 1024;
    }

    public Limits withLease(Duration value) {
        return new Limits(
                queuedTriggers,
                batchWrites,
                batchBytes,
                writeDeadline,
                value,
                residentRuns,
                stepResultBytes,
                bufferedEntries,
                bufferedBytes,
                requestFlush,
                tombstones,
                finishedRuns,
                keeping);
    }

    public Limits withTombstones(Duration value) {
        return new Limits(
                queuedTriggers,
                batchWrites,
                batchBytes,
                writeDeadline,
                lease,
                residentRuns,
                stepResultBytes,
                bufferedEntries,
                bufferedBytes,
                requestFlush,
                value,
                finishedRuns,
                keeping);
    }

    /** How long a run is kept after its end; while a name stands for it it is kept for longer. */
    public Limits withFinishedRuns(Duration value) {
        return new Limits(
                queuedTriggers,
                batchWrites,
                batchBytes,
                writeDeadline,
                lease,
                residentRuns,
                stepResultBytes,
                bufferedEntries,
                bufferedBytes,
                requestFlush,
                tombstones,
                value,
                keeping);
    }

    public Limits withKeeping(Keeping value) {
        return new Limits(
                queuedTriggers,
                batchWrites,
                batchBytes,
                writeDeadline,
                lease,
                residentRuns,
                stepResultBytes,
                bufferedEntries,
                bufferedBytes,
                requestFlush,
                tombstones,
                finishedRuns,
                value);
    }

    public Limits withQueuedTriggers(int value) {
        return new Limits(
                value,
                batchWrites,
                batchBytes,
                writeDeadline,
                lease,
                residentRuns,
                stepResultBytes,
                bufferedEntries,
                bufferedBytes,
                requestFlush,
                tombstones,
                finishedRuns,
                keeping);
    }

    public Limits withResidentRuns(int value) {
        return new Limits(
                queuedTriggers,
                batchWrites,
                batchBytes,
                writeDeadline,
                lease,
                value,
                stepResultBytes,
                bufferedEntries,
                bufferedBytes,
                requestFlush,
                tombstones,
                finishedRuns,
                keeping);
    }
}
