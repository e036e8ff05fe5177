package dev.semel.server.api;

import dev.semel.server.language.Durations;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.OffsetDateTime;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * When a fresh run starts: `delay` after its admission, or not before `start_at`. Neither is part of what is asked for,
 * so a repeat with another one is the same trigger.
 */
record Later(@Nullable Duration delay, @Nullable Instant startAt) {
    static final Later AT_ONCE = new Later(null, null);

    private static final Duration LONGEST = Duration.ofDays(365);

    /** So late that it is refused anyway, and its microseconds can be counted. */
    private static final Instant LATEST = Instant.parse("9999-12-31T23:59:59Z");

    static Later in(JsonNode body) {
        JsonNode delay = body.path("delay");
        JsonNode startAt = body.path("start_at");
        boolean delays = !delay.isMissingNode() && !delay.isNull();
        boolean starts = !startAt.isMissingNode() && !startAt.isNull();
        if (delays && starts) {
            throw Ask.invalid("/start_at", "delay and start_at say the same thing twice; send one of them");
        }
        return new Later(delays ? duration(delay) : null, starts ? instant(startAt) : null);
    }

    private static Duration duration(JsonNode value) {
        Duration length = value.isString() ? Durations.parse(value.stringValue()).orElse(null) : null;
        if (length == null || length.compareTo(LONGEST) > 0) {
            throw Ask.invalid("/delay", "delay must be a duration such as 30s, 15m, 24h or 7d, at most 365d");
        }
        return length;
    }

    private static Instant instant(JsonNode value) {
        try {
            Instant at = OffsetDateTime.parse(value.asString()).toInstant();
            return at.isAfter(LATEST) ? LATEST : at;
        } catch (DateTimeException e) {
            throw Ask.invalid("/start_at", "start_at must be a time such as 2026-03-01T09:00:00Z");
        }
    }

    /** Microseconds from now; none where the time has passed. */
    long micros(LongSupplier now) {
        if (startAt == null) {
            return delay == null ? 0 : delay.toNanos() / 1_000;
        }
        long due = Math.addExact(Math.multiplyExact(startAt.getEpochSecond(), 1_000_000L), startAt.getNano() / 1_000);
        long left = Math.max(0, due - now.getAsLong());
        if (left > LONGEST.toNanos() / 1_000) {
            throw Ask.invalid("/start_at", "start_at must be within 365 days");
        }
        return left;
    }
}
