package dev.semel.server.api;

import dev.semel.store.Write;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * `kind:conflict workflow:payment_receipt key:evt_1 actor:tok_1 since:2h until:2026-11-15T09:00:00Z`, each at most once.
 *
 * @param since microseconds; requests from then on
 * @param until microseconds; requests before then
 */
record RequestFilter(
        @Nullable String kind,
        @Nullable String workflow,
        @Nullable String key,
        @Nullable String actor,
        long since,
        long until) {
    /** Ids are given by the clocks of servers, times by that of the store; they are never this far apart. */
    private static final long SKEW_MICROS = 3_600_000_000L;

    private static final String WORDS =
            "q takes words like kind:conflict workflow:NAME key:KEY actor:ID since:2h until:2026-11-15T09:00:00Z";

    static RequestFilter parse(@Nullable String text, long now) {
        Map<String, String> said =
                FilterWords.in(text, Set.of("kind", "workflow", "key", "actor", "since", "until"), WORDS);
        return new RequestFilter(
                kind(said.get("kind")),
                said.get("workflow"),
                said.get("key"),
                said.get("actor"),
                AuditFilter.moment(said, "since", now, 0),
                AuditFilter.moment(said, "until", now, Long.MAX_VALUE));
    }

    private static @Nullable String kind(@Nullable String word) {
        if (word != null && !word.equals("replayed") && !word.equals("conflict")) {
            throw Paging.refused("kind is replayed or conflict");
        }
        return word;
    }

    /** Whether every row fits, so that a page needs no more rows than it shows. */
    boolean isEmpty() {
        return kind == null
                && workflow == null
                && key == null
                && actor == null
                && since == 0
                && until == Long.MAX_VALUE;
    }

    /** Whether neither this row nor an older one can be wanted. */
    boolean isPast(Write.Seen row) {
        return row.at() < since - SKEW_MICROS;
    }

    /** All but the workflow and the key, which are those of the run. */
    boolean wants(Write.Seen row) {
        return row.at() >= since
                && row.at() < until
                && (actor == null || actor.equals(row.actor()))
                && (kind == null || kind.equals(row.conflict() ? "conflict" : "replayed"));
    }
}
