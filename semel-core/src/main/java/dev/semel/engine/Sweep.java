package dev.semel.engine;

import dev.semel.run.RunId;
import dev.semel.store.Counted;
import dev.semel.store.Edit;
import dev.semel.store.Figures;
import dev.semel.store.Letter;
import dev.semel.store.Name;
import dev.semel.store.Reads;
import dev.semel.store.Replay;
import dev.semel.store.Write;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Deletes data whose retention is over, one slice at a time: keys, then replies, signals and deliveries, then events,
 * then runs.
 * It runs well after expiry, so that no response depends on its timing.
 */
final class Sweep {
    private static final int NAMES_AT_ONCE = 1_000;
    private static final int EVENTS_AT_ONCE = 512;
    private static final int RUNS_AT_ONCE = 256;
    private static final Duration PLANS = Duration.ofDays(30);
    private static final long BLANKED_AGAIN_NANOS = TimeUnit.HOURS.toNanos(6);
    private static final Duration FINE = Figures.FINE;
    private static final Duration COUNTS = Duration.ofDays(400);
    private static final long REST_NANOS = TimeUnit.SECONDS.toNanos(30);

    private final Intake.Parts parts;
    private final Limits limits;
    private final Committer.Surroundings dependencies;
    private @Nullable Name nameReached;
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

    Sweep(Intake.Parts parts, Limits limits, Committer.Surroundings dependencies) {
        this.parts = parts;
        this.limits = limits;
        this.dependencies = dependencies;
        dependencies.ambient().onJump(() -> moved = true);
    }

    /** Whether the last slice deleted something: then the next one probably does, too. */
    boolean foundSomething() {
        return found;
    }

    /** Sweeps one slice, if it is time. */
    void step() {
        found = false;
        if (draining) {
            drain();
        } else if (workspaceReached != null) {
            events(workspaceReached);
        } else if (sweepingRuns) {
            runs();
        } else if (sweepingPayloads) {
            payloads();
        } else if (moved || nameReached != null || dependencies.ambient().nanos() >= nextWalk) {
            names();
        }
    }

    private void names() {
        moved = false; // before the clock is read: a later clock jump starts another pass
        long now = parts.readers().ask(reads -> reads.now());
        Reads.Slice slice = parts.readers()
                .ask(reads -> reads.tombstones(nameReached, NAMES_AT_ONCE, now - micros(limits.tombstones())));
        if (!slice.found().isEmpty()) {
            change(new Edit.DeleteNames(slice.found()));
        }
        nameReached = slice.next();
        draining = nameReached == null;
    }

    /** Deletes a slice of each small table, until all are clean. */
    private void drain() {
        long now = parts.readers().ask(reads -> reads.now());
        int removed = 0;
        if (parts.readers().ask(reads -> reads.expiredReply())) {
            removed += change(new Edit.DeleteReplies(NAMES_AT_ONCE));
        }
        removed += ticks(now);
        if (parts.readers().ask(reads -> reads.expiredLetter())) {
            removed += change(new Edit.Mail<>(new Letter.Delete(NAMES_AT_ONCE)));
        }
        // A plan may hold an edited input, which is a payload.
        long plans = now - Math.min(micros(PLANS), micros(limits.payloads()));
        if (parts.readers().ask(reads -> reads.plans().hasPlansBefore(plans))) {
            removed += change(new Edit.Replaying<>(new Replay.Delete(plans, NAMES_AT_ONCE)));
        }
        if (parts.readers().ask(reads -> reads.expiredDelivery())) {
            removed += change(new Edit.DeleteDeliveries(NAMES_AT_ONCE));
        }
        removed += forget(Edit.Memory.REQUESTS, limits.keeping().requests(), now);
        removed += forget(Edit.Memory.AUDIT, limits.keeping().audit(), now);
        removed += figures(now);
        if (removed < NAMES_AT_ONCE) {
            draining = false;
            endedBefore = now - micros(limits.finishedRuns());
            blankedBefore = now - micros(limits.payloads());
            eventsBefore = now - micros(limits.keeping().events());
            workspaceReached = parts.readers().maybe(reads -> reads.workspaceAfter(0));
            sweepingRuns = true;
        }
    }

    /** Deletes rows older than their retention; none if they have no own retention. */
    private int forget(Edit.Memory memory, @Nullable Duration kept, long now) {
        return kept == null ? 0 : change(new Edit.Forget(memory, now - micros(kept), NAMES_AT_ONCE));
    }

    /** Ticks are kept longer than their keys, so that a backfill always knows which ticks ran. */
    private int ticks(long now) {
        Duration least = Keeping.LEAST_TICKS;
        Duration asLongAsRuns = limits.finishedRuns().compareTo(least) < 0 ? least : limits.finishedRuns();
        Duration kept = limits.keeping().ticks() == null
                ? asLongAsRuns
                : limits.keeping().ticks();
        long before = now - micros(kept);
        boolean some = parts.readers().ask(reads -> reads.timetable().hasTicksBefore(before));
        return some ? change(new Edit.DeleteTicks(before, NAMES_AT_ONCE)) : 0;
    }

    /**
     * Merges metrics per minute into hours when their fine resolution expires; facts are kept as long as their runs.
     */
    private int figures(long now) {
        long hours = (now - micros(FINE)) / micros(Duration.ofHours(1));
        Edit.TidyFigures tidy = new Edit.TidyFigures(
                hours * 60,
                (now - micros(COUNTS)) / Counted.MINUTE,
                now - micros(limits.finishedRuns()),
                NAMES_AT_ONCE);
        return parts.readers().ask(reads -> reads.figures().isUntidy(tidy)) ? change(tidy) : 0;
    }

    /** Deletes the oldest events of one workspace. After a full slice there may be more. */
    private void events(int ws) {
        List<Edit.OldEvent> old = parts.readers().ask(reads -> reads.oldEvents(ws, eventsBefore, EVENTS_AT_ONCE));
        if (!old.isEmpty()) {
            change(new Edit.DeleteEvents(old));
        }
        if (old.size() < EVENTS_AT_ONCE) {
            workspaceReached = parts.readers().maybe(reads -> reads.workspaceAfter(ws));
        }
    }

    private void runs() {
        Reads.Old old = parts.readers().ask(reads -> reads.oldRuns(runReached, RUNS_AT_ONCE, endedBefore));
        if (!old.found().isEmpty()) {
            dependencies.counters().runsRemoved.add(change(new Edit.DeleteRuns(old.found(), endedBefore)));
        }
        runReached = old.next();
        if (runReached == null) {
            sweepingRuns = false;
            sweepingPayloads = limits.keeping().payloads() != null;
            nextWalk = dependencies.ambient().nanos() + REST_NANOS;
        }
    }

    /**
     * Blanks payloads, continuing where the last pass stopped.
     * It restarts periodically for payloads that a key or an effect still needed then.
     */
    private void payloads() {
        long nanos = dependencies.ambient().nanos();
        if (nanos >= nextBlanking) {
            nextBlanking = nanos + BLANKED_AGAIN_NANOS;
            blankReached = null;
        }
        Reads.Old old = parts.readers().ask(reads -> reads.oldRuns(blankReached, RUNS_AT_ONCE, blankedBefore));
        if (!old.found().isEmpty()) {
            change(new Edit.BlankRuns(old.found(), blankedBefore));
            blankReached = old.found().getLast();
        }
        if (old.next() == null) {
            sweepingPayloads = false;
        } else {
            blankReached = old.next();
        }
    }

    private static long micros(Duration duration) {
        return duration.toNanos() / 1_000;
    }

    /** Applies one deletion. Rows that are still referenced do not count as progress. */
    private int change(Edit<Integer> edit) {
        int removed = parts.committer().submit(0, new Write.Change<>(edit)).join();
        found |= removed > 0;
        return removed;
    }
}
