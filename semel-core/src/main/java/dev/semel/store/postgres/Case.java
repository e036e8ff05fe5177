package dev.semel.store.postgres;

import dev.semel.key.Admissions.Standing;
import dev.semel.key.Known;
import dev.semel.run.RunId;
import dev.semel.store.Name;
import dev.semel.store.Wish;
import dev.semel.store.Write;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** A trigger on its way through the batch. */
final class Case {
    final int at;
    final Write.Admit admit;
    final List<Wish> wanted = new ArrayList<>();
    final List<Wish> shared = new ArrayList<>();
    final List<Wish> taken = new ArrayList<>();
    final List<Lost> lost = new ArrayList<>();
    final @Nullable RunId taker;
    RunId lineage;
    boolean again;

    Case(PostgresLane.Indexed<Write.Admit> indexed, Locking locks) {
        this.at = indexed.at();
        this.admit = indexed.write();
        this.taker = locks.taker(admit);
        RunId given = admit.run().links().lineage();
        this.lineage = given == null ? admit.run().id() : given;
    }

    /** For which run it takes its names: its own, or the one that waits for quiet and takes it in. */
    RunId holder() {
        return taker == null ? run() : taker;
    }

    /** A name that does not bind is shared with the first in the batch who wants it, and only reported. */
    void lead(Wish wish, Map<Name, Case> leaders) {
        (leaders.putIfAbsent(wish.name(), this) == null ? wanted : shared).add(wish);
    }

    boolean blocked() {
        return held() || failed() != null;
    }

    /** A name that binds stands for a live run. */
    boolean held() {
        return lost.stream()
                .anyMatch(l -> l.standing() == Standing.LIVE && l.wish().binding());
    }

    /** The failed run whose line this one would continue without saying so; null where there is none. */
    @Nullable
    Known failed() {
        return lost.stream()
                .filter(l -> l.standing() != Standing.LIVE && l.wish().name().kind() != Name.Kind.PAYLOAD)
                .findFirst()
                .filter(l -> l.standing() == Standing.FAILED && !admit.continues(l.known()))
                .map(Lost::known)
                .orElse(null);
    }

    /** When its key was first used, where that has expired since; 0 elsewhere. */
    long sinceAt() {
        return lost.stream()
                .filter(l -> l.standing() != Standing.LIVE && l.wish().name().kind() != Name.Kind.PAYLOAD)
                .findFirst()
                .filter(l -> l.standing() == Standing.EXPIRED)
                .map(l -> l.known().firstAt())
                .orElse(0L);
    }

    RunId run() {
        return admit.run().id();
    }

    /** A name somebody else has, and how firmly. */
    record Lost(Wish wish, Known known, Standing standing) {}
}
