package dev.semel.engine;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.key.Known;
import dev.semel.run.RunId;
import dev.semel.schedule.Schedule;
import dev.semel.schedule.Ticked;
import dev.semel.store.Edit;
import dev.semel.store.Name;
import dev.semel.store.Rows;
import dev.semel.store.StoreFailure;
import dev.semel.store.Timetable;
import dev.semel.store.Write;
import dev.semel.trigger.Answer;
import dev.semel.workflow.Current;
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
 * Fires schedule ticks when they are due, by the clock of the store.
 * Each tick is admitted under its own key and then recorded together with the next tick. After a crash in between, the
 * tick fires again and finds its run. Workers take due schedules for a limited time.
 */
public final class Ticker implements AutoCloseable {
    private static final Logger LOG = System.getLogger(Ticker.class.getName());
    private static final int AT_ONCE = 500;
    /** Shorter than the allowed delay of a tick: after a crash another worker still fires it on time. */
    private static final long TAKEN_MICROS = TimeUnit.SECONDS.toMicros(6);

    private static final long LOOK_NANOS = TimeUnit.MILLISECONDS.toNanos(250);

    private final Intake.Parts parts;
    private final TickDoor admission;
    private final Catalog catalog;
    private final Committer.Surroundings dependencies;
    private final TickLayout synchronizer;
    private final Set<String> unknown = ConcurrentHashMap.newKeySet();
    private final Set<String> unreadable = ConcurrentHashMap.newKeySet();
    private final TickPatience backoff = new TickPatience();
    private final Bell wakeSignal = new Bell();
    private final Thread thread;
    private final Set<String> registered = ConcurrentHashMap.newKeySet();
    private volatile int orphans;
    private long nextLook = Long.MIN_VALUE;
    private volatile boolean busy;

    public Ticker(Intake.Parts parts, TickDoor admission, Catalog catalog, Committer.Surroundings dependencies) {
        this.parts = parts;
        this.admission = admission;
        this.catalog = catalog;
        this.dependencies = dependencies;
        this.synchronizer = new TickLayout(parts, catalog, backoff);
        dependencies.ambient().onJump(this::wakeUp);
        wakeSignal.ring();
        this.thread = Thread.ofPlatform().name("semel-ticks").daemon(true).start(this::loop);
    }

    /** Called when a workflow was registered: its schedules can be fired here. */
    public void knows(String workflowId) {
        unknown.remove(workflowId);
        registered.add(workflowId);
        wakeUp();
    }

    /** Synchronizes the schedules of a just published workflow, so that the publisher finds them. */
    public void published(Rows.Workflow workflow) {
        try {
            synchronizer.lay(new Timetable.Standing(workflow.ws(), workflow.workflowId(), workflow.version()));
        } catch (StoreFailure | CompletionException e) {
            if (Ambient.Death.isIn(e)) {
                throw e;
            }
            LOG.log(Level.DEBUG, "synchronizing schedules failed; the loop retries", e);
        }
        wakeUp();
    }

    /** Looks for due schedules at once. */
    public void wakeUp() {
        wakeSignal.ring();
    }

    /** When the next tick fires; empty while one is being processed. */
    public OptionalLong quietUntil() {
        if (busy || wakeSignal.isRung() || !synchronizer.isUpToDate()) {
            return OptionalLong.empty();
        }
        Seen seen = look();
        if (seen.due().stream().anyMatch(this::isOurs)) {
            return OptionalLong.empty();
        }
        long next = seen.next() == null ? Write.Rest.NEVER : seen.next().nextAt();
        Rows.Schedule first = seen.first();
        boolean taken = first != null && first.nextAt() <= seen.now() && first.takenUntil() > seen.now();
        return OptionalLong.of(first != null && taken ? Math.min(next, first.takenUntil()) : next);
    }

    private boolean isOurs(Rows.Schedule row) {
        return !unknown.contains(row.workflowId())
                && !backoff.holds(row, catalog.change(), dependencies.ambient().nanos());
    }

    private void loop() {
        int failures = 0;
        while (!wakeSignal.isOver()) {
            try {
                if (parts.committer().isOutdated()) {
                    wakeSignal.hear(); // this worker does nothing any more, and nothing else clears the request
                } else {
                    work();
                }
                failures = 0;
            } catch (RuntimeException e) {
                if (Ambient.Death.isIn(e)) {
                    return;
                }
                if (failures++ == 0 && !wakeSignal.isOver()) { // log an outage once
                    LOG.log(Level.WARNING, "firing schedules failed; the worker retries: " + e.getMessage());
                }
                nextLook = dependencies.ambient().nanos() + LOOK_NANOS;
            } catch (Ambient.Death e) {
                return;
            } finally {
                busy = false;
            }
            pause();
        }
    }

    private void work() {
        boolean called = wakeSignal.isRung();
        if (!called && synchronizer.isUpToDate() && dependencies.ambient().nanos() - nextLook < 0) {
            return;
        }
        busy = true;
        wakeSignal.hear();
        registered.removeIf(id -> {
            synchronizer.again(id);
            backoff.forgetAll();
            return true;
        });
        boolean more = true;
        while (more && !wakeSignal.isOver()) {
            synchronizer.look(); // each time: a busy ticker must notice edits, too
            more = fire();
        }
    }

    /** Returns true if there may be more at once. */
    private boolean fire() {
        Seen seen = look();
        // Checked before it is taken: a schedule that this worker takes and cannot fire would be late elsewhere.
        List<Rows.Schedule> due =
                seen.due().stream().filter(row -> schedule(row) != null).toList();
        orphans = seen.due().size() - due.size();
        if (due.isEmpty()) {
            nextLook = dependencies.ambient().nanos() + TickPatience.rest(seen.now(), seen.first(), seen.next());
            return false;
        }
        RunId by = dependencies.ambient().id();
        List<Rows.Schedule> taken = parts.committer()
                .submit(0, new Write.Change<>(new Edit.TakeTicks(due, by, TAKEN_MICROS)))
                .join();
        Instant now = Objects.requireNonNull(TickPlan.instant(seen.now()));
        List<TickPlan> plans = new ArrayList<>();
        for (Rows.Schedule row : taken) {
            Schedule schedule = schedule(row);
            if (schedule != null) {
                plans.add(TickPlan.of(row, schedule, now));
            }
        }
        List<Edit.Settled> settled = settle(plans, seen.now());
        // CRASH(tick-admitted): the runs exist and their ticks are not recorded; the ticks fire again and find them.
        dependencies.ambient().point("tick-admitted");
        if (!settled.isEmpty()) {
            parts.committer()
                    .submit(0, new Write.Change<>(new Edit.SettleTicks(by, settled)))
                    .join();
        }
        nextLook = dependencies.ambient().nanos() + TickPatience.SOON_NANOS;
        return !settled.isEmpty();
    }

    private record Seen(
            long now, List<Rows.Schedule> due, Rows.@Nullable Schedule first, Rows.@Nullable Schedule next) {}

    private Seen look() {
        return parts.readers().ask(reads -> {
            long now = reads.now();
            Timetable timetable = reads.timetable();
            return new Seen(now, timetable.due(now, AT_ONCE + orphans), timetable.first(), timetable.after(now));
        });
    }

    /** Returns null if this worker cannot fire it, or its text is outdated. */
    private @Nullable Schedule schedule(Rows.Schedule row) {
        if (!isOurs(row)) {
            return null;
        }
        try {
            Current current = catalog.find(row.ws(), row.workflowId());
            Schedule schedule = current == null
                    ? null
                    : current.published().extras().doors().schedule(row.name());
            if (schedule != null && schedule.text().equals(row.spec())) {
                backoff.forget(row);
                return schedule;
            }
            // Edited just now, or synchronized by a worker with an outdated text.
            synchronizer.again(row.workflowId());
            backoff.hold(row, catalog.change(), dependencies.ambient().nanos());
            return null;
        } catch (Catalog.NotKnownHere e) {
            unknown.add(row.workflowId()); // workers with its code fire it
            return null;
        } catch (StoreFailure e) {
            throw e;
        } catch (RuntimeException e) {
            if (Ambient.Death.isIn(e)) {
                throw e;
            }
            backoff.hold(row, catalog.change(), dependencies.ambient().nanos());
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
    private List<Edit.Settled> settle(List<TickPlan> plans, long now) {
        List<Edit.@Nullable Settled> settled = new ArrayList<>();
        plans.forEach(_ -> settled.add(null));
        CountDownLatch open = new CountDownLatch(plans.size());
        for (int i = 0; i < plans.size(); i++) {
            int place = i;
            TickPlan plan = plans.get(i);
            dependencies.ambient().start("semel-tick", () -> {
                try {
                    Edit.Settled one = process(plan, now);
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
            wakeSignal.end();
        }
        synchronized (settled) {
            return settled.stream()
                    .filter(Objects::nonNull)
                    .map(Objects::requireNonNull)
                    .toList();
        }
    }

    /** Returns null if the store did not answer; the tick fires again. */
    private Edit.@Nullable Settled process(TickPlan plan, long now) {
        Rows.Schedule row = plan.row();
        try {
            List<Rows.Tick> ticks = skipped(plan, now);
            RunId last = null;
            for (Rows.Tick tick : ticks) {
                last = tick.state().ran() ? tick.run() : last;
            }
            TickPlan.Firing firing = plan.fire();
            if (firing != null) {
                Rows.Tick tick = admitted(plan, firing, now);
                ticks.add(tick);
                last = tick.run() == null ? last : tick.run();
            }
            return new Edit.Settled(
                    row.workflowId(), row.name(), row.nextNominal(), plan.nextNominal(), plan.nextAt(), last, ticks);
        } catch (RuntimeException e) {
            if (!Ambient.Death.isIn(e)) {
                LOG.log(
                        Level.WARNING,
                        "a tick of schedule " + row.name() + " of workflow " + row.workflowId()
                                + " was not processed; the worker retries: " + e.getMessage());
            }
            return null;
        }
    }

    /** Returns the skipped ticks. If a worker took them before and crashed, some may have a run. */
    private List<Rows.Tick> skipped(TickPlan plan, long now) {
        Rows.Schedule row = plan.row();
        List<Name> names = row.takenBy() == null
                ? List.of()
                : plan.skipped().stream()
                        .map(skip -> Naming.ofDoor(
                                row.ws(), TickDoor.name(row.workflowId(), plan.schedule(), skip.nominal())))
                        .toList();
        List<@Nullable Known> known =
                names.isEmpty() ? List.of() : parts.readers().names(names).known();
        List<Rows.Tick> ticks = new ArrayList<>();
        for (int i = 0; i < plan.skipped().size(); i++) {
            TickPlan.Skipped skip = plan.skipped().get(i);
            Known run = known.isEmpty() ? null : known.get(i);
            boolean overlaps = skip.reason() == dev.semel.schedule.Tick.Reason.OVERLAP;
            boolean isRange = plan.through() != null && i == plan.skipped().size() - 1;
            ticks.add(new Rows.Tick(
                    row.workflowId(),
                    row.name(),
                    Micros.of(skip.nominal()),
                    run == null ? Ticked.SKIPPED : Ticked.FIRED,
                    run == null ? skip.reason().word() : "",
                    run != null ? run.run() : overlaps ? row.lastRun() : null,
                    now,
                    isRange ? Micros.of(Objects.requireNonNull(plan.through())) : 0));
        }
        return ticks;
    }

    private Rows.Tick admitted(TickPlan plan, TickPlan.Firing firing, long now) {
        Rows.Schedule row = plan.row();
        long nominal = Micros.of(firing.nominal());
        try {
            Current current = Objects.requireNonNull(catalog.find(row.ws(), row.workflowId()));
            Answer answer = admission.admit(row.ws(), current, plan.schedule(), firing.nominal());
            Ticked state = firing.late() ? Ticked.CAUGHT_UP : Ticked.FIRED;
            return new Rows.Tick(row.workflowId(), row.name(), nominal, state, "", answer.run(), now, 0);
        } catch (SemelException e) {
            if (e.code() == ErrorCode.STORE_UNAVAILABLE || e.code().retryable()) {
                throw e;
            }
            LOG.log(
                    Level.WARNING,
                    "a tick of schedule " + row.name() + " of workflow " + row.workflowId() + " started no run: "
                            + e.getMessage());
            return new Rows.Tick(
                    row.workflowId(),
                    row.name(),
                    nominal,
                    Ticked.REFUSED,
                    e.code().slug(),
                    null,
                    now,
                    0);
        }
    }

    private void pause() {
        wakeSignal.await(Math.min(LOOK_NANOS, Math.max(1, nextLook - dependencies.ambient().nanos())));
    }

    @Override
    public void close() {
        wakeSignal.end(thread);
    }
}
