package dev.semel.server.operations.trigger;

import dev.semel.server.files.yaml.DurationFormat;
import dev.semel.server.query.ApiErrors;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** `delay` after admission, or `start_at`. Not in the fingerprint: a repeat with another delay is the same trigger. */
record RunStartDelay(@Nullable Duration delay, @Nullable Instant startAt) {
    static final RunStartDelay IMMEDIATELY = new RunStartDelay(null, null);

    private static final Duration LONGEST = Duration.ofDays(365);

    /** Later times are cut to this one, which is rejected anyway, so that its microseconds fit into a long. */
    private static final Instant LATEST = Instant.parse("9999-12-31T23:59:59Z");

    static RunStartDelay parse(JsonNode body) {
        JsonNode delay = body.path("delay");
        JsonNode startAt = body.path("start_at");
        boolean delays = !delay.isMissingNode() && !delay.isNull();
        boolean starts = !startAt.isMissingNode() && !startAt.isNull();
        if (delays && starts) {
            throw ApiErrors.invalidTrigger("/start_at", "send either `delay` or `start_at`, not both");
        }
        return new RunStartDelay(delays ? duration(delay) : null, starts ? instant(startAt) : null);
    }

    private static Duration duration(JsonNode value) {
        Duration length =
                value.isString() ? DurationFormat.parse(value.stringValue()).orElse(null) : null;
        if (length == null || length.compareTo(LONGEST) > 0) {
            throw ApiErrors.invalidTrigger(
                    "/delay", "delay must be a duration such as 500ms, 30s, 15m, 24h or 7d, at most 365d");
        }
        return length;
    }

    private static Instant instant(JsonNode value) {
        try {
            Instant at = OffsetDateTime.parse(value.asString("")).toInstant();
            return at.isAfter(LATEST) ? LATEST : at;
        } catch (DateTimeException e) {
            throw ApiErrors.invalidTrigger("/start_at", "start_at must be a time such as 2026-03-01T09:00:00Z");
        }
    }

    /** Microseconds from now; 0 if the time has passed. */
    long delayMicros(LongSupplier now) {
        if (startAt == null) {
            return delay == null ? 0 : delay.toNanos() / 1_000;
        }
        long due = Math.addExact(Math.multiplyExact(startAt.getEpochSecond(), 1_000_000L), startAt.getNano() / 1_000);
        long left = Math.max(0, due - now.getAsLong());
        if (left > LONGEST.toNanos() / 1_000) {
            throw ApiErrors.invalidTrigger("/start_at", "start_at must be within 365 days");
        }
        return left;
    }
}
