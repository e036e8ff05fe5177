package dev.semel.engine.timer;

import dev.semel.admission.RunDeduplicationKey;
import dev.semel.admission.RunDeduplicationKeyRecord;
import dev.semel.admission.TriggerDeduplicationKeyDerivation;
import dev.semel.admission.TriggerResult;
import dev.semel.definition.WorkflowCatalogEntry;
import dev.semel.engine.ClockAndRandomSource;
import dev.semel.engine.commit.BackgroundLoopWaker;
import dev.semel.engine.commit.GroupCommitter;
import dev.semel.engine.commit.StoreQueryThreadPool;
import dev.semel.engine.run.WorkflowCatalog;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.run.MicrosecondConverter;
import dev.semel.run.RunId;
import dev.semel.schedule.Schedule;
import dev.semel.schedule.ScheduleTickOutcome;
import dev.semel.store.DatabaseRows;
import dev.semel.store.ScheduleQueries;
import dev.semel.store.StoreFailure;
import dev.semel.store.StoreWrite;
import dev.semel.store.StoreWriteCommand;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.Set;
import java.util.concurrent.CompletionException;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * By the clock of the store. Each tick is admitted under its own key and then recorded with the next tick: after a
 * crash in between it fires again and finds its run. Workers take due schedules for a limited time.
 */
public final class ScheduleTicker implements AutoCloseable {
    private static final Logger LOG = System.getLogger(ScheduleTicker.class.getName());
    private static final int AT_ONCE = 500;
    /** Shorter than the allowed delay of a tick: after a crash another worker still fires it on time. */
    private static final long TAKEN_MICROS = TimeUnit.SECONDS.toMicros(6);

    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

    private final GroupCommitter committer;
    private final StoreQueryThreadPool readers;
    private final ScheduleTickAdmission admission;
    private final WorkflowCatalog catalog;
    private final GroupCommitter.EngineDependencies dependencies;
    private final WorkflowScheduleSynchronizer synchronizer;
    private final Set<String> unknown = ConcurrentHashMap.newKeySet();
    private final Set<String> unreadable = ConcurrentHashMap.newKeySet();
    private final ScheduleTickBackoff backoff = new ScheduleTickBackoff();
    private final BackgroundLoopWaker wakeSignal = new BackgroundLoopWaker();
    private final Thread thread;
    private final Set<String> registered = ConcurrentHashMap.newKeySet();
    private volatile int orphans;
    private long nextLook = Long.MIN_VALUE;
    private volatile boolean busy;

    public ScheduleTicker(
            GroupCommitter committer,
            StoreQueryThreadPool readers,
            ScheduleTickAdmission admission,
            WorkflowCatalog catalog,
            GroupCommitter.EngineDependencies dependencies) {
        this.committer = committer;
        this.readers = readers;
        this.admission = admission;
        this.catalog = catalog;
        this.dependencies = dependencies;
        this.synchronizer = new WorkflowScheduleSynchronizer(committer, readers, catalog, backoff);
        dependencies.environment().onClockJump(this::wakeUp);
        wakeSignal.wake();
        this.thread = dependencies
                .threads()
                .watch(Thread.ofPlatform().name("semel-ticks").daemon(true).start(this::loop));
    }

    /** Called when a workflow was registered: its schedules can be fired here. */
    public void onWorkflowRegistered(String workflowId) {
        unknown.remove(workflowId);
        registered.add(workflowId);
        wakeUp();
    }

    /** Synchronizes the schedules of a just published workflow, so that the publisher finds them. */
    public void onPublished(DatabaseRows.WorkflowRow workflow) {
        try {
            synchronizer.synchronize(
                    new ScheduleQueries.CurrentVersion(workflow.ws(), workflow.workflowId(), workflow.version()));
        } catch (StoreFailure | CompletionException e) {
            if (ClockAndRandomSource.SimulatedCrash.causes(e)) {
                throw e;
            }
            LOG.log(Level.DEBUG, "the worker could not update the schedules and retries", e);
        }
        wakeUp();
    }

    public void wakeUp() {
        wakeSignal.wake();
    }

    /** When the next tick fires; empty while one is being processed. */
    public OptionalLong idleUntil() {
        if (busy || wakeSignal.isWakeRequested() || !synchronizer.isUpToDate()) {
            return OptionalLong.empty();
        }
        Seen seen = look();
        if (seen.due().stream().anyMatch(this::isOurs)) {
            return OptionalLong.empty();
        }
        long next =
                seen.next() == null ? StoreWrite.Suspension.NEVER : seen.next().nextAt();
        DatabaseRows.ScheduleRow first = seen.first();
        boolean taken = first != null && first.nextAt() <= seen.now() && first.takenUntil() > seen.now();
        return OptionalLong.of(first != null && taken ? Math.min(next, first.takenUntil()) : next);
    }

    private boolean isOurs(DatabaseRows.ScheduleRow row) {
        return !unknown.contains(row.workflowId())
                && !backoff.isBackedOff(
                        row, catalog.changeCounter(), dependencies.environment().nanos());
    }

    private void loop() {
        int failures = 0;
        while (!wakeSignal.isStopped()) {
            try {
                if (committer.isOutdated()) {
                    wakeSignal.clear(); // this worker does nothing any more, and nothing else clears the request
                } else {
                    work();
                }
                failures = 0;
            } catch (RuntimeException e) {
                if (ClockAndRandomSource.SimulatedCrash.causes(e)) {
                    return;
                }
                if (failures++ == 0 && !wakeSignal.isStopped()) { // log an outage once
                    LOG.log(Level.WARNING, "firing schedules failed; the worker retries: " + e.getMessage());
                }
                nextLook = dependencies.environment().nanos() + LOOK_NANOS;
            } catch (ClockAndRandomSource.SimulatedCrash e) {
                return;
            } finally {
                busy = false;
            }
            pause();
        }
    }

    private void work() {
        boolean called = wakeSignal.isWakeRequested();
        if (!called && synchronizer.isUpToDate() && dependencies.environment().nanos() - nextLook < 0) {
            return;
        }
        busy = true;
        wakeSignal.clear();
        registered.removeIf(id -> {
            synchronizer.invalidate(id);
            backoff.clearAll();
            return true;
        });
        boolean more = true;
        while (more && !wakeSignal.isStopped()) {
            synchronizer.synchronizeAll(); // each time: a busy ticker must notice edits, too
            more = fire();
        }
    }

    /** Returns true if there may be more at once. */
    private boolean fire() {
        Seen seen = look();
        // Checked before it is taken: a schedule that this worker takes and cannot fire would be late elsewhere.
        List<DatabaseRows.ScheduleRow> due =
                seen.due().stream().filter(row -> schedule(row) != null).toList();
        orphans = seen.due().size() - due.size();
        if (due.isEmpty()) {
            nextLook = dependencies.environment().nanos()
                    + ScheduleTickBackoff.nextLookNanos(seen.now(), seen.first(), seen.next());
            return false;
        }
        RunId by = dependencies.environment().newId();
        List<DatabaseRows.ScheduleRow> scheduleRows =
                committer.execute(new StoreWriteCommand.ClaimTicks(due, by, TAKEN_MICROS));
        Instant now = Objects.requireNonNull(ScheduleTickPlan.instant(seen.now()));
        List<ScheduleTickPlan> plans = new ArrayList<>();
        for (DatabaseRows.ScheduleRow row : scheduleRows) {
            Schedule schedule = schedule(row);
            if (schedule != null) {
                plans.add(ScheduleTickPlan.of(row, schedule, now));
            }
        }
        List<StoreWriteCommand.ScheduleProgress> settled = settle(plans, seen.now());
        // CRASH(tick-admitted): the runs exist and their ticks are not recorded; the ticks fire again and find them.
        dependencies.environment().point("tick-admitted");
        if (!settled.isEmpty()) {
            committer.execute(new StoreWriteCommand.RecordTicks(by, settled));
        }
        nextLook = dependencies.environment().nanos() + ScheduleTickBackoff.SOON_NANOS;
        return !settled.isEmpty();
    }

    private record Seen(
            long now,
            List<DatabaseRows.ScheduleRow> due,
            DatabaseRows.@Nullable ScheduleRow first,
            DatabaseRows.@Nullable ScheduleRow next) {}

    private Seen look() {
        return readers.read(reads -> {
            long now = reads.now();
            ScheduleQueries timetable = reads.schedules();
            return new Seen(
                    now, timetable.due(now, AT_ONCE + orphans), timetable.firstDue(), timetable.firstDueAfter(now));
        });
    }

    /** Returns null if this worker cannot fire it, or its text is outdated. */
    private @Nullable Schedule schedule(DatabaseRows.ScheduleRow row) {
        if (!isOurs(row)) {
            return null;
        }
        try {
            WorkflowCatalogEntry current = catalog.find(row.ws(), row.workflowId());
            Schedule schedule = current == null
                    ? null
                    : current.published().options().triggers().schedule(row.name());
            if (schedule != null && schedule.toJson().equals(row.spec())) {
                backoff.clear(row);
                return schedule;
            }
            // Edited just now, or synchronized by a worker with an outdated text.
            synchronizer.invalidate(row.workflowId());
            backoff.backOff(
                    row, catalog.changeCounter(), dependencies.environment().nanos());
            return null;
        } catch (WorkflowCatalog.WorkflowNotRegistered e) {
            unknown.add(row.workflowId()); // workers with its code fire it
            return null;
        } catch (StoreFailure e) {
            throw e;
        } catch (RuntimeException e) {
            if (ClockAndRandomSource.SimulatedCrash.causes(e)) {
                throw e;
            }
            backoff.backOff(
                    row, catalog.changeCounter(), dependencies.environment().nanos());
            if (unreadable.add(row.workflowId())) {
                LOG.log(
                        Level.ERROR,
                        "this worker cannot read workflow " + row.workflowId()
                                + "; other workers must fire its schedules: " + e.getMessage());
            }
            return null;
        }
    }

    /** Admits the ticks to fire, in parallel, and returns all outcomes. */
    private List<StoreWriteCommand.ScheduleProgress> settle(List<ScheduleTickPlan> plans, long now) {
        List<StoreWriteCommand.@Nullable ScheduleProgress> settled = new ArrayList<>();
        plans.forEach(_ -> settled.add(null));
        CountDownLatch open = new CountDownLatch(plans.size());
        for (int i = 0; i < plans.size(); i++) {
            int place = i;
            ScheduleTickPlan plan = plans.get(i);
            dependencies.environment().startThread("semel-tick", () -> {
                try {
                    StoreWriteCommand.ScheduleProgress one = process(plan, now);
                    synchronized (settled) {
                        settled.set(place, one);
                    }
                } finally {
                    open.countDown();
                }
            });
        }
        try {
            open.await();
        } catch (InterruptedException e) {
            wakeSignal.stop();
        }
        synchronized (settled) {
            return settled.stream()
                    .filter(Objects::nonNull)
                    .map(Objects::requireNonNull)
                    .toList();
        }
    }

    /** Returns null if the store did not answer; the tick fires again. */
    private StoreWriteCommand.@Nullable ScheduleProgress process(ScheduleTickPlan plan, long now) {
        DatabaseRows.ScheduleRow row = plan.row();
        try {
            List<DatabaseRows.TickRow> ticks = skipped(plan, now);
            RunId last = null;
            for (DatabaseRows.TickRow tick : ticks) {
                last = tick.state().ran() ? tick.run() : last;
            }
            ScheduleTickPlan.Firing firing = plan.fire();
            if (firing != null) {
                DatabaseRows.TickRow tick = admitted(plan, firing, now);
                ticks.add(tick);
                last = tick.run() == null ? last : tick.run();
            }
            return new StoreWriteCommand.ScheduleProgress(
                    row.workflowId(), row.name(), row.nextNominal(), plan.nextNominal(), plan.nextAt(), last, ticks);
        } catch (RuntimeException e) {
            if (!ClockAndRandomSource.SimulatedCrash.causes(e)) {
                LOG.log(
                        Level.WARNING,
                        "a tick of schedule " + row.name() + " of workflow " + row.workflowId()
                                + " was not processed; the worker retries: " + e.getMessage());
            }
            return null;
        }
    }

    /** Returns the skipped ticks. If a worker took them before and crashed, some may have a run. */
    private List<DatabaseRows.TickRow> skipped(ScheduleTickPlan plan, long now) {
        DatabaseRows.ScheduleRow row = plan.row();
        List<RunDeduplicationKey> names = row.takenBy() == null
                ? List.of()
                : plan.skipped().stream()
                        .map(skip -> TriggerDeduplicationKeyDerivation.sourceKey(
                                row.ws(),
                                ScheduleTickAdmission.tickKey(row.workflowId(), plan.schedule(), skip.nominal())))
                        .toList();
        List<@Nullable RunDeduplicationKeyRecord> keyRecords =
                names.isEmpty() ? List.of() : readers.lookUpKeys(names).keyRecords();
        List<DatabaseRows.TickRow> ticks = new ArrayList<>();
        for (int i = 0; i < plan.skipped().size(); i++) {
            ScheduleTickPlan.Skipped skip = plan.skipped().get(i);
            RunDeduplicationKeyRecord run = keyRecords.isEmpty() ? null : keyRecords.get(i);
            boolean overlaps = skip.reason() == dev.semel.schedule.ScheduleTickDecision.SkipReason.OVERLAP;
            boolean isRange =
                    plan.skippedThrough() != null && i == plan.skipped().size() - 1;
            ticks.add(new DatabaseRows.TickRow(
                    row.workflowId(),
                    row.name(),
                    MicrosecondConverter.of(skip.nominal()),
                    run == null ? ScheduleTickOutcome.SKIPPED : ScheduleTickOutcome.FIRED,
                    run == null ? skip.reason().word() : "",
                    run != null ? run.run() : overlaps ? row.lastRun() : null,
                    now,
                    isRange ? MicrosecondConverter.of(Objects.requireNonNull(plan.skippedThrough())) : 0));
        }
        return ticks;
    }

    private DatabaseRows.TickRow admitted(ScheduleTickPlan plan, ScheduleTickPlan.Firing firing, long now) {
        DatabaseRows.ScheduleRow row = plan.row();
        long nominal = MicrosecondConverter.of(firing.nominal());
        try {
            WorkflowCatalogEntry current = Objects.requireNonNull(catalog.find(row.ws(), row.workflowId()));
            TriggerResult answer = admission.admit(row.ws(), current, plan.schedule(), firing.nominal());
            ScheduleTickOutcome state = firing.late() ? ScheduleTickOutcome.CAUGHT_UP : ScheduleTickOutcome.FIRED;
            return new DatabaseRows.TickRow(row.workflowId(), row.name(), nominal, state, "", answer.run(), now, 0);
        } catch (SemelException e) {
            if (e.code() == ErrorCode.STORE_UNAVAILABLE || e.code().retryable()) {
                throw e;
            }
            LOG.log(
                    Level.WARNING,
                    "a tick of schedule " + row.name() + " of workflow " + row.workflowId() + " started no run: "
                            + e.getMessage());
            return new DatabaseRows.TickRow(
                    row.workflowId(),
                    row.name(),
                    nominal,
                    ScheduleTickOutcome.REJECTED,
                    e.code().slug(),
                    null,
                    now,
                    0);
        }
    }

    private void pause() {
        wakeSignal.await(Math.min(
                LOOK_NANOS, Math.max(1, nextLook - dependencies.environment().nanos())));
    }

    @Override
    public void close() {
        wakeSignal.stop(thread);
    }
}
