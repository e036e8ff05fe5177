package dev.semel.schedule;

import dev.semel.json.StrictJsonCodec;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * A tick is identified by its nominal time, which neither jitter nor lateness changes.
 *
 * @param name unique in its workflow
 * @param start no tick before it; null for none
 * @param end no tick at or after it; null for none
 * @param jitter a tick fires up to this much later, by an amount that is fixed for each tick
 * @param input the input of its runs, an object, to which {@code scheduled_at} is added
 */
public record Schedule(
        String name,
        ScheduleRule rule,
        @Nullable Instant start,
        @Nullable Instant end,
        OverlapPolicy overlap,
        CatchUpPolicy catchUp,
        Duration jitter,
        JsonNode input) {
    public static final int LONGEST_NAME = 64;
    public static final Duration LONGEST_JITTER = Duration.ofHours(1);

    /** What happens to a tick while the run of an earlier one has not ended. */
    public enum OverlapPolicy {
        SKIP,
        QUEUE,
        ALLOW
    }

    public enum CatchUpMode {
        ALL,
        LAST,
        NONE
    }

    /** What happens to ticks that were due while no worker ran. */
    public record CatchUpPolicy(CatchUpMode mode, Duration within) {
        public static final Duration LONGEST = Duration.ofDays(30);
        public static final CatchUpPolicy DEFAULT = new CatchUpPolicy(CatchUpMode.LAST, Duration.ofHours(1));

        public CatchUpPolicy {
            if (within.isNegative() || within.compareTo(LONGEST) > 0) {
                throw new IllegalArgumentException("the catch-up window must be 30d at most");
            }
        }
    }

    public Schedule {
        boolean plain = !name.isEmpty()
                && name.length() <= LONGEST_NAME
                && name.chars().allMatch(c -> c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '-');
        if (!plain) {
            throw new IllegalArgumentException(
                    "a schedule name must have 1 to 64 lower-case letters, digits, hyphens and underscores");
        }
        if (jitter.isNegative() || jitter.compareTo(LONGEST_JITTER) > 0) {
            throw new IllegalArgumentException("jitter must be 1h at most");
        }
    }

    /** Defaults: one run at a time; the last missed tick is caught up within an hour. */
    public static Schedule of(String name, ScheduleRule rule) {
        ObjectNode none = JsonNodeFactory.instance.objectNode();
        return new Schedule(name, rule, null, null, OverlapPolicy.SKIP, CatchUpPolicy.DEFAULT, Duration.ZERO, none);
    }

    public @Nullable Instant nextAfter(Instant time) {
        Instant from = start != null && time.isBefore(start) ? start.minusSeconds(1) : time;
        Instant next = rule.nextAfter(from);
        while (next != null && start != null && next.isBefore(start)) {
            next = rule.nextAfter(next); // a start that is not a whole second
        }
        return next == null || (end != null && !next.isBefore(end)) ? null : next;
    }

    public List<Instant> next(Instant from, int count) {
        List<Instant> times = new ArrayList<>();
        Instant next = nextAfter(from);
        while (next != null && times.size() < count) {
            times.add(next);
            next = nextAfter(next);
        }
        return times;
    }

    /** When a tick fires: its nominal time plus its jitter. */
    public Instant firesAt(String workflowId, Instant nominal) {
        long span = jitter.toMillis();
        if (span == 0) {
            return nominal;
        }
        long mixed = nominal.getEpochSecond();
        String whose = workflowId + "\n" + name;
        for (int i = 0; i < whose.length(); i++) {
            mixed = (mixed ^ whose.charAt(i)) * 0x9E3779B97F4A7C15L;
            mixed ^= mixed >>> 29;
        }
        return nominal.plusMillis(Math.floorMod(mixed, span + 1));
    }

    /** The schedule as JSON with a fixed member order: a different text means that the schedule was edited. */
    public String toJson() {
        ObjectNode text = JsonNodeFactory.instance.objectNode();
        switch (rule) {
            case CronRule cron ->
                text.put("cron", cron.text()).put("zone", cron.zone().getId());
            case IntervalRule every -> {
                text.put("every", every.interval().toString());
                if (!every.anchor().equals(Instant.EPOCH)) {
                    text.put("anchor", every.anchor().toString());
                }
            }
        }
        if (start != null) {
            text.put("start", start.toString());
        }
        if (end != null) {
            text.put("end", end.toString());
        }
        text.put("overlap", word(overlap));
        text.putObject("catch_up")
                .put("mode", word(catchUp.mode()))
                .put("within", catchUp.within().toString());
        if (!jitter.isZero()) {
            text.put("jitter", jitter.toString());
        }
        if (!input.isEmpty()) {
            text.set("data", input);
        }
        return StrictJsonCodec.write(text);
    }

    /** Reads what {@link #toJson} wrote. */
    public static Schedule parse(String name, JsonNode words) {
        Instant anchor = instant(words, "anchor");
        ScheduleRule rule = words.has("cron")
                ? CronRule.of(
                        words.required("cron").asString(),
                        ZoneId.of(words.required("zone").asString()))
                : new IntervalRule(
                        Duration.parse(words.required("every").asString()), anchor == null ? Instant.EPOCH : anchor);
        JsonNode catchUp = words.required("catch_up");
        return new Schedule(
                name,
                rule,
                instant(words, "start"),
                instant(words, "end"),
                OverlapPolicy.valueOf(constant(words, "overlap")),
                new CatchUpPolicy(
                        CatchUpMode.valueOf(constant(catchUp, "mode")),
                        Duration.parse(catchUp.required("within").asString())),
                words.has("jitter") ? Duration.parse(words.required("jitter").asString()) : Duration.ZERO,
                words.has("data") ? words.required("data") : JsonNodeFactory.instance.objectNode());
    }

    private static @Nullable Instant instant(JsonNode words, String name) {
        JsonNode value = words.get(name);
        return value == null ? null : Instant.parse(value.asString());
    }

    private static String constant(JsonNode words, String name) {
        return words.required(name).asString().toUpperCase(Locale.ROOT);
    }

    private static String word(Enum<?> constant) {
        return constant.name().toLowerCase(Locale.ROOT);
    }
}
