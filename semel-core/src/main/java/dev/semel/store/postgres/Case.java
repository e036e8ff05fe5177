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

/** The state of one trigger while a batch admits it: the keys it claimed, shares, got or found in use. */
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

    /** The run that gets its keys: its own, or the debounced run that it is merged into. */
    RunId holder() {
        return taker == null ? run() : taker;
    }

    /**
     * Claims a key, or shares it with the first trigger of the batch that claimed it; a shared key is only reported.
     */
    void lead(Wish wish, Map<Name, Case> leaders) {
        (leaders.putIfAbsent(wish.name(), this) == null ? wanted : shared).add(wish);
    }

    boolean blocked() {
        return held() || failed() != null;
    }

    /** Whether a live run holds one of its binding keys. */
    boolean held() {
        return lost.stream()
                .anyMatch(l -> l.standing() == Standing.LIVE && l.wish().binding());
    }

    /** Returns the failed run whose lineage the trigger would continue without declaring it, or null. */
    @Nullable
    Known failed() {
        return lost.stream()
                .filter(l -> l.standing() != Standing.LIVE && l.wish().name().kind() != Name.Kind.PAYLOAD)
                .findFirst()
                .filter(l -> l.standing() == Standing.FAILED && !admit.continues(l.known()))
                .map(Lost::known)
                .orElse(null);
    }

    /** When its expired key was first used; 0 if none expired. */
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

    /** A key that was in the table already, with its record and state. */
    record Lost(Wish wish, Known known, Standing standing) {}
}
