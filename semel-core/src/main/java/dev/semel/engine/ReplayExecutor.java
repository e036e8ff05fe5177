package dev.semel.engine;

import dev.semel.admission.KeyRecord;
import dev.semel.error.SemelException;
import dev.semel.replay.ApplyOptions;
import dev.semel.replay.ReplayPlanRequest;
import dev.semel.replay.ReplayPreview;
import dev.semel.run.RunId;
import dev.semel.store.ReplayPlanOperation;
import dev.semel.store.ReplayPlanQueries;
import dev.semel.store.StoreCommand;
import dev.semel.store.StoreFailure;
import dev.semel.store.StoreWrite;
import dev.semel.store.StoredRows;
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
 * Applies safe replay plans in the background, one page of runs at a time.
 * It checks each run again, admits its replay under the follow-up key, and then records the item. After a crash in
 * between, the item is processed again and finds its run. A worker takes a plan for a limited time; then another one
 * continues it.
 */
public final class ReplayExecutor implements AutoCloseable {
    private static final Logger LOG = System.getLogger(ReplayExecutor.class.getName());
    private static final int AT_ONCE = 100;
    private static final int PLANS = 10;
    private static final long TAKEN_MICROS = TimeUnit.SECONDS.toMicros(10);
    private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(5);
    private static final long SOON_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    private final TriggerAdmission.EngineComponents parts;
    private final ReplayAdmission admission;
    private final ReplayPreviewer previewer;
    private final GroupCommitter.EngineDependencies dependencies;
    private final RunId self;
    private final WakeSignal wakeSignal = new WakeSignal();
    private final Thread thread;
    private final ReplayRateLimiter rateLimiter = new ReplayRateLimiter();
    /** How far a plan was processed. A hint that saves reads; the end is found by reading all items. */
    private final Map<RunId, RunId> reached = new HashMap<>();

    /** Progress of the plans that watch their runs. */
    private final Map<RunId, ReplayProgress> progressByPlan = new HashMap<>();

    private final PlansMissingCode plansMissingCode = new PlansMissingCode();

    private long nextLook = Long.MIN_VALUE;
    private volatile boolean busy;
    /** Whether a plan waits for runs to end. */
    private volatile boolean waitingForRuns;

    public ReplayExecutor(
            TriggerAdmission.EngineComponents parts,
            ReplayAdmission admission,
            EngineLimits limits,
            GroupCommitter.EngineDependencies dependencies) {
        this.parts = parts;
        this.admission = admission;
        this.previewer = new ReplayPreviewer(parts.readers(), admission.catalog(), limits);
        this.dependencies = dependencies;
        this.self = dependencies.environment().newId();
        dependencies.environment().onClockJump(this::wakeUp);
        wakeSignal.wake();
        this.thread = Thread.ofPlatform().name("semel-replays").daemon(true).start(this::loop);
    }

    /** Returns the planner of in-place resumptions. */
    public ResumePlanner resumePlanner() {
        return new ResumePlanner(parts.readers(), admission, previewer);
    }

    /** Returns the previewer of safe replays. */
    public ReplayPreviewer previewer() {
        return previewer;
    }

    /** Looks for plans at once. */
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
        ReplayPlanOperation.ReplayPlan plan =
                parts.readers().readNullable(reads -> reads.plans().applying());
        if (plan == null || plansMissingCode.contains(plan.id()) || (waitingForRuns && self.equals(plan.takenBy()))) {
            return OptionalLong.of(StoreWrite.Suspension.NEVER);
        }
        long now = parts.readers().read(reads -> reads.now());
        boolean ours = self.equals(plan.takenBy());
        return ours || plan.takenUntil() <= now ? OptionalLong.empty() : OptionalLong.of(plan.takenUntil());
    }

    private void loop() {
        int failures = 0;
        while (!wakeSignal.isStopped()) {
            try {
                if (parts.committer().isOutdated()) {
                    wakeSignal.clear(); // this worker does nothing any more, and nothing else clears the request
                } else if (wakeSignal.isWakeRequested()
                        || dependencies.environment().nanos() - nextLook >= 0) {
                    busy = true;
                    wakeSignal.clear();
                    work();
                }
                failures = 0;
            } catch (RuntimeException e) {
                if (EngineEnvironment.SimulatedCrash.causes(e)) {
                    return;
                }
                if (failures++ == 0 && !wakeSignal.isStopped()) { // log an outage once
                    LOG.log(Level.WARNING, "applying a replay plan failed; the worker retries: " + e.getMessage());
                }
                nextLook = dependencies.environment().nanos() + SOON_NANOS;
            } catch (EngineEnvironment.SimulatedCrash e) {
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
            List<ReplayPlanOperation.ReplayPlan> plans =
                    parts.readers().read(reads -> reads.plans().claimable(self, reads.now(), PLANS));
            progressByPlan
                    .keySet()
                    .retainAll(plans.stream()
                            .map(ReplayPlanOperation.ReplayPlan::id)
                            .toList());
            boolean any = false;
            for (ReplayPlanOperation.ReplayPlan plan : plans) {
                if (!plansMissingCode.isDeferred(
                                plan.id(), dependencies.environment().nanos())
                        && change(new ReplayPlanOperation.ClaimPlan(plan.id(), self, TAKEN_MICROS))) {
                    any = true;
                    more |= page(plan);
                }
            }
            long now = dependencies.environment().nanos();
            nextLook = now + (any ? rateLimiter.nextDelay(SOON_NANOS, now) : LOOK_NANOS);
        }
    }

    /** Processes one page of a plan that this worker has taken. Returns true if there may be more at once. */
    private boolean page(ReplayPlanOperation.ReplayPlan plan) {
        ApplyOptions manner = ApplyOptions.parse(Objects.requireNonNull(plan.applyOptions()));
        ReplayProgress progress = progressOf(plan, manner);
        String stop = progress.reasonToStop(manner);
        if (stop != null) {
            change(new ReplayPlanOperation.FinishPlan(plan.id(), ReplayPlanOperation.PlanState.STOPPED, stop));
            return true;
        }
        int room = progress.allowedStarts(manner, AT_ONCE);
        waitingForRuns |= room == 0;
        long now = dependencies.environment().nanos();
        if (room == 0 || !rateLimiter.mayStart(plan.id(), now)) {
            return false;
        }
        List<ReplayPlanOperation.PlanItem> items =
                next(plan, manner, manner.rate() == 0 ? room : Math.min(room, manner.rate()));
        if (items.isEmpty()) {
            change(new ReplayPlanOperation.FinishPlan(plan.id(), ReplayPlanOperation.PlanState.DONE, ""));
            rateLimiter.forget(plan.id());
            return true;
        }
        if (manner.rate() > 0) {
            long selected =
                    items.stream().filter(item -> isSelected(item, manner)).count();
            rateLimiter.recordStarted(plan.id(), selected, manner.rate(), now);
        }
        List<ReplayPlanOperation.PlanItem> seen = process(plan, items, manner);
        List<ReplayPlanOperation.PlanItem> settled = seen.stream()
                .filter(item -> item.outcome() != ReplayPlanOperation.ItemOutcome.PLANNED)
                .toList();
        // CRASH(replay-admitted): the runs exist and their items are not recorded; a restart finds them by key.
        dependencies.environment().point("replay-admitted");
        boolean ours = change(new ReplayPlanOperation.RecordItems(plan.id(), self, settled));
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
    private void release(ReplayPlanOperation.ReplayPlan plan, List<ReplayPlanOperation.PlanItem> seen) {
        String note = PlansMissingCode.describe(seen);
        if (!note.equals(plan.note())) {
            LOG.log(Level.INFO, "this worker lacks code for " + plan.idText() + "; another worker must apply the plan");
        }
        plansMissingCode.deferUntil(plan.id(), dependencies.environment().nanos() + LOOK_NANOS);
        change(new ReplayPlanOperation.ReleasePlan(plan.id(), self, note));
    }

    /** Returns the progress of the plan, if its options need it. */
    private ReplayProgress progressOf(ReplayPlanOperation.ReplayPlan plan, ApplyOptions manner) {
        if (manner.canary() == 0 && manner.stopAfter() == 0) {
            return new ReplayProgress();
        }
        ReplayProgress progress = progressByPlan.computeIfAbsent(
                plan.id(), id -> parts.readers().read(reads -> ReplayProgress.load(reads, id)));
        parts.readers().read(reads -> {
            progress.refresh(reads);
            return true;
        });
        return progress;
    }

    /** Whether the plan replays this item, if its prediction still holds. */
    private static boolean isSelected(ReplayPlanOperation.PlanItem item, ApplyOptions manner) {
        return item.worstAction() > 0 && manner.allows(item.actions());
    }

    /**
     * Returns the next unprocessed items; none only if the whole plan is processed.
     *
     * @param most number of items to replay; items that are only skipped do not count
     */
    private List<ReplayPlanOperation.PlanItem> next(
            ReplayPlanOperation.ReplayPlan plan, ApplyOptions manner, int most) {
        ReplayPlanQueries.ItemFilter open =
                new ReplayPlanQueries.ItemFilter(plan.id(), 0, ReplayPlanOperation.ItemOutcome.PLANNED);
        RunId after = reached.remove(plan.id());
        List<ReplayPlanOperation.PlanItem> items =
                parts.readers().read(reads -> reads.plans().items(open, after, AT_ONCE));
        if (items.isEmpty() && after != null) {
            items = parts.readers().read(reads -> reads.plans().items(open, null, AT_ONCE));
        }
        int selected = 0;
        for (int i = 0; i < items.size(); i++) {
            selected += isSelected(items.get(i), manner) ? 1 : 0;
            if (selected > most) {
                items = items.subList(0, i);
            }
        }
        if (!items.isEmpty()) {
            reached.put(plan.id(), items.getLast().run());
        }
        return items;
    }

    private List<ReplayPlanOperation.PlanItem> process(
            ReplayPlanOperation.ReplayPlan plan, List<ReplayPlanOperation.PlanItem> items, ApplyOptions manner) {
        Map<RunId, ReplayPlanOperation.PlanItem> done = new HashMap<>();
        List<ReplayPlanOperation.PlanItem> wanted = new ArrayList<>();
        for (ReplayPlanOperation.PlanItem item : items) {
            if (!isSelected(item, manner)) {
                String blocked = ReplayPreview.parse(item.preview()).blocked();
                String why = blocked == null ? "it is not safe, and the plan excludes it" : blocked;
                done.put(item.run(), item.withOutcome(ReplayPlanOperation.ItemOutcome.SKIPPED, null, why));
            } else {
                wanted.add(item);
            }
        }
        findExisting(plan, wanted).forEach(item -> done.put(item.run(), item));
        wanted.removeIf(item -> done.containsKey(item.run()));
        Map<RunId, ReplayPreviewer.RunPreview> now = new HashMap<>();
        previewer
                .preview(wanted.stream().map(ReplayPlanOperation.PlanItem::run).toList(), previewRequest(plan))
                .forEach(one -> now.put(one.requested().id(), one));
        List<ReplayPlanOperation.PlanItem> ready = new ArrayList<>();
        for (ReplayPlanOperation.PlanItem item : wanted) {
            String moved = ReplayPreviewer.difference(item, now.get(item.run()));
            if (moved.isEmpty()) {
                ready.add(item);
            } else {
                done.put(item.run(), item.withOutcome(ReplayPlanOperation.ItemOutcome.OUTDATED, null, moved));
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

    /**
     * Delivers signals that a run received and did not consume to its replay. Each keeps its key, so that it arrives
     * once.
     */
    private void deliverLateSignals(ReplayPlanOperation.ReplayPlan plan, ReplayPlanOperation.PlanItem item) {
        RunId made = item.newRun();
        if (made == null) {
            return;
        }
        for (StoredRows.SignalRow signal :
                parts.readers().read(reads -> LineageResults.findUnconsumedSignals(reads, item.run()))) {
            var sent = new StoreCommand.SendSignal(plan.ws(), made, signal.name(), signal.key(), signal.value());
            parts.committer().submit(0, new StoreWrite.ExecuteCommand<>(sent)).join();
            parts.runs().wake(made);
        }
    }

    /** Returns the preview options of a plan. */
    static ReplayPreviewer.PreviewRequest previewRequest(ReplayPlanOperation.ReplayPlan plan) {
        return new ReplayPreviewer.PreviewRequest(
                plan.ws(), ReplayPlanRequest.parse(plan.request()), plan.input() != null);
    }

    /**
     * Returns items that already have a run, because a worker crashed before recording them or another plan was first.
     */
    private List<ReplayPlanOperation.PlanItem> findExisting(
            ReplayPlanOperation.ReplayPlan plan, List<ReplayPlanOperation.PlanItem> items) {
        if (items.isEmpty()) {
            return List.of();
        }
        List<@Nullable KeyRecord> known = parts.readers()
                .lookUpKeys(ReplayAdmission.followUpKeys(plan, items))
                .keyRecords();
        List<ReplayPlanOperation.PlanItem> found = new ArrayList<>();
        for (int i = 0; i < items.size(); i++) {
            KeyRecord one = known.get(i);
            if (one != null) {
                found.add(outcomeOf(plan, items.get(i), one.run()));
            }
        }
        return found;
    }

    private ReplayPlanOperation.PlanItem outcomeOf(
            ReplayPlanOperation.ReplayPlan plan, ReplayPlanOperation.PlanItem item, RunId made) {
        if (made.equals(item.run())) {
            return item.withOutcome(ReplayPlanOperation.ItemOutcome.OUTDATED, null, "it was resumed in place");
        }
        StoredRows.RunRow run = parts.readers().readNullable(reads -> reads.run(plan.ws(), made));
        return ReplayAdmission.isCreatedBy(plan, run)
                ? item.withOutcome(ReplayPlanOperation.ItemOutcome.APPLIED, made, "")
                : item.withOutcome(
                        ReplayPlanOperation.ItemOutcome.OUTDATED,
                        null,
                        "it was replayed by " + (run == null ? made.text() : run.runIdText()));
    }

    /** Admits items in parallel. Items that fail because of the store are left out and retried. */
    private List<ReplayPlanOperation.PlanItem> admit(
            ReplayPlanOperation.ReplayPlan plan,
            List<ReplayPlanOperation.PlanItem> items,
            Map<RunId, ReplayPreviewer.RunPreview> now) {
        List<ReplayPlanOperation.PlanItem> made = new ArrayList<>();
        CountDownLatch open = new CountDownLatch(items.size());
        for (ReplayPlanOperation.PlanItem item : items) {
            ReplayPreviewer.RunPreview prospect = now.get(item.run());
            dependencies.environment().startThread("semel-replay", () -> {
                try {
                    ReplayPlanOperation.PlanItem one = prospect == null ? item : admission.admit(plan, item, prospect);
                    RunId run = one.newRun();
                    ReplayPlanOperation.PlanItem settled = run == null ? one : outcomeOf(plan, item, run);
                    synchronized (made) {
                        made.add(settled);
                    }
                } catch (StoreFailure | SemelException | CompletionException e) {
                    if (!EngineEnvironment.SimulatedCrash.causes(e)) {
                        LOG.log(Level.DEBUG, "a run was not replayed; the worker retries: " + e.getMessage());
                    }
                } catch (RuntimeException e) {
                    // A defect: nothing was admitted, and a retry would fail in the same way.
                    LOG.log(Level.WARNING, "a run of " + plan.idText() + " was not replayed", e);
                    String what = "it could not be admitted: " + e.getClass().getSimpleName();
                    synchronized (made) {
                        made.add(item.withOutcome(ReplayPlanOperation.ItemOutcome.REJECTED, null, what));
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

    private boolean change(ReplayPlanOperation<Boolean> replay) {
        return parts.committer()
                .submit(0, new StoreWrite.ExecuteCommand<>(new StoreCommand.ReplayPlanCommand<>(replay)))
                .join();
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
