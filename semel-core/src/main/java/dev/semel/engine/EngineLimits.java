package dev.semel.engine;

import java.time.Duration;

/** Size, count and time limits of the engine. */
public record EngineLimits(
        int queuedTriggers,
        int batchWrites,
        int batchBytes,
        Duration writeDeadline,
        Duration lease,
        int activeRuns,
        int stepResultBytes,
        int bufferedEntries,
        int bufferedBytes,
        Duration requestFlush,
        Duration tombstones,
        Duration finishedRuns,
        RetentionPolicy retention) {
    public static final EngineLimits DEFAULT = new EngineLimits(
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
            RetentionPolicy.DEFAULT);

    /** Number of worker crashes in a row after which a run is held. */
    public int maxCrashes() {
        return 5;
    }

    /** How long after its end the payloads of a run are kept, at most as long as the run itself. */
    public Duration payloadRetention() {
        Duration payloads = retention.payloads();
        return payloads == null || payloads.compareTo(finishedRuns) > 0 ? finishedRuns : payloads;
    }

    /** Limit of the output of a run. */
    public int outputBytes() {
        return 1024 * 1024;
    }

    public EngineLimits withLease(Duration value) {
        return new EngineLimits(
                queuedTriggers,
                batchWrites,
                batchBytes,
                writeDeadline,
                value,
                activeRuns,
                stepResultBytes,
                bufferedEntries,
                bufferedBytes,
                requestFlush,
                tombstones,
                finishedRuns,
                retention);
    }

    public EngineLimits withTombstones(Duration value) {
        return new EngineLimits(
                queuedTriggers,
                batchWrites,
                batchBytes,
                writeDeadline,
                lease,
                activeRuns,
                stepResultBytes,
                bufferedEntries,
                bufferedBytes,
                requestFlush,
                value,
                finishedRuns,
                retention);
    }

    /** How long a run is kept after its end. A key that refers to it keeps it longer. */
    public EngineLimits withFinishedRuns(Duration value) {
        return new EngineLimits(
                queuedTriggers,
                batchWrites,
                batchBytes,
                writeDeadline,
                lease,
                activeRuns,
                stepResultBytes,
                bufferedEntries,
                bufferedBytes,
                requestFlush,
                tombstones,
                value,
                retention);
    }

    public EngineLimits withRetention(RetentionPolicy value) {
        return new EngineLimits(
                queuedTriggers,
                batchWrites,
                batchBytes,
                writeDeadline,
                lease,
                activeRuns,
                stepResultBytes,
                bufferedEntries,
                bufferedBytes,
                requestFlush,
                tombstones,
                finishedRuns,
                value);
    }

    public EngineLimits withQueuedTriggers(int value) {
        return new EngineLimits(
                value,
                batchWrites,
                batchBytes,
                writeDeadline,
                lease,
                activeRuns,
                stepResultBytes,
                bufferedEntries,
                bufferedBytes,
                requestFlush,
                tombstones,
                finishedRuns,
                retention);
    }

    public EngineLimits withActiveRuns(int value) {
        return new EngineLimits(
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
                retention);
    }
}
