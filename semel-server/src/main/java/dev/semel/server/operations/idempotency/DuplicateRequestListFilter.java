package dev.semel.server.operations.idempotency;

import dev.semel.server.operations.access.AuditFilter;
import dev.semel.server.query.ApiErrors;
import dev.semel.server.query.ApiListFilterParser;
import dev.semel.store.StoreWrite;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * The filter of `GET /v1/requests`: `kind:conflict workflow:NAME key:KEY actor:ID since:2h until:TIME`, each at most
 * once.
 *
 * @param since microseconds; inclusive
 * @param until microseconds; exclusive
 */
record DuplicateRequestListFilter(
        @Nullable String kind,
        @Nullable String workflow,
        @Nullable String key,
        @Nullable String actor,
        long since,
        long until) {
    /** Ids come from the clocks of servers, times from the clock of the store; the assumed maximum difference. */
    private static final long SKEW_MICROS = 3_600_000_000L;

    private static final String WORDS =
            "q accepts terms such as kind:conflict workflow:NAME key:KEY actor:ID since:2h until:2026-11-15T09:00:00Z";

    static DuplicateRequestListFilter parse(@Nullable String text, long now) {
        Map<String, String> terms =
                ApiListFilterParser.parse(text, Set.of("kind", "workflow", "key", "actor", "since", "until"), WORDS);
        return new DuplicateRequestListFilter(
                kind(terms.get("kind")),
                terms.get("workflow"),
                terms.get("key"),
                terms.get("actor"),
                AuditFilter.parseTime(terms, "since", now, 0),
                AuditFilter.parseTime(terms, "until", now, Long.MAX_VALUE));
    }

    private static @Nullable String kind(@Nullable String word) {
        if (word != null && !word.equals("replayed") && !word.equals("conflict")) {
            throw ApiErrors.invalidQuery("kind must be replayed or conflict");
        }
        return word;
    }

    /** True if every row matches, so that a page reads only the rows that it shows. */
    boolean isEmpty() {
        return kind == null
                && workflow == null
                && key == null
                && actor == null
                && since == 0
                && until == Long.MAX_VALUE;
    }

    /** True if neither this row nor an older one can match. */
    boolean isBeforeRange(StoreWrite.DuplicateRequest row) {
        return row.at() < since - SKEW_MICROS;
    }

    /** Checks everything except workflow and key, which belong to the run. */
    boolean matches(StoreWrite.DuplicateRequest row) {
        return row.at() >= since
                && row.at() < until
                && (actor == null || actor.equals(row.actor()))
                && (kind == null || kind.equals(row.conflict() ? "conflict" : "replayed"));
    }
}
