package dev.semel.engine;

import java.time.Duration;

/** Size, count and time limits of the engine. */
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

    /** Number of worker crashes in a row after which a run is held. */
    public int mostFalls() {
        return 5;
    }

    /** How long after its end the payloads of a run are kept, at most as long as the run itself. */
    public Duration payloads() {
        Duration payloads = keeping.payloads();
        return payloads == null || payloads.compareTo(finishedRuns) > 0 ? finishedRuns : payloads;
    }

    /** Limit of the output of a run. */
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

    /** How long a run is kept after its end. A key that refers to it keeps it longer. */
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
