package dev.semel.server.steps;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An effect as its file declares it, for people and for the lint: what it does, and what keeps it from being done twice.
 *
 * @param target where it goes, e.g. `POST https://crm.example/v2/leads`; never with a value of a run in it
 * @param does create, update or notify
 * @param key the expression of `idempotent.key` as written; null where the step id is the key
 * @param window how long the key counts across runs; null where only the run and its replays count
 * @param onChange send, suppress or review; null without a window
 * @param protection provider_key, lookup, at_most_once, ask, repeatable, tx or none
 * @param providerWindow how long the provider remembers the key; null for other protections
 * @param because why it goes without a protection; null elsewhere
 * @param risk `high`, or null
 */
public record Declared(
        String target,
        String does,
        @Nullable String key,
        @Nullable Duration window,
        @Nullable String onChange,
        String protection,
        @Nullable Duration providerWindow,
        @Nullable String because,
        @Nullable String risk,
        List<Integer> alreadyDone) {
    public Declared {
        alreadyDone = List.copyOf(alreadyDone);
    }

    /** Rows in the store's own database, in one commit with their record. */
    static Declared tx(String target) {
        return new Declared(target, "update", null, null, null, "tx", null, null, null, List.of());
    }
}
