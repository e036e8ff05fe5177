package dev.semel.schedule;

import dev.semel.json.Json;
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
 * When a workflow is started by itself. A tick is named by its nominal time, which nothing moves: neither jitter nor
 * lateness.
 *
 * @param name unique in its workflow
 * @param start no tick before it; null for none
 * @param end no tick at it or behind it; null for none
 * @param jitter a tick fires up to so much later, each by an amount of its own that never changes
 * @param input what its runs get, an object, beside {@code scheduled_at}
 */
public record Schedule(
        String name,
        Rule rule,
        @Nullable Instant start,
        @Nullable Instant end,
        Overlap overlap,
        CatchUp catchUp,
        Duration jitter,
        JsonNode input) {
    public static final int LONGEST_NAME = 64;
    public static final Duration LONGEST_JITTER = Duration.ofHours(1);

    /** What becomes of a tick while the run of an earlier one has not ended. */
    public enum Overlap {
        SKIP,
        QUEUE,
        ALLOW
    }

    public enum Mode {
        ALL,
        LAST,
        NONE
    }

    /** What becomes of ticks that nobody was there for. */
    public record CatchUp(Mode mode, Duration within) {
        public static final Duration LONGEST = Duration.ofDays(30);
        public static final CatchUp USUAL = new CatchUp(Mode.LAST, Duration.ofHours(1));

        public CatchUp {
            if (within.isNegative() || within.compareTo(LONGEST) > 0) {
                throw new IllegalArgumentException("ticks are made up for within 30d at most");
            }
        }
    }

    public Schedule {
        boolean plain = !name.isEmpty()
                && name.length() <= LONGEST_NAME
                && name.chars().allMatch(c -> c >= 'a' && c <= 'z' || c >= '0' && c <= '9' || c == '_' || c == '-');
        if (!plain) {
            throw new IllegalArgumentException(
                    "the name of a schedule is 1 to 64 small letters, digits, hyphens and underscores");
        }
        if (jitter.isNegative() || jitter.compareTo(LONGEST_JITTER) > 0) {
            throw new IllegalArgumentException("jitter is 1h at most");
        }
    }

    /** The usual ways: one run at a time, the last missed tick is made up for within an hour. */
    public static Schedule of(String name, Rule rule) {
        ObjectNode none = JsonNodeFactory.instance.objectNode();
        return new Schedule(name, rule, null, null, Overlap.SKIP, CatchUp.USUAL, Duration.ZERO, none);
    }

    /** The nominal time of the first tick behind this one; null where none comes any more. */
    public @Nullable Instant after(Instant time) {
        Instant from = start != null && time.isBefore(start) ? start.minusSeconds(1) : time;
        Instant next = rule.after(from);
        while (next != null && start != null && next.isBefore(start)) {
            next = rule.after(next); // a start that is no whole second
        }
        return next == null || (end != null && !next.isBefore(end)) ? null : next;
    }

    public List<Instant> next(Instant from, int count) {
        List<Instant> times = new ArrayList<>();
        Instant next = after(from);
        while (next != null && times.size() < count) {
            times.add(next);
            next = after(next);
        }
        return times;
    }

    /** When a tick fires: the nominal time and its own share of the jitter. */
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

    /** One text for one schedule, members always in this order: where the text changed, the schedule was edited. */
    public String text() {
        ObjectNode text = JsonNodeFactory.instance.objectNode();
        switch (rule) {
            case Cron cron ->
                text.put("cron", cron.text()).put("zone", cron.zone().getId());
            case Every every -> {
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
        return Json.write(text);
    }

    /** The schedule whose {@link #text} this is: what was stored counts, whatever the code of today says. */
    public static Schedule read(String name, JsonNode words) {
        Instant anchor = instant(words, "anchor");
        Rule rule = words.has("cron")
                ? Cron.of(
                        words.required("cron").asString(),
                        ZoneId.of(words.required("zone").asString()))
                : new Every(
                        Duration.parse(words.required("every").asString()), anchor == null ? Instant.EPOCH : anchor);
        JsonNode catchUp = words.required("catch_up");
        return new Schedule(
                name,
                rule,
                instant(words, "start"),
                instant(words, "end"),
                Overlap.valueOf(constant(words, "overlap")),
                new CatchUp(
                        Mode.valueOf(constant(catchUp, "mode")),
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
