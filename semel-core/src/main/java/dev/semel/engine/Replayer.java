package dev.semel.engine;

import dev.semel.error.SemelException;
import dev.semel.key.Known;
import dev.semel.replay.Manner;
import dev.semel.replay.Order;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
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
import java.util.concurrent.locks.Condition;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Applies plans of safe replays, a page at a time. Each run is looked at once more, admitted under the name of the run
 * that it follows, and only then written down; so whoever dies between leaves an item that is seen to again and finds its
 * run. A worker takes a plan for a while, and another one goes on with it when that one is gone.
 */
public final class Replayer implements AutoCloseable {
    private static final Logger LOG = System.getLogger(Replayer.class.getName());
    private static final int AT_ONCE = 100;
    private static final long TAKEN_MICROS = TimeUnit.SECONDS.toMicros(10);
    private static final long LOOK_NANOS = TimeUnit.SECONDS.toNanos(5);
    private static final long SOON_NANOS = TimeUnit.MILLISECONDS.toNanos(200);

    private final Intake.Parts parts;
    private final ReplayDoor door;
    private final Planner planner;
    private final Committer.Surroundings around;
    private final RunId self;
    private final ReentrantLock lock = new ReentrantLock();
    private final Condition wake = lock.newCondition();
    private final Thread thread;
    /** When the next runs of a plan may start, for those that go at a pace. */
    private final Map<RunId, Long> paced = new HashMap<>();
    /** Up to where a plan was seen to. A hint that saves looking; the end is found by looking at all of it. */
    private final Map<RunId, RunId> reached = new HashMap<>();

    private long nextLook = Long.MIN_VALUE;
    private volatile boolean woken = true;
    private volatile boolean busy;
    /** It has a plan that cannot go on before runs have ended. */
    private volatile boolean resting;

    private volatile boolean closing;

    public Replayer(Intake.Parts parts, ReplayDoor door, Limits limits, Committer.Surroundings around) {
        this.parts = parts;
        this.door = door;
        this.planner = new Planner(parts.readers(), door.catalog(), limits);
        this.around = around;
        this.self = around.ambient().id();
        around.ambient().onJump(this::wakeUp);
        this.thread = Thread.ofPlatform().name("semel-replays").daemon(true).start(this::loop);
    }

    /** Who looks at runs that go on in place. */
    public Resumer resumer() {
        return new Resumer(parts.readers(), door, planner);
    }

    /** With whose eyes it looks at runs. */
    public Planner planner() {
        return planner;
    }

    /** Look now. */
    public void wakeUp() {
        lock.lock();
        try {
            woken = true;
            wake.signalAll();
        } finally {
            lock.unlock();
        }
    }

    /** A run has ended: a plan may have waited for it. */
    public void ended() {
        if (resting) {
            wakeUp();
        }
    }

    /** When this could move by itself next, as long as it does not now; empty while it does. */
    public OptionalLong quietUntil() {
        if (busy || woken) {
            return OptionalLong.empty();
        }
        Replay.Plan plan = parts.readers().maybe(reads -> reads.plans().applying());
        if (plan == null || (resting && self.equals(plan.takenBy()))) {
            return OptionalLong.of(Write.Rest.NEVER);
        }
        long now = parts.readers().ask(reads -> reads.now());
        boolean ours = self.equals(plan.takenBy());
        return ours || plan.takenUntil() <= now ? OptionalLong.empty() : OptionalLong.of(plan.takenUntil());
    }

    private void loop() {
        int failures = 0;
        while (!closing) {
            try {
                if (!parts.committer().isOutdated()
                        && (woken || around.ambient().nanos() - nextLook >= 0)) {
                    busy = true;
                    woken = false; // before looking: who calls from here on is heard
                    work();
                }
                failures = 0;
            } catch (RuntimeException e) {
                if (Ambient.Death.isIn(e)) {
                    return;
                }
                if (failures++ == 0 && !closing) { // an outage is told once
                    LOG.log(Level.WARNING, "applying a replay failed and will be tried again: " + e.getMessage());
                }
                nextLook = around.ambient().nanos() + SOON_NANOS;
            } catch (Ambient.Death e) {
                return;
            } finally {
                busy = false;
            }
            pause();
        }
    }

    private void work() {
        boolean more = true;
        while (more && !closing) {
            Replay.Plan plan = parts.readers().maybe(reads -> reads.plans().applying());
            if (plan == null) {
                resting = false;
                nextLook = around.ambient().nanos() + LOOK_NANOS;
                return;
            }
            boolean ours = change(new Replay.Take(plan.id(), self, TAKEN_MICROS));
            more = ours && page(plan);
            nextLook = around.ambient().nanos() + (ours ? SOON_NANOS : LOOK_NANOS);
        }
    }

    /** Sees to one page of a plan that is ours. True: there may be more at once. */
    private boolean page(Replay.Plan plan) {
        Manner manner = Manner.parse(Objects.requireNonNull(plan.how()));
        boolean watched = manner.canary() > 0 || manner.stopAfter() > 0;
        Progress progress = watched
                ? Progress.of(parts.readers().ask(reads -> reads.plans().progress(plan.id())))
                : Progress.NOTHING;
        String stop = progress.reasonToStop(manner);
        if (stop != null) {
            change(new Replay.Finish(plan.id(), Replay.State.STOPPED, stop));
            return true;
        }
        int room = progress.room(manner, AT_ONCE);
        resting = room == 0;
        long now = around.ambient().nanos();
        if (room == 0 || now - paced.getOrDefault(plan.id(), now) < 0) {
            return false;
        }
        List<Replay.Item> items = next(plan, manner.rate() == 0 ? room : Math.min(room, manner.rate()));
        if (items.isEmpty()) {
            change(new Replay.Finish(plan.id(), Replay.State.DONE, ""));
            paced.remove(plan.id());
            return true;
        }
        if (manner.rate() > 0) {
            paced.put(plan.id(), now + items.size() * TimeUnit.SECONDS.toNanos(1) / manner.rate());
        }
        List<Replay.Item> settled = seeTo(plan, items, manner);
        // CRASH(replay-admitted): The runs are there and their items say nothing of them. Their names find them.
        around.ambient().point("replay-admitted");
        boolean ours = change(new Replay.Settle(plan.id(), self, settled));
        return ours && !settled.isEmpty();
    }

    /** The next items that nobody has seen to; none only where there are none in the whole plan. */
    private List<Replay.Item> next(Replay.Plan plan, int most) {
        Plans.Wanted open = new Plans.Wanted(plan.id(), 0, Replay.Fate.PLANNED);
        RunId after = reached.remove(plan.id());
        List<Replay.Item> items = parts.readers().ask(reads -> reads.plans().items(open, after, most));
        if (items.isEmpty() && after != null) {
            items = parts.readers().ask(reads -> reads.plans().items(open, null, most));
        }
        if (!items.isEmpty()) {
            reached.put(plan.id(), items.getLast().run());
        }
        return items;
    }

    /** How far a plan is, by its items and by the runs that they became. */
    private record Progress(long applied, long failed, long ended) {
        static final Progress NOTHING = new Progress(0, 0, 0);

        static Progress of(List<Plans.Count> counts) {
            long applied = 0;
            long failed = 0;
            long ended = 0;
            for (Plans.Count count : counts) {
                RunState state = count.state();
                applied += count.fate() == Replay.Fate.APPLIED ? count.items() : 0;
                ended += state != null && state.ended() ? count.items() : 0;
                failed += state == RunState.FAILED || state == RunState.CANCELLED ? count.items() : 0;
            }
            return new Progress(applied, failed, ended);
        }

        /** Null: go on. */
        @Nullable
        String reasonToStop(Manner manner) {
            if (manner.canary() > 0 && applied <= manner.canary() && failed > 0) {
                return failed + " of the first " + manner.canary() + " runs failed";
            }
            return manner.stopAfter() > 0 && failed >= manner.stopAfter() ? failed + " of its runs failed" : null;
        }

        /** How many runs may start now: none while those that go first have not all ended. */
        int room(Manner manner, int most) {
            if (manner.canary() == 0 || applied > manner.canary()) {
                return most;
            }
            long left = manner.canary() - applied;
            return left > 0 ? (int) Math.min(left, most) : ended < applied ? 0 : most;
        }
    }

    private List<Replay.Item> seeTo(Replay.Plan plan, List<Replay.Item> items, Manner manner) {
        Map<RunId, Replay.Item> done = new HashMap<>();
        List<Replay.Item> wanted = new ArrayList<>();
        for (Replay.Item item : items) {
            if (item.worst() == 0 || !manner.allows(item.actions())) {
                done.put(item.run(), item.became(Replay.Fate.LEFT_OUT, null, "it is not safe, and was not asked for"));
            } else {
                wanted.add(item);
            }
        }
        found(plan, wanted).forEach(item -> done.put(item.run(), item));
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
            done.values().forEach(item -> handOver(plan, item));
        }
        return items.stream()
                .filter(item -> done.containsKey(item.run()))
                .map(item -> done.get(item.run()))
                .toList();
    }

    /** Signals that a run had got and did not take reach its replay. Each keeps its key, so that it comes once. */
    private void handOver(Replay.Plan plan, Replay.Item item) {
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

    /** What the order of a plan looks for. */
    static Planner.Wanted wanted(Replay.Plan plan) {
        return new Planner.Wanted(plan.ws(), Order.parse(plan.wish()), plan.input() != null);
    }

    /** Items that have their runs, because somebody died before they were written down, or another plan was first. */
    private List<Replay.Item> found(Replay.Plan plan, List<Replay.Item> items) {
        if (items.isEmpty()) {
            return List.of();
        }
        List<@Nullable Known> known =
                parts.readers().names(ReplayDoor.names(plan, items)).known();
        List<Replay.Item> found = new ArrayList<>();
        for (int i = 0; i < items.size(); i++) {
            Known one = known.get(i);
            if (one != null) {
                found.add(whose(plan, items.get(i), one.run()));
            }
        }
        return found;
    }

    private Replay.Item whose(Replay.Plan plan, Replay.Item item, RunId made) {
        if (made.equals(item.run())) {
            return item.became(Replay.Fate.OUTDATED, null, "it went on in place");
        }
        Rows.Run run = parts.readers().maybe(reads -> reads.run(plan.ws(), made));
        return ReplayDoor.isMadeBy(plan, run)
                ? item.became(Replay.Fate.APPLIED, made, "")
                : item.became(
                        Replay.Fate.OUTDATED,
                        null,
                        "it was replayed by " + (run == null ? made.text() : run.runIdText()));
    }

    /** Admits them side by side. Those that the store did not answer for are left, and come again. */
    private List<Replay.Item> admit(Replay.Plan plan, List<Replay.Item> items, Map<RunId, Planner.Prospect> now) {
        List<Replay.Item> made = new ArrayList<>();
        CountDownLatch open = new CountDownLatch(items.size());
        for (Replay.Item item : items) {
            Planner.Prospect prospect = now.get(item.run());
            around.ambient().start("semel-replay", () -> {
                try {
                    Replay.Item one = prospect == null ? item : door.admit(plan, item, prospect);
                    RunId run = one.made();
                    Replay.Item settled = run == null ? one : whose(plan, item, run);
                    synchronized (made) {
                        made.add(settled);
                    }
                } catch (StoreFailure | SemelException | CompletionException e) {
                    if (!Ambient.Death.isIn(e)) {
                        LOG.log(Level.DEBUG, "a run was not replayed and will be tried again: " + e.getMessage());
                    }
                } finally {
                    open.countDown();
                }
            });
        }
        try {
            open.await();
        } catch (InterruptedException e) {
            closing = true;
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
        lock.lock();
        try {
            long left =
                    Math.max(1, Math.min(LOOK_NANOS, nextLook - around.ambient().nanos()));
            while (!closing && !woken && left > 0) {
                left = wake.awaitNanos(left);
            }
        } catch (InterruptedException e) {
            closing = true;
        } finally {
            lock.unlock();
        }
    }

    @Override
    public void close() {
        closing = true;
        wakeUp();
        try {
            thread.join(10_000);
        } catch (InterruptedException e) {
            Thread.currentThread().interrupt();
        }
    }
}
