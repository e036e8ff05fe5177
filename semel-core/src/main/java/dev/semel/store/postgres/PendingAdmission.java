package dev.semel.store.postgres;

import dev.semel.admission.AdmissionRules.KeyStatus;
import dev.semel.admission.KeyRecord;
import dev.semel.run.RunId;
import dev.semel.store.KeyClaim;
import dev.semel.store.StoreWrite;
import dev.semel.store.UniqueKey;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The state of one trigger while a batch admits it: the keys it claimed, shares, got or found in use. */
final class PendingAdmission {
    final int position;
    final StoreWrite.AdmitRun admit;
    final List<KeyClaim> leadClaims = new ArrayList<>();
    final List<KeyClaim> sharedClaims = new ArrayList<>();
    final List<KeyClaim> takenClaims = new ArrayList<>();
    final List<OccupiedKey> occupiedKeys = new ArrayList<>();
    final @Nullable RunId debounceTarget;
    RunId lineage;
    boolean retry;

    PendingAdmission(PostgresWriteLane.IndexedWrite<StoreWrite.AdmitRun> indexed, BatchLocks locks) {
        this.position = indexed.position();
        this.admit = indexed.write();
        this.debounceTarget = locks.debounceTarget(admit);
        RunId given = admit.run().links().lineage();
        this.lineage = given == null ? admit.run().id() : given;
    }

    /** The run that gets its keys: its own, or the debounced run that it is merged into. */
    RunId keyHolder() {
        return debounceTarget == null ? run() : debounceTarget;
    }

    /**
     * Claims a key, or shares it with the first trigger of the batch that claimed it; a shared key is only reported.
     */
    void addClaim(KeyClaim wish, Map<UniqueKey, PendingAdmission> leaders) {
        (leaders.putIfAbsent(wish.key(), this) == null ? leadClaims : sharedClaims).add(wish);
    }

    boolean isBlocked() {
        return isHeld() || failedHolder() != null;
    }

    /** Whether a live run holds one of its binding keys. */
    boolean isHeld() {
        return occupiedKeys.stream()
                .anyMatch(l -> l.keyState() == KeyStatus.LIVE && l.claim().binding());
    }

    /** Returns the failed run whose lineage the trigger would continue without declaring it, or null. */
    @Nullable
    KeyRecord failedHolder() {
        return occupiedKeys.stream()
                .filter(l -> l.keyState() != KeyStatus.LIVE && l.claim().key().kind() != UniqueKey.KeyKind.PAYLOAD)
                .findFirst()
                .filter(l -> l.keyState() == KeyStatus.FAILED && !admit.continuesLineage(l.keyRecord()))
                .map(OccupiedKey::keyRecord)
                .orElse(null);
    }

    /** When its expired key was first used; 0 if none expired. */
    long keyFirstUsedAt() {
        return occupiedKeys.stream()
                .filter(l -> l.keyState() != KeyStatus.LIVE && l.claim().key().kind() != UniqueKey.KeyKind.PAYLOAD)
                .findFirst()
                .filter(l -> l.keyState() == KeyStatus.EXPIRED)
                .map(l -> l.keyRecord().firstAt())
                .orElse(0L);
    }

    RunId run() {
        return admit.run().id();
    }

    /** A key that was in the table already, with its record and state. */
    record OccupiedKey(KeyClaim claim, KeyRecord keyRecord, KeyStatus keyState) {}
}
