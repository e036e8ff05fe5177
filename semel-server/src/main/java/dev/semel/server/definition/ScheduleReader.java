package dev.semel.server.definition;

import dev.semel.error.SemelException;
import dev.semel.schedule.Cron;
import dev.semel.schedule.CronProblem;
import dev.semel.schedule.Every;
import dev.semel.schedule.Rule;
import dev.semel.schedule.Schedule;
import dev.semel.server.language.Fields;
import dev.semel.server.language.Problems;
import dev.semel.server.language.Spot;
import dev.semel.server.language.Texts;
import dev.semel.server.language.Tree;
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
final class ScheduleReader {
    private static final int MOST = 100;
    private static final int LOOKED_AHEAD_YEARS = 3;

    /** Start of the search for daylight-saving gaps; fixed, so that a file means the same whenever it is read. */
    private static final Instant LOOKED_FROM = Instant.parse("2026-01-01T00:00:00Z");

    private static final Pattern NAME = Pattern.compile("[a-z0-9_-]{1,64}");
    private static final Set<String> KNOWN =
            Set.of("id", "cron", "every", "zone", "start", "end", "overlap", "catch_up", "jitter", "data");

    private final Problems problems;
    private final List<String> warnings;
    private final InputRules input;

    ScheduleReader(Problems problems, List<String> warnings, InputRules input) {
        this.problems = problems;
        this.warnings = warnings;
        this.input = input;
    }

    List<Schedule> read(@Nullable Fields trigger) {
        if (trigger == null) {
            return List.of();
        }
        List<Tree> items = trigger.items("schedules");
        if (items.size() > MOST) {
            problems.add(trigger.spotOf("schedules"), "a workflow may have at most " + MOST + " schedules.");
            return List.of();
        }
        List<Schedule> schedules = new ArrayList<>();
        Set<String> names = new HashSet<>();
        for (Tree item : items) {
            Fields fields = Fields.of(item, "a schedule", problems);
            if (fields != null) {
                Schedule schedule = schedule(fields.allow(KNOWN, Set.of()));
                if (schedule != null && !names.add(schedule.name())) {
                    problems.add(fields.spotOfValue("id"), "two schedules have the same id " + schedule.name() + ".");
                }
                if (schedule != null) {
                    schedules.add(schedule);
                }
            }
        }
        return schedules;
    }

    private @Nullable Schedule schedule(Fields fields) {
        int before = problems.count();
        String name = name(fields);
        ZoneId zone = zone(fields);
        Instant start = time(fields, "start", zone);
        Instant end = time(fields, "end", zone);
        if (start != null && end != null && !end.isAfter(start)) {
            problems.add(fields.spotOfValue("end"), "end must be after start; this schedule would never fire.");
        }
        Rule rule = rule(fields, zone, start);
        Schedule.Overlap overlap =
                fields.choice("overlap", Schedule.Overlap.class).orElse(Schedule.Overlap.SKIP);
        Schedule.CatchUp catchUp = catchUp(fields);
        Duration jitter = fields.duration("jitter");
        if (jitter != null && jitter.compareTo(Schedule.LONGEST_JITTER) > 0) {
            problems.add(fields.spotOfValue("jitter"), "jitter must be at most 1h.");
        }
        ObjectNode data = data(fields);
        if (problems.count() > before || rule == null) {
            return null;
        }
        Schedule schedule =
                new Schedule(name, rule, start, end, overlap, catchUp, jitter == null ? Duration.ZERO : jitter, data);
        if (schedule.after(Instant.EPOCH) == null) {
            problems.add(fields.spotOf("id"), "this schedule would never fire between start and end; change the times or the rule.");
            return null;
        }
        checkInput(fields, data);
        warn(schedule);
        return schedule;
    }

    private String name(Fields fields) {
        String name = fields.text("id");
        if (fields.get("id") == null) {
            problems.add(fields.spotOf("id"), "the id of the schedule is missing, e.g. 'id: nightly'.");
        } else if (name != null && !NAME.matcher(name).matches()) {
            problems.add(fields.spotOfValue("id"), "a schedule id must have 1 to 64 lower-case letters, digits, _ or -.");
        }
        return name == null ? "" : name;
    }

    private ZoneId zone(Fields fields) {
        String text = fields.text("zone");
        if (text == null) {
            return ZoneOffset.UTC;
        }
        Set<String> known = ZoneId.getAvailableZoneIds();
        if (!known.contains(text)) {
            String meant = Texts.didYouMean(text, known);
            problems.add(
                    fields.spotOfValue("zone"),
                    "there is no time zone '%s'.%s".formatted(Texts.shortened(text), meant),
                    "unknown zone",
                    "Use a name of the IANA time zone database, such as Europe/Berlin or UTC.");
            return ZoneOffset.UTC;
        }
        return text.equals("UTC") ? ZoneOffset.UTC : ZoneId.of(text);
    }

    /** A time with an offset, or a local time in the schedule's zone. */
    private @Nullable Instant time(Fields fields, String name, ZoneId zone) {
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
            if (!time.isBefore(Instant.EPOCH) && time.isBefore(Rule.END_OF_TIME) && time.getNano() == 0) {
                return time;
            }
        } catch (DateTimeException e) {
            // Reported below; the parser's message would quote the text.
        }
        problems.add(
                fields.spotOfValue(name),
                name + " must be a time in whole seconds such as 2026-11-15T09:00:00 (in the zone) or"
                        + " 2026-11-15T09:00:00Z.");
        return null;
    }

    private @Nullable Rule rule(Fields fields, ZoneId zone, @Nullable Instant start) {
        boolean both = fields.get("cron") != null && fields.get("every") != null;
        boolean none = fields.get("cron") == null && fields.get("every") == null;
        if (both || none) {
            problems.add(
                    both ? fields.spotOf("every") : fields.spotOf("id"),
                    "a schedule must have either cron or every; this one has " + (both ? "both." : "neither."));
            return null;
        }
        if (fields.get("every") != null) {
            Duration every = fields.duration("every");
            return every == null ? null : new Every(every, start == null ? Instant.EPOCH : start);
        }
        String text = fields.text("cron");
        if (text == null) {
            return null;
        }
        try {
            return Cron.of(text, zone);
        } catch (CronProblem e) {
            problems.add(part(fields.spotOfValue("cron"), text, e), String.valueOf(e.getMessage()));
            return null;
        }
    }

    /** The position of the invalid part, if the file has the text without escapes. */
    private static Spot part(Spot whole, String text, CronProblem problem) {
        int written = whole.end() - whole.start();
        int quote = written == text.length() + 2 ? 1 : 0;
        if (written != text.length() + 2 * quote) {
            return whole;
        }
        int from = whole.start() + quote + Math.min(problem.at(), text.length());
        return whole.narrowed(from, Math.min(from + problem.length(), whole.end() - quote));
    }

    private Schedule.CatchUp catchUp(Fields fields) {
        Fields catchUp = Fields.of(fields.get("catch_up"), "catch_up", problems);
        if (catchUp == null) {
            return Schedule.CatchUp.USUAL;
        }
        catchUp.allow(Set.of("mode", "within"), Set.of());
        Schedule.Mode mode = catchUp.choice("mode", Schedule.Mode.class).orElse(Schedule.CatchUp.USUAL.mode());
        Duration within = catchUp.duration("within");
        if (within != null && within.compareTo(Schedule.CatchUp.LONGEST) > 0) {
            problems.add(catchUp.spotOfValue("within"), "catch_up.within must be at most 30d.");
            return Schedule.CatchUp.USUAL;
        }
        return new Schedule.CatchUp(mode, within == null ? Schedule.CatchUp.USUAL.within() : within);
    }

    private ObjectNode data(Fields fields) {
        Fields data = Fields.of(fields.get("data"), "data", problems);
        if (data == null) {
            return JsonNodeFactory.instance.objectNode();
        }
        if (data.get("scheduled_at") != null) {
            problems.add(data.spotOf("scheduled_at"), "remove scheduled_at from data: the schedule sets it to the nominal time.");
        }
        return (ObjectNode) data.map().toJson();
    }

    private void checkInput(Fields fields, ObjectNode data) {
        ObjectNode whole = data.deepCopy().put("scheduled_at", LOOKED_FROM.toString());
        try {
            input.check("", whole);
        } catch (SemelException e) {
            String what = e.members().get("errors") instanceof List<?> errors && !errors.isEmpty()
                    ? words(errors.getFirst())
                    : "";
            problems.add(
                    fields.get("data") == null ? fields.spotOf("id") : fields.spotOf("data"),
                    "the data of this schedule does not match the input of the workflow" + what + ".");
        }
    }

    private static String words(@Nullable Object error) {
        return error instanceof java.util.Map<?, ?> members
                ? ": " + members.get("pointer") + " " + members.get("message")
                : "";
    }

    private void warn(Schedule schedule) {
        if (schedule.rule() instanceof Cron cron) {
            LocalDateTime gone = cron.jumpedOver(LOOKED_FROM, LOOKED_AHEAD_YEARS);
            if (gone != null) {
                warnings.add(
                        ("schedule %s: in %s the clock skips %s on %s. The tick of that day fires once, at the"
                                        + " first moment after the gap.")
                                .formatted(schedule.name(), cron.zone(), gone.toLocalTime(), gone.toLocalDate()));
            }
        }
    }
}
