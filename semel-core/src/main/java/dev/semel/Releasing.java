package dev.semel;

import dev.semel.engine.Naming;
import dev.semel.key.Known;
import dev.semel.store.Edit;
import dev.semel.store.Name;
import dev.semel.store.Rows;
import java.util.ArrayList;
import java.util.List;

/** Letting keys go. */
public final class Releasing {
    private Releasing() {}

    /**
     * The change that lets keys go, each as long as it stands for the run that was read with it; with it the payload of
     * that run, which would hold the next trigger back otherwise. It answers false where all were let go before.
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
