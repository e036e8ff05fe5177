package dev.semel.server.files.definition;

import dev.semel.error.SemelException;
import dev.semel.schedule.CronRule;
import dev.semel.schedule.CronSyntaxException;
import dev.semel.schedule.IntervalRule;
import dev.semel.schedule.Schedule;
import dev.semel.schedule.ScheduleRule;
import dev.semel.server.files.yaml.MisspelledNameSuggester;
import dev.semel.server.files.yaml.YamlFileErrorCollector;
import dev.semel.server.files.yaml.YamlMapReader;
import dev.semel.server.files.yaml.YamlNode;
import dev.semel.server.files.yaml.YamlSourceRange;
import java.time.DateTimeException;
import java.time.Duration;
import java.time.Instant;
import java.time.LocalDateTime;
import java.time.OffsetDateTime;
import java.time.ZoneId;
import java.time.ZoneOffset;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Reads `trigger.schedules`: the cron and interval schedules that start the workflow. */
record YamlScheduleReader(YamlFileErrorCollector problems, WorkflowInputSchema input) {
    private static final int MOST = 100;
    private static final int LOOKED_AHEAD_YEARS = 3;

    /** A nominal time for the check of the input. */
    private static final Instant SAMPLE_TIME = Instant.parse("2026-01-01T00:00:00Z");

    private static final Pattern NAME = Pattern.compile("[a-z0-9_-]{1,64}");
    private static final Set<String> KNOWN =
            Set.of("id", "cron", "every", "zone", "start", "end", "overlap", "catch_up", "jitter", "data");

    List<Schedule> read(@Nullable YamlMapReader trigger) {
        if (trigger == null) {
            return List.of();
        }
        List<YamlNode> items = trigger.items("schedules");
        if (items.size() > MOST) {
            problems.add(trigger.nameRange("schedules"), "a workflow may have at most " + MOST + " schedules.");
            return List.of();
        }
        List<Schedule> schedules = new ArrayList<>();
        Set<String> names = new HashSet<>();
        for (YamlNode item : items) {
            YamlMapReader fields = YamlMapReader.of(item, "a schedule", problems);
            if (fields != null) {
                Schedule schedule = schedule(fields.allowOnly(KNOWN));
                if (schedule != null && !names.add(schedule.name())) {
                    problems.add(fields.valueRange("id"), "two schedules have the same id " + schedule.name() + ".");
                }
                if (schedule != null) {
                    schedules.add(schedule);
                }
            }
        }
        return schedules;
    }

    private @Nullable Schedule schedule(YamlMapReader fields) {
        int before = problems.count();
        String name = name(fields);
        ZoneId zone = zone(fields);
        Instant start = time(fields, "start", zone);
        Instant end = time(fields, "end", zone);
        if (start != null && end != null && !end.isAfter(start)) {
            problems.add(fields.valueRange("end"), "`end` must be after `start`; this schedule would never fire.");
        }
        ScheduleRule rule = rule(fields, zone, start);
        Schedule.OverlapPolicy overlap =
                fields.choice("overlap", Schedule.OverlapPolicy.class).orElse(Schedule.OverlapPolicy.SKIP);
        Schedule.CatchUpPolicy catchUp = catchUp(fields);
        Duration jitter = fields.duration("jitter");
        if (jitter != null && jitter.compareTo(Schedule.LONGEST_JITTER) > 0) {
            problems.add(fields.valueRange("jitter"), "jitter must be at most 1h.");
        }
        ObjectNode data = data(fields);
        if (problems.count() > before || rule == null) {
            return null;
        }
        Schedule schedule =
                new Schedule(name, rule, start, end, overlap, catchUp, jitter == null ? Duration.ZERO : jitter, data);
        if (schedule.nextAfter(Instant.EPOCH) == null) {
            problems.add(
                    fields.nameRange("id"),
                    "this schedule would never fire between `start` and `end`; change the times or the rule.");
            return null;
        }
        checkInput(fields, data);
        return schedule;
    }

    private String name(YamlMapReader fields) {
        String name = fields.text("id");
        if (fields.get("id") == null) {
            problems.add(fields.nameRange("id"), "the id of the schedule is missing, e.g. 'id: nightly'.");
        } else if (name != null && !NAME.matcher(name).matches()) {
            problems.add(
                    fields.valueRange("id"), "a schedule id must have 1 to 64 lower-case letters, digits, _ or -.");
        }
        return name == null ? "" : name;
    }

    private ZoneId zone(YamlMapReader fields) {
        String text = fields.text("zone");
        if (text == null) {
            return ZoneOffset.UTC;
        }
        Set<String> known = ZoneId.getAvailableZoneIds();
        if (!known.contains(text)) {
            String meant = MisspelledNameSuggester.didYouMean(text, known);
            problems.add(
                    fields.valueRange("zone"),
                    "there is no time zone '%s'.%s".formatted(MisspelledNameSuggester.shorten(text), meant),
                    "unknown zone",
                    "Use a name of the IANA time zone database, such as Europe/Berlin or UTC.");
            return ZoneOffset.UTC;
        }
        return text.equals("UTC") ? ZoneOffset.UTC : ZoneId.of(text);
    }

    /** A time with an offset, or a local time in the schedule's zone. */
    private @Nullable Instant time(YamlMapReader fields, String name, ZoneId zone) {
        String text = fields.text(name);
        if (text == null) {
            return null;
        }
        try {
            Instant time;
            try {
                time = OffsetDateTime.parse(text).toInstant();
            } catch (DateTimeException e) {
                time = LocalDateTime.parse(text).atZone(zone).toInstant();
            }
            if (!time.isBefore(Instant.EPOCH) && time.isBefore(ScheduleRule.END_OF_TIME) && time.getNano() == 0) {
                return time;
            }
        } catch (DateTimeException e) {
            // Reported below; the parser's message would quote the text.
        }
        problems.add(
                fields.valueRange(name),
                name + " must be a time in whole seconds such as 2026-11-15T09:00:00 (in the zone) or"
                        + " 2026-11-15T09:00:00Z.");
        return null;
    }

    private @Nullable ScheduleRule rule(YamlMapReader fields, ZoneId zone, @Nullable Instant start) {
        boolean both = fields.get("cron") != null && fields.get("every") != null;
        boolean none = fields.get("cron") == null && fields.get("every") == null;
        if (both || none) {
            problems.add(
                    both ? fields.nameRange("every") : fields.nameRange("id"),
                    "a schedule must have either `cron` or `every`; this one has " + (both ? "both." : "neither."));
            return null;
        }
        if (fields.get("every") != null) {
            Duration every = fields.duration("every");
            if (every != null && every.toMillisPart() != 0) {
                problems.add(fields.valueRange("every"), "`every` must be a duration in whole seconds, such as 30s.");
                return null;
            }
            return every == null ? null : new IntervalRule(every, start == null ? Instant.EPOCH : start);
        }
        String text = fields.text("cron");
        if (text == null) {
            return null;
        }
        try {
            return CronRule.of(text, zone);
        } catch (CronSyntaxException e) {
            problems.add(part(fields.valueRange("cron"), text, e), String.valueOf(e.getMessage()));
            return null;
        }
    }

    /** The position of the invalid part, if the file has the text without escapes. */
    private static YamlSourceRange part(YamlSourceRange whole, String text, CronSyntaxException problem) {
        int written = whole.end() - whole.start();
        int quote = written == text.length() + 2 ? 1 : 0;
        if (written != text.length() + 2 * quote) {
            return whole;
        }
        int from = whole.start() + quote + Math.min(problem.offset(), text.length());
        return whole.narrow(from, Math.min(from + problem.length(), whole.end() - quote));
    }

    private Schedule.CatchUpPolicy catchUp(YamlMapReader fields) {
        YamlMapReader catchUp = YamlMapReader.of(fields.get("catch_up"), "catch_up", problems);
        if (catchUp == null) {
            return Schedule.CatchUpPolicy.DEFAULT;
        }
        catchUp.allowOnly(Set.of("mode", "within"));
        Schedule.CatchUpMode mode =
                catchUp.choice("mode", Schedule.CatchUpMode.class).orElse(Schedule.CatchUpPolicy.DEFAULT.mode());
        Duration within = catchUp.duration("within");
        if (within != null && within.compareTo(Schedule.CatchUpPolicy.LONGEST) > 0) {
            problems.add(catchUp.valueRange("within"), "catch_up.within must be at most 30d.");
            return Schedule.CatchUpPolicy.DEFAULT;
        }
        return new Schedule.CatchUpPolicy(mode, within == null ? Schedule.CatchUpPolicy.DEFAULT.within() : within);
    }

    private ObjectNode data(YamlMapReader fields) {
        YamlMapReader data = YamlMapReader.of(fields.get("data"), "data", problems);
        if (data == null) {
            return JsonNodeFactory.instance.objectNode();
        }
        if (data.get("scheduled_at") != null) {
            problems.add(
                    data.nameRange("scheduled_at"),
                    "remove scheduled_at from data: the schedule sets it to the nominal time.");
        }
        return (ObjectNode) data.map().toJson();
    }

    private void checkInput(YamlMapReader fields, ObjectNode data) {
        ObjectNode whole = data.deepCopy().put("scheduled_at", SAMPLE_TIME.toString());
        try {
            input.validate("", whole);
        } catch (SemelException e) {
            String what = e.members().get("errors") instanceof List<?> errors && !errors.isEmpty()
                    ? words(errors.getFirst())
                    : "";
            problems.add(
                    fields.get("data") == null ? fields.nameRange("id") : fields.nameRange("data"),
                    "the data of this schedule does not match the input of the workflow" + what + ".");
        }
    }

    private static String words(@Nullable Object error) {
        return error instanceof java.util.Map<?, ?> members
                ? ": " + members.get("pointer") + " " + members.get("message")
                : "";
    }

    /** Warns if a daylight-saving change to come skips a time of the schedule; null if none does. */
    static @Nullable String clockChangeWarning(Schedule schedule, Instant now) {
        LocalDateTime gone =
                schedule.rule() instanceof CronRule cron ? cron.skippedLocalTime(now, LOOKED_AHEAD_YEARS) : null;
        return gone == null
                ? null
                : ("schedule %s: in %s the clock skips %s on %s. The tick of that day fires once, at the first moment"
                                + " after the gap.")
                        .formatted(
                                schedule.name(),
                                ((CronRule) schedule.rule()).zone(),
                                gone.toLocalTime(),
                                gone.toLocalDate());
    }
}
