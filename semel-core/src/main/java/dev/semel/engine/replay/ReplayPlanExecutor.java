package dev.semel.engine.replay;

import dev.semel.admission.RunDeduplicationKeyRecord;
import dev.semel.engine.ClockAndRandomSource;
import dev.semel.engine.EngineLimits;
import dev.semel.engine.commit.BackgroundLoopWaker;
import dev.semel.engine.commit.GroupCommitter;
import dev.semel.engine.commit.StoreQueryThreadPool;
import dev.semel.engine.run.RunExecutor;
import dev.semel.engine.step.PreviousRunResultFinder;
import dev.semel.error.SemelException;
import dev.semel.replay.ReplayPlanApplyOptions;
import dev.semel.replay.ReplayPlanRequest;
import dev.semel.replay.ReplayPreview;
import dev.semel.run.RunId;
import dev.semel.store.DatabaseRows;
import dev.semel.store.ReplayPlanQueries;
import dev.semel.store.ReplayPlanStoreWriteCommand;
import dev.semel.store.StoreFailure;
import dev.semel.store.StoreWrite;
import dev.semel.store.StoreWriteCommand;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.OptionalLong;
import java.util.concurrent.CompletionException;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.TimeUnit;
import org.jspecify.annotations.Nullable;

/**
 * Checks each run again, admits its replay under the follow-up key, then records the item. After a crash in between,
 * the item is processed again and finds its run. A worker takes a plan for a limited time.
 */
public final class ReplayPlanExecutor implements AutoCloseable {
    private static final Logger LOG = System.getLogger(ReplayPlanExecutor.class.getName());
    private static final int AT_ONCE = 100;
    private static final int PLANS = 10;
    private static final long TAKEN_MICROS = TimeUnit.SECONDS.toMicros(10);
    private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(5);
    private static final long SOON_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    private final GroupCommitter committer;
    private final StoreQueryThreadPool readers;
    private final RunExecutor runs;
    private final ReplayRunStarter admission;
    private final RunReplayPreviewer previewer;
    private final GroupCommitter.EngineDependencies dependencies;
    private final RunId self;
    private final BackgroundLoopWaker wakeSignal = new BackgroundLoopWaker();
    private final Thread thread;
    private final ReplayRateLimiter rateLimiter = new ReplayRateLimiter();
    /** How far a plan was processed. A hint that saves reads; the end is found by reading all items. */
    private final Map<RunId, RunId> reached = new HashMap<>();

    /** Progress of the plans that watch their runs. */
    private final Map<RunId, ReplayPlanProgress> progressByPlan = new HashMap<>();

    private final ReplayPlanMissingCodeBackoff plansMissingCode = new ReplayPlanMissingCodeBackoff();

    private long nextLook = Long.MIN_VALUE;
    private volatile boolean busy;
    private volatile boolean waitingForRuns;

    public ReplayPlanExecutor(
            GroupCommitter committer,
            StoreQueryThreadPool readers,
            RunExecutor runs,
            ReplayRunStarter admission,
            EngineLimits limits,
            GroupCommitter.EngineDependencies dependencies) {
        this.committer = committer;
        this.readers = readers;
        this.runs = runs;
        this.admission = admission;
        this.previewer = new RunReplayPreviewer(readers, admission.catalog(), limits);
        this.dependencies = dependencies;
        this.self = dependencies.environment().newId();
        dependencies.environment().onClockJump(this::wakeUp);
        wakeSignal.wake();
        this.thread = dependencies
                .threads()
                .watch(Thread.ofPlatform().name("semel-replays").daemon(true).start(this::loop));
    }

    public FailedRunResumePlanner resumePlanner() {
        return new FailedRunResumePlanner(readers, admission, previewer);
    }

    public RunReplayPreviewer previewer() {
        return previewer;
    }

    public void wakeUp() {
        wakeSignal.wake();
    }

    /** Called when a run has ended: a plan may have waited for it. */
    public void onRunEnded() {
        if (waitingForRuns) {
            wakeUp();
        }
    }

    /** When it could act by itself next; empty while it is active. */
    public OptionalLong idleUntil() {
        if (busy || wakeSignal.isWakeRequested()) {
            return OptionalLong.empty();
        }
        ReplayPlanStoreWriteCommand.ReplayPlan plan =
                readers.readNullable(reads -> reads.plans().applying());
        if (plan == null || plansMissingCode.contains(plan.id()) || (waitingForRuns && self.equals(plan.takenBy()))) {
            return OptionalLong.of(StoreWrite.Suspension.NEVER);
        }
        long now = readers.read(reads -> reads.now());
        boolean ours = self.equals(plan.takenBy());
        return ours || plan.takenUntil() <= now ? OptionalLong.empty() : OptionalLong.of(plan.takenUntil());
    }

    private void loop() {
        int failures = 0;
        while (!wakeSignal.isStopped()) {
            try {
                if (committer.isOutdated()) {
                    wakeSignal.clear(); // this worker does nothing any more, and nothing else clears the request
                } else if (wakeSignal.isWakeRequested()
                        || dependencies.environment().nanos() - nextLook >= 0) {
                    busy = true;
                    wakeSignal.clear();
                    work();
                }
                failures = 0;
            } catch (RuntimeException e) {
                if (ClockAndRandomSource.SimulatedCrash.causes(e)) {
                    return;
                }
                if (failures++ == 0 && !wakeSignal.isStopped()) { // log an outage once
                    LOG.log(Level.WARNING, "applying a replay plan failed; the worker retries: " + e.getMessage());
                }
                nextLook = dependencies.environment().nanos() + SOON_NANOS;
            } catch (ClockAndRandomSource.SimulatedCrash e) {
                return;
            } finally {
                busy = false;
            }
            pause();
        }
    }

    /** Plans take turns, one page each. A waiting plan blocks no other. */
    private void work() {
        boolean more = true;
        while (more && !wakeSignal.isStopped()) {
            more = false;
            waitingForRuns = false;
            List<ReplayPlanStoreWriteCommand.ReplayPlan> plans =
                    readers.read(reads -> reads.plans().claimable(self, reads.now(), PLANS));
            progressByPlan
                    .keySet()
                    .retainAll(plans.stream()
                            .map(ReplayPlanStoreWriteCommand.ReplayPlan::id)
                            .toList());
            boolean any = false;
            for (ReplayPlanStoreWriteCommand.ReplayPlan plan : plans) {
                if (!plansMissingCode.isDeferred(
                                plan.id(), dependencies.environment().nanos())
                        && change(new ReplayPlanStoreWriteCommand.ClaimPlan(plan.id(), self, TAKEN_MICROS))) {
                    any = true;
                    more |= page(plan);
                }
            }
            long now = dependencies.environment().nanos();
            nextLook = now + (any ? rateLimiter.nextDelay(SOON_NANOS, now) : LOOK_NANOS);
        }
    }

    /** Processes one page of a plan that this worker has taken. Returns true if there may be more at once. */
    private boolean page(ReplayPlanStoreWriteCommand.ReplayPlan plan) {
        ReplayPlanApplyOptions applyOptions = ReplayPlanApplyOptions.parse(Objects.requireNonNull(plan.applyOptions()));
        ReplayPlanProgress progress = progressOf(plan, applyOptions);
        String stop = progress.reasonToStop(applyOptions);
        if (stop != null) {
            change(new ReplayPlanStoreWriteCommand.FinishPlan(
                    plan.id(), ReplayPlanStoreWriteCommand.PlanState.STOPPED, stop));
            return true;
        }
        int room = progress.allowedStarts(applyOptions, AT_ONCE);
        waitingForRuns |= room == 0;
        long now = dependencies.environment().nanos();
        if (room == 0 || !rateLimiter.mayStart(plan.id(), now)) {
            return false;
        }
        List<ReplayPlanStoreWriteCommand.PlanItem> items =
                next(plan, applyOptions, applyOptions.rate() == 0 ? room : Math.min(room, applyOptions.rate()));
        if (items.isEmpty()) {
            change(new ReplayPlanStoreWriteCommand.FinishPlan(
                    plan.id(), ReplayPlanStoreWriteCommand.PlanState.DONE, ""));
            rateLimiter.forget(plan.id());
            return true;
        }
        if (applyOptions.rate() > 0) {
            long selected = items.stream()
                    .filter(item -> isSelected(item, applyOptions))
                    .count();
            rateLimiter.recordStarted(plan.id(), selected, applyOptions.rate(), now);
        }
        List<ReplayPlanStoreWriteCommand.PlanItem> seen = process(plan, items, applyOptions);
        List<ReplayPlanStoreWriteCommand.PlanItem> settled = seen.stream()
                .filter(item -> item.outcome() != ReplayPlanStoreWriteCommand.ItemOutcome.PLANNED)
                .toList();
        // CRASH(replay-admitted): the runs exist and their items are not recorded; a restart finds them by key.
        dependencies.environment().point("replay-admitted");
        boolean ours = change(new ReplayPlanStoreWriteCommand.RecordItems(plan.id(), self, settled));
        progress.addApplied(settled);
        if (!ours) {
            progressByPlan.remove(plan.id()); // runs that another worker starts meanwhile are not known here
        }
        if (ours && settled.isEmpty() && !seen.isEmpty()) {
            release(plan, seen);
        }
        return ours && !settled.isEmpty();
    }

    /** Releases a plan whose code is missing here. Another worker may take it at once; this one checks again later. */
    private void release(
            ReplayPlanStoreWriteCommand.ReplayPlan plan, List<ReplayPlanStoreWriteCommand.PlanItem> items) {
        String note = ReplayPlanMissingCodeBackoff.describe(items);
        if (!note.equals(plan.note())) {
            LOG.log(
                    Level.INFO,
                    "this worker does not have the workflow code for replay plan " + plan.idText()
                            + "; another worker must apply the plan");
        }
        plansMissingCode.deferUntil(plan.id(), dependencies.environment().nanos() + LOOK_NANOS);
        change(new ReplayPlanStoreWriteCommand.ReleasePlan(plan.id(), self, note));
    }

    /** Returns the progress of the plan, if its options need it. */
    private ReplayPlanProgress progressOf(
            ReplayPlanStoreWriteCommand.ReplayPlan plan, ReplayPlanApplyOptions applyOptions) {
        if (applyOptions.canary() == 0 && applyOptions.stopAfter() == 0) {
            return new ReplayPlanProgress();
        }
        ReplayPlanProgress progress = progressByPlan.computeIfAbsent(
                plan.id(), id -> readers.read(reads -> ReplayPlanProgress.load(reads, id)));
        readers.read(reads -> {
            progress.refresh(reads);
            return true;
        });
        return progress;
    }

    /** Whether the plan replays this item, if its prediction still holds. */
    private static boolean isSelected(ReplayPlanStoreWriteCommand.PlanItem item, ReplayPlanApplyOptions applyOptions) {
        return item.worstAction() > 0 && applyOptions.allows(item.actions());
    }

    /** None only if the whole plan is processed. {@code most}: number of items to replay, without skipped items. */
    private List<ReplayPlanStoreWriteCommand.PlanItem> next(
            ReplayPlanStoreWriteCommand.ReplayPlan plan, ReplayPlanApplyOptions applyOptions, int most) {
        ReplayPlanQueries.ItemFilter open =
                new ReplayPlanQueries.ItemFilter(plan.id(), 0, ReplayPlanStoreWriteCommand.ItemOutcome.PLANNED);
        RunId after = reached.remove(plan.id());
        List<ReplayPlanStoreWriteCommand.PlanItem> items =
                readers.read(reads -> reads.plans().items(open, after, AT_ONCE));
        if (items.isEmpty() && after != null) {
            items = readers.read(reads -> reads.plans().items(open, null, AT_ONCE));
        }
        int selected = 0;
        for (int i = 0; i < items.size(); i++) {
            selected += isSelected(items.get(i), applyOptions) ? 1 : 0;
            if (selected > most) {
                items = items.subList(0, i);
            }
        }
        if (!items.isEmpty()) {
            reached.put(plan.id(), items.getLast().run());
        }
        return items;
    }

    private List<ReplayPlanStoreWriteCommand.PlanItem> process(
            ReplayPlanStoreWriteCommand.ReplayPlan plan,
            List<ReplayPlanStoreWriteCommand.PlanItem> items,
            ReplayPlanApplyOptions applyOptions) {
        Map<RunId, ReplayPlanStoreWriteCommand.PlanItem> done = new HashMap<>();
        List<ReplayPlanStoreWriteCommand.PlanItem> wanted = new ArrayList<>();
        for (ReplayPlanStoreWriteCommand.PlanItem item : items) {
            if (!isSelected(item, applyOptions)) {
                String blocked = ReplayPreview.parse(item.preview()).blocked();
                String why = blocked == null ? "replaying this run is not safe, so the plan excludes the run" : blocked;
                done.put(item.run(), item.withOutcome(ReplayPlanStoreWriteCommand.ItemOutcome.SKIPPED, null, why));
            } else {
                wanted.add(item);
            }
        }
        findExisting(plan, wanted).forEach(item -> done.put(item.run(), item));
        wanted.removeIf(item -> done.containsKey(item.run()));
        Map<RunId, RunReplayPreviewer.RunPreview> now = new HashMap<>();
        previewer
                .preview(
                        wanted.stream()
                                .map(ReplayPlanStoreWriteCommand.PlanItem::run)
                                .toList(),
                        previewRequest(plan))
                .forEach(one -> now.put(one.requested().id(), one));
        List<ReplayPlanStoreWriteCommand.PlanItem> ready = new ArrayList<>();
        for (ReplayPlanStoreWriteCommand.PlanItem item : wanted) {
            String moved = RunReplayPreviewer.difference(item, now.get(item.run()));
            if (moved.isEmpty()) {
                ready.add(item);
            } else {
                done.put(item.run(), item.withOutcome(ReplayPlanStoreWriteCommand.ItemOutcome.OUTDATED, null, moved));
            }
        }
        admit(plan, ready, now).forEach(item -> done.put(item.run(), item));
        if (ReplayPlanRequest.parse(plan.request()).lateSignals()) {
            done.values().forEach(item -> deliverLateSignals(plan, item));
        }
        return items.stream()
                .filter(item -> done.containsKey(item.run()))
                .map(item -> done.get(item.run()))
                .toList();
    }

    /** Signals that the run received and did not consume. Each keeps its key, so that it arrives once. */
    private void deliverLateSignals(
            ReplayPlanStoreWriteCommand.ReplayPlan plan, ReplayPlanStoreWriteCommand.PlanItem item) {
        RunId made = item.newRun();
        if (made == null) {
            return;
        }
        for (DatabaseRows.SignalRow signal :
                readers.read(reads -> PreviousRunResultFinder.findUnconsumedSignals(reads, item.run()))) {
            var sent = new StoreWriteCommand.SendSignal(plan.ws(), made, signal.name(), signal.key(), signal.value());
            committer.execute(sent);
            runs.wake(made);
        }
    }

    static RunReplayPreviewer.PreviewRequest previewRequest(ReplayPlanStoreWriteCommand.ReplayPlan plan) {
        return new RunReplayPreviewer.PreviewRequest(
                plan.ws(), ReplayPlanRequest.parse(plan.request()), plan.input() != null);
    }

    /** Items with a run, because a worker crashed before recording them or another plan was first. */
    private List<ReplayPlanStoreWriteCommand.PlanItem> findExisting(
            ReplayPlanStoreWriteCommand.ReplayPlan plan, List<ReplayPlanStoreWriteCommand.PlanItem> items) {
        if (items.isEmpty()) {
            return List.of();
        }
        List<@Nullable RunDeduplicationKeyRecord> keyRecords =
                readers.lookUpKeys(ReplayRunStarter.followUpKeys(plan, items)).keyRecords();
        List<ReplayPlanStoreWriteCommand.PlanItem> found = new ArrayList<>();
        for (int i = 0; i < items.size(); i++) {
            RunDeduplicationKeyRecord one = keyRecords.get(i);
            if (one != null) {
                found.add(outcomeOf(plan, items.get(i), one.run()));
            }
        }
        return found;
    }

    private ReplayPlanStoreWriteCommand.PlanItem outcomeOf(
            ReplayPlanStoreWriteCommand.ReplayPlan plan, ReplayPlanStoreWriteCommand.PlanItem item, RunId made) {
        if (made.equals(item.run())) {
            return item.withOutcome(ReplayPlanStoreWriteCommand.ItemOutcome.OUTDATED, null, "it was resumed");
        }
        DatabaseRows.RunRow run = readers.readNullable(reads -> reads.run(plan.ws(), made));
        return ReplayRunStarter.isCreatedBy(plan, run)
                ? item.withOutcome(ReplayPlanStoreWriteCommand.ItemOutcome.APPLIED, made, "")
                : item.withOutcome(
                        ReplayPlanStoreWriteCommand.ItemOutcome.OUTDATED,
                        null,
                        "it was replayed by " + (run == null ? made.text() : run.runIdText()));
    }

    /** Admits items in parallel. Items that fail because of the store are left out and retried. */
    private List<ReplayPlanStoreWriteCommand.PlanItem> admit(
            ReplayPlanStoreWriteCommand.ReplayPlan plan,
            List<ReplayPlanStoreWriteCommand.PlanItem> items,
            Map<RunId, RunReplayPreviewer.RunPreview> now) {
        List<ReplayPlanStoreWriteCommand.PlanItem> made = new ArrayList<>();
        CountDownLatch open = new CountDownLatch(items.size());
        for (ReplayPlanStoreWriteCommand.PlanItem item : items) {
            RunReplayPreviewer.RunPreview prospect = now.get(item.run());
            dependencies.environment().startThread("semel-replay", () -> {
                try {
                    ReplayPlanStoreWriteCommand.PlanItem one =
                            prospect == null ? item : admission.admit(plan, item, prospect);
                    RunId run = one.newRun();
                    ReplayPlanStoreWriteCommand.PlanItem settled = run == null ? one : outcomeOf(plan, item, run);
                    synchronized (made) {
                        made.add(settled);
                    }
                } catch (StoreFailure | SemelException | CompletionException e) {
                    if (!ClockAndRandomSource.SimulatedCrash.causes(e)) {
                        LOG.log(Level.DEBUG, "a run was not replayed; the worker retries: " + e.getMessage());
                    }
                } catch (RuntimeException e) {
                    // A defect: nothing was admitted, and a retry would fail in the same way.
                    LOG.log(Level.WARNING, "a run of " + plan.idText() + " was not replayed", e);
                    String what =
                            "starting its replay failed with " + e.getClass().getSimpleName();
                    synchronized (made) {
                        made.add(item.withOutcome(ReplayPlanStoreWriteCommand.ItemOutcome.REJECTED, null, what));
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
        synchronized (made) {
            return List.copyOf(made);
        }
    }

    private boolean change(ReplayPlanStoreWriteCommand<Boolean> replay) {
        return committer.execute(new StoreWriteCommand.ReplayPlanCommand<>(replay));
    }

    private void pause() {
        wakeSignal.await(Math.max(
                1, Math.min(LOOK_NANOS, nextLook - dependencies.environment().nanos())));
    }

    @Override
    public void close() {
        wakeSignal.stop(thread);
    }
}
