package dev.semel;

import dev.semel.engine.Naming;
import dev.semel.key.Known;
import dev.semel.store.Edit;
import dev.semel.store.Name;
import dev.semel.store.Rows;
import java.util.ArrayList;
import java.util.List;

/** Builds the store change that releases idempotency keys, so that their next trigger starts a new run. */
public final class Releasing {
    private Releasing() {}

    /**
     * A change that releases each key if it still belongs to the run that was read with it. It also releases that run's
     * payload fingerprint, which could otherwise reject the next trigger. Returns false if all were released before.
     */
    public static Edit<Boolean> of(List<Rows.Held> keys, Edit.By by) {
        List<Edit.Release> releases = new ArrayList<>();
        for (Rows.Held held : keys) {
            Known known = held.known();
            Name payload = Naming.payload(held.name().workspace(), known.workflowId(), known.digest());
            releases.add(new Edit.Release(held.name(), known.run(), by));
            releases.add(new Edit.Release(payload, known.run(), by));
        }
        return new Edit.ReleaseAll(releases);
    }
}
