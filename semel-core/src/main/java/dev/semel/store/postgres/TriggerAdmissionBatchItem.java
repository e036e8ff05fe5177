package dev.semel.store.postgres;

import dev.semel.admission.RunDeduplicationKey;
import dev.semel.admission.RunDeduplicationKeyClaim;
import dev.semel.admission.RunDeduplicationKeyRecord;
import dev.semel.admission.TriggerAdmissionRules.KeyStatus;
import dev.semel.run.RunId;
import dev.semel.store.StoreWrite;
import dev.semel.store.jdbc.session.DebouncedKeyDigest;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The state of one trigger while a batch admits it: the keys it claimed, shares, got or found in use. */
final class TriggerAdmissionBatchItem {
    final int position;
    final StoreWrite.AdmitRun admit;
    final List<RunDeduplicationKeyClaim> leadClaims = new ArrayList<>();
    final List<RunDeduplicationKeyClaim> sharedClaims = new ArrayList<>();
    final List<RunDeduplicationKeyClaim> takenClaims = new ArrayList<>();
    final List<OccupiedKey> occupiedKeys = new ArrayList<>();
    final @Nullable RunId debounceTarget;
    final boolean decidedByKey;
    RunId lineage;
    boolean retry;

    TriggerAdmissionBatchItem(
            PostgresBatchWriter.IndexedWrite<StoreWrite.AdmitRun> indexed, PostgresBatchRowLocker locks) {
        this.position = indexed.position();
        this.admit = indexed.write();
        this.debounceTarget = locks.debounceTarget(admit);
        this.decidedByKey = locks.isDecidedByKey(admit);
        RunId given = admit.run().links().lineage();
        this.lineage = given == null ? admit.run().id() : given;
    }

    /** The run that gets its keys: its own, or the debounced run that it is merged into. */
    RunId keyHolder() {
        return debounceTarget == null ? run() : debounceTarget;
    }

    byte[] digestOf(RunDeduplicationKeyClaim claim) {
        return debounceTarget == null
                ? claim.digest()
                : DebouncedKeyDigest.join(claim.digest(), admit.run().fields());
    }

    /** Claims or shares it with the first trigger of the batch that claimed it; a shared key is only reported. */
    void addClaim(RunDeduplicationKeyClaim claim, Map<RunDeduplicationKey, TriggerAdmissionBatchItem> leaders) {
        (leaders.putIfAbsent(claim.key(), this) == null ? leadClaims : sharedClaims).add(claim);
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
    RunDeduplicationKeyRecord failedHolder() {
        return occupiedKeys.stream()
                .filter(l ->
                        l.keyState() != KeyStatus.LIVE && l.claim().key().kind() != RunDeduplicationKey.KeyKind.PAYLOAD)
                .findFirst()
                .filter(l -> l.keyState() == KeyStatus.FAILED && !admit.continuesLineage(l.keyRecord()))
                .map(OccupiedKey::keyRecord)
                .orElse(null);
    }

    /** When its expired key was first used; 0 if none expired. */
    long keyFirstUsedAt() {
        return occupiedKeys.stream()
                .filter(l ->
                        l.keyState() != KeyStatus.LIVE && l.claim().key().kind() != RunDeduplicationKey.KeyKind.PAYLOAD)
                .findFirst()
                .filter(l -> l.keyState() == KeyStatus.EXPIRED)
                .map(l -> l.keyRecord().firstAt())
                .orElse(0L);
    }

    RunId run() {
        return admit.run().id();
    }

    /** A key that was in the table already, with its record and state. */
    record OccupiedKey(RunDeduplicationKeyClaim claim, RunDeduplicationKeyRecord keyRecord, KeyStatus keyState) {}
}
