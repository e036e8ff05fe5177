package dev.semel.engine;

import dev.semel.error.SemelException;
import dev.semel.key.Known;
import dev.semel.replay.Manner;
import dev.semel.replay.Order;
import dev.semel.replay.Outlook;
import dev.semel.run.RunId;
import dev.semel.store.Edit;
import dev.semel.store.Plans;
import dev.semel.store.Replay;
import dev.semel.store.Rows;
import dev.semel.store.StoreFailure;
import dev.semel.store.Write;
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
public final class Replayer implements AutoCloseable {
    private static final Logger LOG = System.getLogger(Replayer.class.getName());
    private static final int AT_ONCE = 100;
    private static final int PLANS = 10;
    private static final long TAKEN_MICROS = TimeUnit.SECONDS.toMicros(10);
    private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(5);
    private static final long SOON_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    private final Intake.Parts parts;
    private final ReplayDoor admission;
    private final Planner planner;
    private final Committer.Surroundings dependencies;
    private final RunId self;
    private final Bell wakeSignal = new Bell();
    private final Thread thread;
    private final Pace rateLimiter = new Pace();
    /** How far a plan was processed. A hint that saves reads; the end is found by reading all items. */
    private final Map<RunId, RunId> reached = new HashMap<>();

    /** Progress of the plans that watch their runs. */
    private final Map<RunId, Headway> progressByPlan = new HashMap<>();

    private final Elsewhere plansMissingCode = new Elsewhere();

    private long nextLook = Long.MIN_VALUE;
    private volatile boolean busy;
    /** Whether a plan waits for runs to end. */
    private volatile boolean waitingForRuns;

    public Replayer(Intake.Parts parts, ReplayDoor admission, Limits limits, Committer.Surroundings dependencies) {
        this.parts = parts;
        this.admission = admission;
        this.planner = new Planner(parts.readers(), admission.catalog(), limits);
        this.dependencies = dependencies;
        this.self = dependencies.ambient().id();
        dependencies.ambient().onJump(this::wakeUp);
        wakeSignal.ring();
        this.thread = Thread.ofPlatform().name("semel-replays").daemon(true).start(this::loop);
    }

    /** Returns the planner of in-place resumptions. */
    public Resumer resumer() {
        return new Resumer(parts.readers(), admission, planner);
    }

    /** Returns the previewer of safe replays. */
    public Planner planner() {
        return planner;
    }

    /** Looks for plans at once. */
    public void wakeUp() {
        wakeSignal.ring();
    }

    /** Called when a run has ended: a plan may have waited for it. */
    public void ended() {
        if (waitingForRuns) {
            wakeUp();
        }
    }

    /** When it could act by itself next; empty while it is active. */
    public OptionalLong quietUntil() {
        if (busy || wakeSignal.isRung()) {
            return OptionalLong.empty();
        }
        Replay.Plan plan = parts.readers().maybe(reads -> reads.plans().applying());
        if (plan == null || plansMissingCode.has(plan.id()) || (waitingForRuns && self.equals(plan.takenBy()))) {
            return OptionalLong.of(Write.Rest.NEVER);
        }
        long now = parts.readers().ask(reads -> reads.now());
        boolean ours = self.equals(plan.takenBy());
        return ours || plan.takenUntil() <= now ? OptionalLong.empty() : OptionalLong.of(plan.takenUntil());
    }

    private void loop() {
        int failures = 0;
        while (!wakeSignal.isOver()) {
            try {
                if (parts.committer().isOutdated()) {
                    wakeSignal.hear(); // this worker does nothing any more, and nothing else clears the request
                } else if (wakeSignal.isRung() || dependencies.ambient().nanos() - nextLook >= 0) {
                    busy = true;
                    wakeSignal.hear();
                    work();
                }
                failures = 0;
            } catch (RuntimeException e) {
                if (Ambient.Death.isIn(e)) {
                    return;
                }
                if (failures++ == 0 && !wakeSignal.isOver()) { // log an outage once
                    LOG.log(Level.WARNING, "applying a replay plan failed; the worker retries: " + e.getMessage());
                }
                nextLook = dependencies.ambient().nanos() + SOON_NANOS;
            } catch (Ambient.Death e) {
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
        while (more && !wakeSignal.isOver()) {
            more = false;
            waitingForRuns = false;
            List<Replay.Plan> plans = parts.readers().ask(reads -> reads.plans().free(self, reads.now(), PLANS));
            progressByPlan.keySet().retainAll(plans.stream().map(Replay.Plan::id).toList());
            boolean any = false;
            for (Replay.Plan plan : plans) {
                if (!plansMissingCode.isStill(plan.id(), dependencies.ambient().nanos())
                        && change(new Replay.Take(plan.id(), self, TAKEN_MICROS))) {
                    any = true;
                    more |= page(plan);
                }
            }
            long now = dependencies.ambient().nanos();
            nextLook = now + (any ? rateLimiter.rest(SOON_NANOS, now) : LOOK_NANOS);
        }
    }

    /** Processes one page of a plan that this worker has taken. Returns true if there may be more at once. */
    private boolean page(Replay.Plan plan) {
        Manner manner = Manner.parse(Objects.requireNonNull(plan.how()));
        Headway progress = progressOf(plan, manner);
        String stop = progress.reasonToStop(manner);
        if (stop != null) {
            change(new Replay.Finish(plan.id(), Replay.State.STOPPED, stop));
            return true;
        }
        int room = progress.room(manner, AT_ONCE);
        waitingForRuns |= room == 0;
        long now = dependencies.ambient().nanos();
        if (room == 0 || !rateLimiter.mayGoOn(plan.id(), now)) {
            return false;
        }
        List<Replay.Item> items = next(plan, manner, manner.rate() == 0 ? room : Math.min(room, manner.rate()));
        if (items.isEmpty()) {
            change(new Replay.Finish(plan.id(), Replay.State.DONE, ""));
            rateLimiter.forget(plan.id());
            return true;
        }
        if (manner.rate() > 0) {
            long selected = items.stream().filter(item -> isSelected(item, manner)).count();
            rateLimiter.started(plan.id(), selected, manner.rate(), now);
        }
        List<Replay.Item> seen = process(plan, items, manner);
        List<Replay.Item> settled =
                seen.stream().filter(item -> item.fate() != Replay.Fate.PLANNED).toList();
        // CRASH(replay-admitted): the runs exist and their items are not recorded; a restart finds them by key.
        dependencies.ambient().point("replay-admitted");
        boolean ours = change(new Replay.Settle(plan.id(), self, settled));
        progress.made(settled);
        if (!ours) {
            progressByPlan.remove(plan.id()); // runs that another worker starts meanwhile are not known here
        }
        if (ours && settled.isEmpty() && !seen.isEmpty()) {
            release(plan, seen);
        }
        return ours && !settled.isEmpty();
    }

    /** Releases a plan whose code is missing here. Another worker may take it at once; this one checks again later. */
    private void release(Replay.Plan plan, List<Replay.Item> seen) {
        String note = Elsewhere.note(seen);
        if (!note.equals(plan.note())) {
            LOG.log(Level.INFO, "this worker lacks code for " + plan.text() + "; another worker must apply the plan");
        }
        plansMissingCode.until(plan.id(), dependencies.ambient().nanos() + LOOK_NANOS);
        change(new Replay.LetGo(plan.id(), self, note));
    }

    /** Returns the progress of the plan, if its options need it. */
    private Headway progressOf(Replay.Plan plan, Manner manner) {
        if (manner.canary() == 0 && manner.stopAfter() == 0) {
            return new Headway();
        }
        Headway progress = progressByPlan.computeIfAbsent(
                plan.id(), id -> parts.readers().ask(reads -> Headway.of(reads, id)));
        parts.readers().ask(reads -> {
            progress.look(reads);
            return true;
        });
        return progress;
    }

    /** Whether the plan replays this item, if its prediction still holds. */
    private static boolean isSelected(Replay.Item item, Manner manner) {
        return item.worst() > 0 && manner.allows(item.actions());
    }

    /**
     * Returns the next unprocessed items; none only if the whole plan is processed.
     *
     * @param most number of items to replay; items that are only skipped do not count
     */
    private List<Replay.Item> next(Replay.Plan plan, Manner manner, int most) {
        Plans.Wanted open = new Plans.Wanted(plan.id(), 0, Replay.Fate.PLANNED);
        RunId after = reached.remove(plan.id());
        List<Replay.Item> items = parts.readers().ask(reads -> reads.plans().items(open, after, AT_ONCE));
        if (items.isEmpty() && after != null) {
            items = parts.readers().ask(reads -> reads.plans().items(open, null, AT_ONCE));
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

    private List<Replay.Item> process(Replay.Plan plan, List<Replay.Item> items, Manner manner) {
        Map<RunId, Replay.Item> done = new HashMap<>();
        List<Replay.Item> wanted = new ArrayList<>();
        for (Replay.Item item : items) {
            if (!isSelected(item, manner)) {
                String blocked = Outlook.parse(item.body()).blocked();
                String why = blocked == null ? "it is not safe, and the plan excludes it" : blocked;
                done.put(item.run(), item.became(Replay.Fate.LEFT_OUT, null, why));
            } else {
                wanted.add(item);
            }
        }
        findExisting(plan, wanted).forEach(item -> done.put(item.run(), item));
        wanted.removeIf(item -> done.containsKey(item.run()));
        Map<RunId, Planner.Prospect> now = new HashMap<>();
        planner.look(wanted.stream().map(Replay.Item::run).toList(), wanted(plan))
                .forEach(one -> now.put(one.asked().id(), one));
        List<Replay.Item> ready = new ArrayList<>();
        for (Replay.Item item : wanted) {
            String moved = Planner.difference(item, now.get(item.run()));
            if (moved.isEmpty()) {
                ready.add(item);
            } else {
                done.put(item.run(), item.became(Replay.Fate.OUTDATED, null, moved));
            }
        }
        admit(plan, ready, now).forEach(item -> done.put(item.run(), item));
        if (Order.parse(plan.wish()).lateSignals()) {
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
    private void deliverLateSignals(Replay.Plan plan, Replay.Item item) {
        RunId made = item.made();
        if (made == null) {
            return;
        }
        for (Rows.Signal signal : parts.readers().ask(reads -> Earlier.untaken(reads, item.run()))) {
            var sent = new Edit.Signal(plan.ws(), made, signal.name(), signal.key(), signal.value());
            parts.committer().submit(0, new Write.Change<>(sent)).join();
            parts.runs().wake(made);
        }
    }

    /** Returns the preview options of a plan. */
    static Planner.Wanted wanted(Replay.Plan plan) {
        return new Planner.Wanted(plan.ws(), Order.parse(plan.wish()), plan.input() != null);
    }

    /**
     * Returns items that already have a run, because a worker crashed before recording them or another plan was first.
     */
    private List<Replay.Item> findExisting(Replay.Plan plan, List<Replay.Item> items) {
        if (items.isEmpty()) {
            return List.of();
        }
        List<@Nullable Known> known =
                parts.readers().names(ReplayDoor.names(plan, items)).known();
        List<Replay.Item> found = new ArrayList<>();
        for (int i = 0; i < items.size(); i++) {
            Known one = known.get(i);
            if (one != null) {
                found.add(outcomeOf(plan, items.get(i), one.run()));
            }
        }
        return found;
    }

    private Replay.Item outcomeOf(Replay.Plan plan, Replay.Item item, RunId made) {
        if (made.equals(item.run())) {
            return item.became(Replay.Fate.OUTDATED, null, "it was resumed in place");
        }
        Rows.Run run = parts.readers().maybe(reads -> reads.run(plan.ws(), made));
        return ReplayDoor.isMadeBy(plan, run)
                ? item.became(Replay.Fate.APPLIED, made, "")
                : item.became(
                        Replay.Fate.OUTDATED,
                        null,
                        "it was replayed by " + (run == null ? made.text() : run.runIdText()));
    }

    /** Admits items in parallel. Items that fail because of the store are left out and retried. */
    private List<Replay.Item> admit(Replay.Plan plan, List<Replay.Item> items, Map<RunId, Planner.Prospect> now) {
        List<Replay.Item> made = new ArrayList<>();
        CountDownLatch open = new CountDownLatch(items.size());
        for (Replay.Item item : items) {
            Planner.Prospect prospect = now.get(item.run());
            dependencies.ambient().start("semel-replay", () -> {
                try {
                    Replay.Item one = prospect == null ? item : admission.admit(plan, item, prospect);
                    RunId run = one.made();
                    Replay.Item settled = run == null ? one : outcomeOf(plan, item, run);
                    synchronized (made) {
                        made.add(settled);
                    }
                } catch (StoreFailure | SemelException | CompletionException e) {
                    if (!Ambient.Death.isIn(e)) {
                        LOG.log(Level.DEBUG, "a run was not replayed; the worker retries: " + e.getMessage());
                    }
                } catch (RuntimeException e) {
                    // A defect: nothing was admitted, and a retry would fail in the same way.
                    LOG.log(Level.WARNING, "a run of " + plan.text() + " was not replayed", e);
                    String what = "it could not be admitted: " + e.getClass().getSimpleName();
                    synchronized (made) {
                        made.add(item.became(Replay.Fate.REFUSED, null, what));
                    }
                } finally {
                    open.countDown();
                }
            });
        }
        try {
            open.await();
        } catch (InterruptedException e) {
            wakeSignal.end();
        }
        synchronized (made) {
            return List.copyOf(made);
        }
    }

    private boolean change(Replay<Boolean> replay) {
        return parts.committer()
                .submit(0, new Write.Change<>(new Edit.Replaying<>(replay)))
                .join();
    }

    private void pause() {
        wakeSignal.await(Math.max(1, Math.min(LOOK_NANOS, nextLook - dependencies.ambient().nanos())));
    }

    @Override
    public void close() {
        wakeSignal.end(thread);
    }
}
