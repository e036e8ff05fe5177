package dev.semel.engine;

import dev.semel.json.SizeLimits;
import java.time.Duration;

/** Size, count and time limits of the engine; the sizes are in {@link SizeLimits}. Callers choose those of the record; the others are fixed. */
public record EngineLimits(
        int queuedTriggers,
        Duration lease,
        int activeRuns,
        Duration tombstones,
        Duration finishedRuns,
        RetentionPolicy retention,
        RunSizeLimits runSize) {
    public static final EngineLimits DEFAULT = new EngineLimits(
            10_000,
            Duration.ofSeconds(10),
            10_000,
            Duration.ofDays(7),
            Duration.ofDays(90),
            RetentionPolicy.DEFAULT,
            RunSizeLimits.DEFAULT);

    public int batchWrites() {
        return 512;
    }

    public int batchBytes() {
        return SizeLimits.DEFAULT.commitBatch();
    }

    public Duration writeDeadline() {
        return Duration.ofSeconds(5);
    }

    public int stepResultBytes() {
        return SizeLimits.DEFAULT.stepResult();
    }

    public int bufferedEntries() {
        return 16;
    }

    public int bufferedBytes() {
        return SizeLimits.DEFAULT.bufferedResults();
    }

    public Duration requestFlush() {
        return Duration.ofMillis(250);
    }

    /** A run is held if its worker died this often while it was the only run on trial. */
    public int maxCrashesAlone() {
        return 2;
    }

    /** How long after its end the payloads of a run are kept, at most as long as the run itself. */
    public Duration payloadRetention() {
        Duration payloads = retention.payloads();
        return payloads == null || payloads.compareTo(finishedRuns) > 0 ? finishedRuns : payloads;
    }

    public int outputBytes() {
        return SizeLimits.DEFAULT.runOutput();
    }

    public EngineLimits withLease(Duration value) {
        return new EngineLimits(queuedTriggers, value, activeRuns, tombstones, finishedRuns, retention, runSize);
    }

    public EngineLimits withTombstones(Duration value) {
        return new EngineLimits(queuedTriggers, lease, activeRuns, value, finishedRuns, retention, runSize);
    }

    /** How long a run is kept after its end. A key that refers to it keeps it longer. */
    public EngineLimits withFinishedRuns(Duration value) {
        return new EngineLimits(queuedTriggers, lease, activeRuns, tombstones, value, retention, runSize);
    }

    public EngineLimits withRetention(RetentionPolicy value) {
        return new EngineLimits(queuedTriggers, lease, activeRuns, tombstones, finishedRuns, value, runSize);
    }

    public EngineLimits withQueuedTriggers(int value) {
        return new EngineLimits(value, lease, activeRuns, tombstones, finishedRuns, retention, runSize);
    }

    public EngineLimits withActiveRuns(int value) {
        return new EngineLimits(queuedTriggers, lease, value, tombstones, finishedRuns, retention, runSize);
    }

    public EngineLimits withRunSize(RunSizeLimits value) {
        return new EngineLimits(queuedTriggers, lease, activeRuns, tombstones, finishedRuns, retention, value);
    }
}
