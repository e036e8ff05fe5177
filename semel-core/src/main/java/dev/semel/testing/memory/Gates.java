package dev.semel.testing.memory;

import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.NewRun;
import dev.semel.store.Rows;
import dev.semel.store.StoreFailure;
import dev.semel.store.Wish;
import dev.semel.store.Write;
import java.util.Comparator;
import java.util.List;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;

/** What stands between the admission of a run and its start: queues, a rate, a delay, a wait for quiet. */
final class Gates {
    private final Tables tables;

    Gates(Tables tables) {
        this.tables = tables;
    }

    /** Puts a run that was just made behind its gate. True: it may start now. Its row of work is there, unowned. */
    boolean enter(NewRun run, long now) {
        NewRun.Gate gate = run.gate();
        Work made = tables.work.get(run.id());
        if (gate == null || made == null) {
            return true;
        }
        long due = now + gate.delay();
        String waits = gate.delay() > 0 ? waits("delay", due) : null;
        if (gate.rate() != null) {
            long start = nextStart(gate.rate(), now);
            if (start > due) {
                due = start;
                waits = waits("rate_limit", due);
            }
        }
        NewRun.Gate.Debounce quiet = gate.debounce();
        if (quiet != null) {
            due = Math.max(due, now + Math.min(quiet.quiet(), quiet.atMost()));
            waits = waits("debounce", due);
            tables.quiet.put(quiet.name(), run.id());
        }
        boolean hasPlaces = takePlaces(gate.places(), run.id());
        boolean paused = run.state() == RunState.QUEUED;
        Work work = made.copy();
        work.due = due <= now ? 0 : due;
        work.waits = hasPlaces ? waits : "{\"for\":\"queue\"}";
        work.gated = gate.places().isEmpty()
                ? Work.Gated.NO
                : hasPlaces ? Work.Gated.HAS_ITS_PLACES : Work.Gated.WAITS_FOR_ONE;
        work.held = paused || !hasPlaces;
        work.admitAs(hasPlaces && due <= now && !paused ? RunState.STARTED : RunState.QUEUED);
        tables.work.put(run.id(), work);
        return work.state() == RunState.STARTED;
    }

    /** Puts a run that goes on in place behind its queues once more. Its row of work is there, unowned. */
    void again(RunId run, List<NewRun.Gate.Place> places) {
        Work made = tables.work.get(run);
        if (places.isEmpty() || made == null) {
            return;
        }
        Work work = made.copy();
        if (takePlaces(places, run)) {
            work.gated = Work.Gated.HAS_ITS_PLACES;
        } else {
            work.gated = Work.Gated.WAITS_FOR_ONE;
            work.held = true;
            work.waits = "{\"for\":\"queue\"}";
            work.admitAs(RunState.QUEUED);
        }
        tables.work.put(run, work);
    }

    private static String waits(String reason, long due) {
        return "{\"for\":\"" + reason + "\",\"until\":" + due + "}";
    }

    private boolean takePlaces(List<NewRun.Gate.Place> places, RunId run) {
        boolean all = true;
        for (NewRun.Gate.Place place : places.stream()
                .sorted(Comparator.comparing(NewRun.Gate.Place::queue))
                .toList()) {
            all &= takePlace(place, run);
        }
        return all;
    }

    /** True: nobody is before this run. */
    private boolean takePlace(NewRun.Gate.Place place, RunId run) {
        Long tail = tables.queues.get(place.queue());
        long ticket = tail == null ? 1 : tail + 1;
        tables.queues.put(place.queue(), ticket);
        boolean begins = begun(place.queue()) < place.cap() && firstWaiting(place.queue()) == null;
        tables.places.put(
                new Pair<>(place.queue(), ticket), new Tables.Place(place.queue(), ticket, run, place.cap(), begins));
        return begins;
    }

    private List<Tables.Place> of(String queue) {
        return tables.places.rows().tailMap(new Pair<>(queue, Long.MIN_VALUE)).values().stream()
                .takeWhile(place -> place.queue().equals(queue))
                .toList();
    }

    private long begun(String queue) {
        return of(queue).stream().filter(Tables.Place::begun).count();
    }

    private Tables.@Nullable Place firstWaiting(String queue) {
        return of(queue).stream().filter(place -> !place.begun()).findFirst().orElse(null);
    }

    private long nextStart(NewRun.Gate.Rate rate, long now) {
        Long before = tables.rates.get(rate.name());
        long next = Math.max(before == null ? now : before, now) + rate.interval();
        tables.rates.put(rate.name(), next);
        // So many starts are free at once; each later one waits until its share of time has come.
        return next - rate.interval() * rate.burst();
    }

    /** Ends the places of a run that ended, and lets those behind it go. */
    void leave(RunId ended) {
        List<Tables.Place> left =
                tables.placesByRun.tailMap(new Pair<>(ended, new Pair<>("", Long.MIN_VALUE))).values().stream()
                        .takeWhile(place -> place.run().equals(ended))
                        .toList();
        TreeSet<String> queues = new TreeSet<>();
        for (Tables.Place place : left) {
            queues.add(place.queue());
            tables.places.remove(new Pair<>(place.queue(), place.ticket()));
        }
        queues.forEach(this::promote);
    }

    private void promote(String queue) {
        while (true) {
            Tables.Place first = firstWaiting(queue);
            long begun = begun(queue);
            if (first == null) {
                if (begun == 0) {
                    tables.queues.remove(queue);
                }
                return;
            }
            if (begun >= first.cap()) {
                return;
            }
            tables.places.put(
                    new Pair<>(queue, first.ticket()),
                    new Tables.Place(queue, first.ticket(), first.run(), first.cap(), true));
            letGo(first.run());
        }
    }

    /** A run whose workflow was paused meanwhile stays held until the end of the pause, unless it is to be cancelled. */
    private void letGo(RunId run) {
        Work waiting = tables.work.get(run);
        if (waiting == null || waiting.gated != Work.Gated.WAITS_FOR_ONE || waitsSomewhere(run)) {
            return;
        }
        Rows.Workflow workflow = tables.workflowsById.get(waiting.workflowId);
        if (workflow == null) {
            throw new StoreFailure.Poisoned("the store refused a value", new IllegalArgumentException("no workflow"));
        }
        Work work = waiting.copy();
        work.gated = Work.Gated.HAS_ITS_PLACES;
        work.waits = null;
        work.held = workflow.paused() && !work.cancel;
        tables.work.put(run, work);
    }

    private boolean waitsSomewhere(RunId run) {
        return tables.placesByRun.tailMap(new Pair<>(run, new Pair<>("", Long.MIN_VALUE))).values().stream()
                .takeWhile(place -> place.run().equals(run))
                .anyMatch(place -> !place.begun());
    }

    /** A run that waits for quiet takes this trigger in: its input is the newest, its wait begins again. */
    Write.Admitted.@Nullable Absorbed absorb(Write.Admit admit, long now) {
        NewRun.Gate gate = admit.run().gate();
        NewRun.Gate.Debounce quiet = gate == null ? null : gate.debounce();
        if (quiet == null) {
            return null;
        }
        // The other stores lock this row; here it is only the same row in the same place.
        tables.queues.add("quiet:" + quiet.name(), 0L);
        RunId waiting = tables.quiet.get(quiet.name());
        // A trigger that finds itself was applied before; a name that is held, or was, is for the admission to judge.
        if (waiting == null
                || waiting.equals(admit.run().id())
                || admit.wishes().stream().anyMatch(wish -> wish.binding() && tables.keys.has(wish.name()))) {
            return null;
        }
        Tables.Run run = tables.runs.get(waiting);
        Work work = tables.work.get(waiting);
        boolean stillWaits = work != null && work.owner == null && work.claims == 0 && !work.cancel && work.due > now;
        if (run == null || work == null || !stillWaits) {
            return null;
        }
        long due = Math.min(now + quiet.quiet(), run.createdAt() + quiet.atMost());
        Work longer = work.copy();
        longer.due = due;
        longer.waits = waits("debounce", due);
        tables.work.put(waiting, longer);
        tables.runs.put(
                waiting,
                new Tables.Run(
                        run.asked(),
                        admit.run().input(),
                        run.lineage(),
                        run.previous(),
                        run.duplicateOf(),
                        run.createdAt()));
        for (Wish wish : admit.wishes()) {
            if (!tables.keys.has(wish.name())) {
                Admitting.take(tables, wish, waiting, now);
            }
        }
        return new Write.Admitted.Absorbed(now, waiting, run.asked().chosenId(), due);
    }
}
