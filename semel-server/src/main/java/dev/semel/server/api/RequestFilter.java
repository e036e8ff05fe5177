package dev.semel.server.api;

import dev.semel.store.Write;
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
        String kind = null;
        String workflow = null;
        String key = null;
        String actor = null;
        long since = 0;
        long until = Long.MAX_VALUE;
        for (String word :
                text == null || text.isBlank() ? new String[0] : text.strip().split("\\s+")) {
            int colon = word.indexOf(':');
            String value = word.substring(colon + 1);
            switch (colon < 1 || value.isEmpty() ? "" : word.substring(0, colon)) {
                case "kind" -> kind = kind(value);
                case "workflow" -> workflow = value;
                case "key" -> key = value;
                case "actor" -> actor = value;
                case "since" -> since = AuditFilter.moment("since", value, now);
                case "until" -> until = AuditFilter.moment("until", value, now);
                default -> throw Paging.refused(WORDS);
            }
        }
        return new RequestFilter(kind, workflow, key, actor, since, until);
    }

    private static String kind(String word) {
        if (!word.equals("replayed") && !word.equals("conflict")) {
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
