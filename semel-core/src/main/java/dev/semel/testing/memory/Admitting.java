package dev.semel.testing.memory;

import dev.semel.key.Admissions;
import dev.semel.key.Admissions.Standing;
import dev.semel.key.Known;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.Name;
import dev.semel.store.NewRun;
import dev.semel.store.Wish;
import dev.semel.store.Write;
import dev.semel.store.Write.Admitted;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Takes names and makes runs. */
final class Admitting {
    private final Tables tables;
    private final Gates gates;

    Admitting(Tables tables, Gates gates) {
        this.tables = tables;
        this.gates = gates;
    }

    Admitted admit(Write.Admit admit, MemoryLane.Moment moment) {
        long now = moment.now();
        // One that is on record was in time, and is applied again after a lost answer.
        Long change = tables.catalog.get(Tables.ONE);
        if ((change == null || admit.change() != change)
                && !tables.runs.has(admit.run().id())) {
            return new Admitted.Stale();
        }
        Admitted absorbed = gates.absorb(admit, now);
        if (absorbed != null) {
            return absorbed;
        }
        List<@Nullable Known> held = new ArrayList<>();
        boolean blocked = false;
        for (Wish wish : admit.wishes()) {
            Known known = find(tables, wish.name());
            boolean stops = known != null
                    && wish.binding()
                    && !known.run().equals(admit.run().id())
                    && Admissions.standing(known, now) == Standing.LIVE;
            blocked |= stops;
            held.add(stops ? known : null);
        }
        if (blocked) {
            return new Admitted.Held(now, held);
        }
        Known failed = failed(admit, now);
        if (failed != null) {
            return new Admitted.Failed(now, failed);
        }
        Origins origins = origins(admit, now);
        for (Wish wish : admit.wishes()) {
            Known known = find(tables, wish.name());
            boolean free = known == null || Admissions.standing(known, now) != Standing.LIVE;
            if (free && !mine(wish.name(), admit.run().id())) {
                take(tables, wish, admit.run().id(), now);
            }
        }
        return create(admit.run(), admit.own() ? moment.lease() : null, now, origins);
    }

    /** The failed run whose line this one would continue without saying so; null where there is none. */
    private @Nullable Known failed(Write.Admit admit, long now) {
        for (Wish wish : admit.wishes()) {
            Known known = wish.name().kind() == Name.Kind.PAYLOAD ? null : find(tables, wish.name());
            Standing standing = known == null ? Standing.LIVE : Admissions.standing(known, now);
            if (known != null
                    && standing != Standing.LIVE
                    && !known.run().equals(admit.run().id())) {
                return standing == Standing.FAILED && !admit.continues(known) ? known : null;
            }
        }
        return null;
    }

    private boolean mine(Name name, RunId run) {
        Tables.Key key = tables.keys.get(name);
        return key != null && key.run().equals(run);
    }

    /** Where the new run comes from: its lineage, the run before it, the run with the same payload. */
    private record Origins(
            RunId lineage,
            Write.@Nullable Earlier earlier,
            @Nullable Known duplicateOf,
            long sinceAt) {}

    private Origins origins(Write.Admit admit, long now) {
        RunId mine = admit.run().id();
        RunId given = admit.run().links().lineage();
        RunId lineage = given == null ? mine : given;
        RunId failedLineage = null;
        Write.Earlier earlier = null;
        Known duplicateOf = null;
        long sinceAt = 0;
        for (Wish wish : admit.wishes()) {
            Known known = find(tables, wish.name());
            if (known == null) {
                continue;
            }
            if (known.run().equals(mine)) {
                lineage = known.lineage(); // applied again after a lost answer
                continue;
            }
            Standing standing = Admissions.standing(known, now);
            if (standing == Standing.LIVE) {
                duplicateOf = known;
            } else if (earlier == null && wish.name().kind() != Name.Kind.PAYLOAD) {
                // A payload that was seen under another key says nothing about who used this key before.
                earlier = new Write.Earlier(known.run(), known.chosenRunId(), standing == Standing.EXPIRED);
                sinceAt = standing == Standing.EXPIRED ? known.firstAt() : 0;
                failedLineage = standing == Standing.FAILED ? known.lineage() : null;
            }
        }
        return new Origins(failedLineage == null ? lineage : failedLineage, earlier, duplicateOf, sinceAt);
    }

    /** The run before this one, of an admission that is applied again: its names tell no more. */
    private Write.@Nullable Earlier recorded(RunId run) {
        Tables.Run made = tables.runs.get(run);
        RunId previous = made == null ? null : made.previous();
        Tables.Run before = previous == null ? null : tables.runs.get(previous);
        return before == null
                ? null
                : new Write.Earlier(before.id(), before.asked().chosenId(), false);
    }

    private Admitted create(NewRun run, @Nullable Long lease, long now, Origins origins) {
        boolean queued = run.state() == RunState.QUEUED;
        // A run behind a gate is claimed when its time has come, by whoever has room then.
        Long owner = queued || run.gate() != null ? null : lease;
        Write.Earlier earlier = origins.earlier();
        Known duplicateOf = origins.duplicateOf();
        boolean isNew = tables.runs.add(
                run.id(),
                new Tables.Run(
                        run,
                        run.input(),
                        origins.lineage(),
                        earlier == null ? null : earlier.run(),
                        duplicateOf == null ? null : duplicateOf.run(),
                        now));
        boolean waits = !isNew && run.gate() != null && tables.stateOf(run.id()) == RunState.QUEUED;
        if (isNew) {
            // Only with a new run row: an applied-again admission must not bring a finished run back to work.
            Work work = new Work(run.id(), run.workflowId(), run.state());
            work.owner = owner;
            work.claims = owner == null ? 0 : 1;
            work.held = queued;
            tables.work.put(run.id(), work);
            link(run);
            if (!run.links().carried().isEmpty()) {
                var chunk = new Tables.Chunk(run.id(), 0, now, run.links().carried());
                tables.journal.put(new Pair<>(run.id(), 0), chunk);
            }
            tables.counted.fresh(run, origins.sinceAt(), now);
            waits = !gates.enter(run, now);
        }
        Work work = tables.work.get(run.id());
        boolean owned = owner != null && work != null && owner.equals(work.owner);
        return new Admitted.Fresh(
                now, owned, origins.lineage(), isNew ? earlier : recorded(run.id()), duplicateOf, waits);
    }

    private void link(NewRun run) {
        NewRun.Links links = run.links();
        if (links.isLinked()) {
            tables.links.put(run.id(), new Tables.Link(run.id(), links.parent(), links.replayOf(), links.depth()));
        }
    }

    static void take(Tables tables, Wish wish, RunId run, long now) {
        byte[] digest = wish.digest().clone();
        tables.keys.put(wish.name(), new Tables.Key(wish.name(), run, digest, now, wish.expiresAt(now), wish.flags()));
    }

    static @Nullable Known find(Tables tables, Name name) {
        Tables.Key key = tables.keys.get(name);
        return key == null ? null : known(tables, key);
    }

    /** Null where the name's run is not there. */
    static @Nullable Known known(Tables tables, Tables.Key key) {
        Tables.Run run = tables.runs.get(key.run());
        RunState state = tables.stateOf(key.run());
        return run == null || state == null
                ? null
                : new Known(
                        key.run(),
                        run.asked().chosenId(),
                        key.digest().clone(),
                        run.asked().fields().clone(),
                        run.asked().workflowId(),
                        run.asked().version(),
                        state,
                        run.lineage(),
                        key.firstAt(),
                        key.expiresAt(),
                        key.flags());
    }
}
