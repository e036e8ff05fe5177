package dev.semel.runtime;

import dev.semel.admission.RunDeduplicationKey;
import dev.semel.admission.RunDeduplicationKeyRecord;
import dev.semel.admission.TriggerDeduplicationKeyDerivation;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreWriteCommand;
import java.util.ArrayList;
import java.util.List;

/** Builds the store change that releases idempotency keys, so that their next trigger starts a new run. */
public final class IdempotencyKeyReleaser {
    private IdempotencyKeyReleaser() {}

    /**
     * A change that releases each key if it still belongs to the run that was read with it. It also releases that run's
     * payload fingerprint, which could otherwise reject the next trigger. Returns false if all were released before.
     */
    public static StoreWriteCommand<Boolean> of(List<DatabaseRows.KeyRow> keys, StoreWriteCommand.ChangeAuthor by) {
        List<StoreWriteCommand.ReleaseKey> releases = new ArrayList<>();
        for (DatabaseRows.KeyRow held : keys) {
            RunDeduplicationKeyRecord keyRecord = held.keyRecord();
            RunDeduplicationKey payload = TriggerDeduplicationKeyDerivation.payloadKey(
                    held.key().workspace(), keyRecord.workflowId(), keyRecord.digest());
            releases.add(new StoreWriteCommand.ReleaseKey(held.key(), keyRecord.run(), by));
            releases.add(new StoreWriteCommand.ReleaseKey(payload, keyRecord.run(), by));
        }
        return new StoreWriteCommand.ReleaseKeys(releases);
    }
}
