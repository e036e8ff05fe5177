package dev.semel.server.files.steps;

import java.time.Duration;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * An effect as its file declares it: its action, key, window and protection, for views and lint.
 *
 * @param target e.g. `POST https://crm.example/v2/leads`; never contains a value of a run
 * @param does create, update or notify
 * @param key the expression of `idempotent.key` as written; null if the step id is the key
 * @param window how long the key applies across runs; null if it applies only to the run and its replays
 * @param onChange send, suppress or review; null without a window
 * @param protection provider_key, lookup, at_most_once, ask, repeatable, tx or none
 * @param providerWindow how long the provider remembers the key; null for other protections
 * @param reason reason for protection `none`; otherwise null
 * @param risk `high`, or null
 */
public record DeclaredEffect(
        String target,
        String does,
        @Nullable String key,
        @Nullable Duration window,
        @Nullable String onChange,
        String protection,
        @Nullable Duration providerWindow,
        @Nullable String reason,
        @Nullable String risk,
        List<Integer> alreadyDoneStatuses) {
    public DeclaredEffect {
        alreadyDoneStatuses = List.copyOf(alreadyDoneStatuses);
    }

    /** An effect on the store's own database, which commits together with its record. */
    public static DeclaredEffect tx(String target) {
        return new DeclaredEffect(target, "update", null, null, null, "tx", null, null, null, List.of());
    }
}
