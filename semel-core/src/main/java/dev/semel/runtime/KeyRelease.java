package dev.semel.runtime;

import dev.semel.engine.KeyDerivation;
import dev.semel.admission.KeyRecord;
import dev.semel.store.StoreCommand;
import dev.semel.store.UniqueKey;
import dev.semel.store.StoredRows;
import java.util.ArrayList;
import java.util.List;

/** Builds the store change that releases idempotency keys, so that their next trigger starts a new run. */
public final class KeyRelease {
    private KeyRelease() {}

    /**
     * A change that releases each key if it still belongs to the run that was read with it. It also releases that run's
     * payload fingerprint, which could otherwise reject the next trigger. Returns false if all were released before.
     */
    public static StoreCommand<Boolean> of(List<StoredRows.KeyRow> keys, StoreCommand.ChangeAuthor by) {
        List<StoreCommand.ReleaseKey> releases = new ArrayList<>();
        for (StoredRows.KeyRow held : keys) {
            KeyRecord known = held.keyRecord();
            UniqueKey payload = KeyDerivation.payloadKey(held.key().workspace(), known.workflowId(), known.digest());
            releases.add(new StoreCommand.ReleaseKey(held.key(), known.run(), by));
            releases.add(new StoreCommand.ReleaseKey(payload, known.run(), by));
        }
        return new StoreCommand.ReleaseKeys(releases);
    }
}
