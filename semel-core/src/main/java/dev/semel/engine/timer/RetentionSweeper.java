package dev.semel.engine.timer;

import dev.semel.admission.RunDeduplicationKey;
import dev.semel.engine.EngineLimits;
import dev.semel.engine.RetentionPolicy;
import dev.semel.engine.commit.GroupCommitter;
import dev.semel.engine.commit.StoreQueryThreadPool;
import dev.semel.run.MicrosecondConverter;
import dev.semel.run.RunId;
import dev.semel.store.KeyedSignalStoreWriteCommand;
import dev.semel.store.MetricQueries;
import dev.semel.store.MetricUpdateCollector;
import dev.semel.store.ReplayPlanStoreWriteCommand;
import dev.semel.store.StoreQueries;
import dev.semel.store.StoreWriteCommand;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/** Order: keys; replies, signals, deliveries; events; runs. Runs well after expiry, so no response depends on it. */
final class RetentionSweeper {
    private static final int NAMES_AT_ONCE = 1_000;
    private static final int EVENTS_AT_ONCE = 512;
    private static final int RUNS_AT_ONCE = 256;
    private static final Duration PLANS = Duration.ofDays(30);
    private static final long BLANKED_AGAIN_NANOS = TimeUnit.HOURS.toNanos(6);
    private static final Duration FINE = MetricQueries.MINUTE_RESOLUTION;
    private static final Duration COUNTS = Duration.ofDays(400);
    private static final long REST_NANOS = TimeUnit.SECONDS.toNanos(30);

    private final GroupCommitter committer;
    private final StoreQueryThreadPool readers;
    private final EngineLimits limits;
    private final GroupCommitter.EngineDependencies dependencies;
    private @Nullable RunDeduplicationKey nameReached;
    private @Nullable RunId runReached;
    private @Nullable Integer workspaceReached;
    private long nextWalk = Long.MIN_VALUE;
    private volatile boolean moved;
    private long endedBefore;
    private long blankedBefore;
    private long eventsBefore;
    private boolean sweepingRuns;
    private boolean sweepingPayloads;
    private @Nullable RunId blankReached;
    private long nextBlanking = Long.MIN_VALUE;
    private boolean draining;
    private boolean found;

    RetentionSweeper(
            GroupCommitter committer,
            StoreQueryThreadPool readers,
            EngineLimits limits,
            GroupCommitter.EngineDependencies dependencies) {
        this.committer = committer;
        this.readers = readers;
        this.limits = limits;
        this.dependencies = dependencies;
        dependencies.environment().onClockJump(() -> moved = true);
    }

    /** Whether the last slice deleted something: then the next one probably does, too. */
    boolean removedSomething() {
        return found;
    }

    /** Sweeps one slice, if it is time. */
    void sweepSlice() {
        found = false;
        if (readers.readNullable(reads -> reads.clockJump()) != null) {
            return; // what looks old may be young
        }
        if (draining) {
            drain();
        } else if (workspaceReached != null) {
            events(workspaceReached);
        } else if (sweepingRuns) {
            runs();
        } else if (sweepingPayloads) {
            payloads();
        } else if (moved || nameReached != null || dependencies.environment().nanos() >= nextWalk) {
            names();
        }
    }

    private void names() {
        moved = false; // before the clock is read: a later clock jump starts another pass
        long now = readers.read(reads -> reads.now());
        StoreQueries.TombstonePage slice = readers.read(reads ->
                reads.tombstones(nameReached, NAMES_AT_ONCE, now - MicrosecondConverter.of(limits.tombstones())));
        if (!slice.found().isEmpty()) {
            change(new StoreWriteCommand.DeleteTombstones(slice.found()));
        }
        nameReached = slice.next();
        draining = nameReached == null;
    }

    /** Deletes a slice of each small table, until all are clean. */
    private void drain() {
        long now = readers.read(reads -> reads.now());
        int removed = 0;
        if (readers.read(reads -> reads.hasExpiredReply())) {
            removed += change(new StoreWriteCommand.DeleteExpiredReplies(NAMES_AT_ONCE));
        }
        removed += ticks(now);
        if (readers.read(reads -> reads.hasExpiredKeyedSignal())) {
            removed += change(new StoreWriteCommand.KeyedSignalCommand<>(
                    new KeyedSignalStoreWriteCommand.DeleteExpiredSignals(NAMES_AT_ONCE)));
        }
        // A plan may hold an edited input, which is a payload.
        long plans = now - Math.min(MicrosecondConverter.of(PLANS), MicrosecondConverter.of(limits.payloadRetention()));
        if (readers.read(reads -> reads.plans().hasPlansBefore(plans))) {
            removed += change(new StoreWriteCommand.ReplayPlanCommand<>(
                    new ReplayPlanStoreWriteCommand.DeleteOldPlans(plans, NAMES_AT_ONCE)));
        }
        if (readers.read(reads -> reads.hasExpiredDelivery())) {
            removed += change(new StoreWriteCommand.DeleteExpiredDeliveries(NAMES_AT_ONCE));
        }
        removed += forget(
                StoreWriteCommand.HistoryTable.REQUESTS, limits.retention().requests(), now);
        removed +=
                forget(StoreWriteCommand.HistoryTable.AUDIT, limits.retention().audit(), now);
        removed += figures(now);
        if (removed < NAMES_AT_ONCE) {
            draining = false;
            endedBefore = now - MicrosecondConverter.of(limits.finishedRuns());
            blankedBefore = now - MicrosecondConverter.of(limits.payloadRetention());
            eventsBefore = now - MicrosecondConverter.of(limits.retention().events());
            workspaceReached = readers.readNullable(reads -> reads.workspaceAfter(0));
            sweepingRuns = true;
        }
    }

    /** Deletes rows older than their retention; none if they have no own retention. */
    private int forget(StoreWriteCommand.HistoryTable memory, @Nullable Duration kept, long now) {
        return kept == null
                ? 0
                : change(new StoreWriteCommand.DeleteOldHistory(
                        memory, now - MicrosecondConverter.of(kept), NAMES_AT_ONCE));
    }

    /** Ticks are kept longer than their keys, so that a backfill always knows which ticks ran. */
    private int ticks(long now) {
        Duration least = RetentionPolicy.MIN_TICKS;
        Duration asLongAsRuns = limits.finishedRuns().compareTo(least) < 0 ? least : limits.finishedRuns();
        Duration kept = limits.retention().ticks() == null
                ? asLongAsRuns
                : limits.retention().ticks();
        long before = now - MicrosecondConverter.of(kept);
        boolean some = readers.read(reads -> reads.schedules().hasTicksBefore(before));
        return some ? change(new StoreWriteCommand.DeleteOldTicks(before, NAMES_AT_ONCE)) : 0;
    }

    /** Merges minute metrics into hours when their resolution expires; facts are kept as long as their runs. */
    private int figures(long now) {
        long hours = (now - MicrosecondConverter.of(FINE)) / MicrosecondConverter.of(Duration.ofHours(1));
        StoreWriteCommand.CompactMetrics tidy = new StoreWriteCommand.CompactMetrics(
                hours * 60,
                (now - MicrosecondConverter.of(COUNTS)) / MetricUpdateCollector.MICROS_PER_MINUTE,
                now - MicrosecondConverter.of(limits.finishedRuns()),
                NAMES_AT_ONCE);
        return readers.read(reads -> reads.metrics().needsCompaction(tidy)) ? change(tidy) : 0;
    }

    /** Deletes the oldest events of one workspace. After a full slice there may be more. */
    private void events(int ws) {
        List<StoreWriteCommand.ExpiredEvent> old =
                readers.read(reads -> reads.oldEvents(ws, eventsBefore, EVENTS_AT_ONCE));
        if (!old.isEmpty()) {
            change(new StoreWriteCommand.DeleteEvents(old));
        }
        if (old.size() < EVENTS_AT_ONCE) {
            workspaceReached = readers.readNullable(reads -> reads.workspaceAfter(ws));
        }
    }

    private void runs() {
        StoreQueries.OldLineages old = readers.read(reads -> reads.oldRuns(runReached, RUNS_AT_ONCE, endedBefore));
        if (!old.found().isEmpty()) {
            dependencies.counters().runsRemoved.add(change(new StoreWriteCommand.DeleteRuns(old.found(), endedBefore)));
        }
        runReached = old.next();
        if (runReached == null) {
            sweepingRuns = false;
            sweepingPayloads = limits.retention().payloads() != null;
            nextWalk = dependencies.environment().nanos() + REST_NANOS;
        }
    }

    /** Continues where the last pass stopped; restarts for payloads that a key or an effect still needed then. */
    private void payloads() {
        long nanos = dependencies.environment().nanos();
        if (nanos >= nextBlanking) {
            nextBlanking = nanos + BLANKED_AGAIN_NANOS;
            blankReached = null;
        }
        StoreQueries.OldLineages old = readers.read(reads -> reads.oldRuns(blankReached, RUNS_AT_ONCE, blankedBefore));
        if (!old.found().isEmpty()) {
            change(new StoreWriteCommand.ErasePayloads(old.found(), blankedBefore));
            blankReached = old.found().getLast();
        }
        if (old.next() == null) {
            sweepingPayloads = false;
        } else {
            blankReached = old.next();
        }
    }

    /** Applies one deletion. Rows that are still referenced do not count as progress. */
    private int change(StoreWriteCommand<Integer> edit) {
        int removed = committer.execute(edit);
        found |= removed > 0;
        return removed;
    }
}
