package dev.semel.workflow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.semel.json.StrictJsonCodec;
import dev.semel.schedule.CronRule;
import dev.semel.schedule.IntervalRule;
import dev.semel.schedule.Schedule;
import dev.semel.schedule.Schedule.CatchUpMode;
import dev.semel.schedule.Schedule.CatchUpPolicy;
import dev.semel.schedule.Schedule.OverlapPolicy;
import java.lang.reflect.ParameterizedType;
import java.time.Duration;
import java.time.Instant;
import java.time.ZoneId;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

/** The options that Java code passes: each sets one part and keeps the others. */
class OptionsTest {
    private static final Duration HOUR = Duration.ofHours(1);

    @Test
    void every_way_to_start_sets_one_part() {
        assertEquals(new Start(null, null, null, null, false, null), Start.fresh());
        assertEquals(new Start("a:b", null, null, null, false, null), Start.withKey("a", "b"));
        assertEquals(new Start(null, "order-7", null, null, false, null), Start.withId("order-7"));
        assertEquals(new Start(null, null, "run_1", null, false, null), Start.replayOf("run_1"));
        assertEquals(new Start(null, null, "run_1", null, true, null), Start.replayWithOtherInput("run_1"));
        assertEquals(
                new Start("k", "order-7", null, "c", false, HOUR),
                Start.withId("order-7").key("k").correlationId("c").delay(HOUR));
        assertEquals(
                new Start("k", null, "run_1", "c", true, HOUR),
                Start.replayWithOtherInput("run_1")
                        .delay(HOUR)
                        .correlationId("c")
                        .key("k"));
    }

    @ParameterizedTest(name = "{0}: {1}")
    @CsvSource({"PT0S, accepted", "P365D, accepted", "PT-0.001S, rejected", "P365DT0.001S, rejected"})
    void a_delay_is_at_most_a_year(Duration delay, String expected) {
        if (expected.equals("accepted")) {
            assertEquals(delay, Start.fresh().delay(delay).delay());
        } else {
            assertThrows(IllegalArgumentException.class, () -> Start.fresh().delay(delay));
        }
    }

    @ParameterizedTest
    @ValueSource(strings = {"a", "Z", "0", "paid.v2-final_x"})
    void a_signal_has_a_plain_name(String name) {
        assertEquals(name, Signal.of(name, String.class).name());
        assertEquals(String.class, Signal.of(name, String.class).type().type());
        assertNull(Signal.of(name, String.class).key());
        assertEquals(64, Signal.of("n".repeat(64), String.class).name().length());
    }

    @ParameterizedTest
    @ValueSource(strings = {"", ".a", "-a", "a b", "ü", "a/b"})
    void another_name_of_a_signal_is_rejected(String name) {
        assertThrows(IllegalArgumentException.class, () -> Signal.of(name, String.class));
        assertThrows(IllegalArgumentException.class, () -> Signal.of("n".repeat(65), String.class));
    }

    @Test
    void the_key_of_a_signal_is_built_like_every_key_and_fits_a_column() {
        Signal<List<String>> signal = Signal.of("paid", new TypeRef<List<String>>() {});
        assertEquals("order:7", signal.withKey("order", 7).key());
        assertEquals(signal.type(), signal.withKey("x").type());
        assertEquals("k".repeat(255), signal.withKey("k".repeat(255)).key());
        assertThrows(IllegalArgumentException.class, () -> signal.withKey("k".repeat(256)));
        assertThrows(IllegalArgumentException.class, () -> signal.withKey("a\nb"));
        assertThrows(IllegalArgumentException.class, () -> new Signal<>("paid", signal.type(), " "));
    }

    @Test
    void a_type_keeps_its_type_arguments() {
        ParameterizedType list = (ParameterizedType) new TypeRef<List<String>>() {}.type();
        assertEquals(List.class, list.getRawType());
        assertEquals(String.class, list.getActualTypeArguments()[0]);
    }

    @Test
    @SuppressWarnings({"rawtypes", "NullAway"})
    void a_type_without_arguments_is_rejected() {
        assertThrows(IllegalArgumentException.class, () -> new TypeRef() {});
    }

    @Test
    void an_approval_keeps_its_details_in_order() {
        EscalationPolicy escalation = EscalationPolicy.NONE
                .due(HOUR)
                .remind(Duration.ofMinutes(10))
                .escalate(Duration.ofHours(2), "role:lead");
        assertEquals(new EscalationPolicy(HOUR, Duration.ofMinutes(10), Duration.ofHours(2), "role:lead"), escalation);
        Map<String, String> details = new LinkedHashMap<>();
        details.put("z", "1");
        details.put("a", "null");
        ApprovalRequest request = ApprovalRequest.of()
                .title("Release 7")
                .to("role:ops")
                .show("z", 1)
                .show("a", String.valueOf((Object) null))
                .timeout(HOUR)
                .escalation(escalation);
        assertEquals(new ApprovalRequest("Release 7", "role:ops", details, HOUR, escalation), request);
        assertEquals(List.of("z", "a"), List.copyOf(request.details().keySet()));
        assertThrows(
                UnsupportedOperationException.class, () -> request.details().put("b", "2"));
    }

    @Test
    void a_review_keeps_its_other_parts() {
        EscalationPolicy escalation = EscalationPolicy.NONE.due(HOUR);
        assertEquals(
                new ReviewOptions("role:ops", "Was it sent?", "https://example.org", escalation),
                ReviewOptions.of("Was it sent?")
                        .to("role:ops")
                        .link("https://example.org")
                        .escalation(escalation));
        assertEquals("", ReviewOptions.DEFAULT.title());
    }

    @ParameterizedTest(name = "due {0}, escalate after {1} to {2}: {3}")
    @CsvSource({
        "PT1S,         ,             ,          accepted",
        "P365D,        ,             ,          accepted",
        ",             PT1S,         role:lead, accepted",
        "PT0.999S,     ,             ,          rejected",
        "P365DT0.001S, ,             ,          rejected",
        ",             PT0.999S,     role:lead, rejected",
        ",             PT1S,         ,          rejected",
        ",             ,             role:lead, rejected",
    })
    void an_escalation_has_a_time_and_a_reviewer(
            @Nullable Duration due, @Nullable Duration after, @Nullable String to, String expected) {
        String reviewer = to == null ? "" : to;
        if (expected.equals("accepted")) {
            assertEquals(due, new EscalationPolicy(due, null, after, reviewer).due());
            assertEquals(due, new EscalationPolicy(null, due, after, reviewer).remind());
        } else {
            assertThrows(IllegalArgumentException.class, () -> new EscalationPolicy(due, null, after, reviewer));
        }
    }

    @Test
    void a_reminder_has_the_limits_of_all_times() {
        assertThrows(IllegalArgumentException.class, () -> EscalationPolicy.NONE.remind(Duration.ofMillis(999)));
    }

    private static Schedule schedule(OverlapPolicy overlap, CatchUpPolicy catchUp, Duration jitter, String input) {
        return new Schedule(
                "nightly",
                new IntervalRule(HOUR, Instant.EPOCH),
                null,
                null,
                overlap,
                catchUp,
                jitter,
                StrictJsonCodec.parse(input));
    }

    @Test
    void every_schedule_option_sets_one_part() {
        CatchUpPolicy usual = CatchUpPolicy.DEFAULT;
        ScheduleOptions plain = ScheduleOptions.every(HOUR);
        assertEquals(schedule(OverlapPolicy.SKIP, usual, Duration.ZERO, "{}"), plain.build("nightly"));
        assertEquals(
                schedule(OverlapPolicy.QUEUE, usual, Duration.ZERO, "{}"),
                plain.queueOverlapping().build("nightly"));
        assertEquals(
                schedule(OverlapPolicy.ALLOW, usual, Duration.ZERO, "{}"),
                plain.allowOverlapping().build("nightly"));
        assertEquals(
                schedule(OverlapPolicy.SKIP, new CatchUpPolicy(CatchUpMode.ALL, HOUR), Duration.ZERO, "{}"),
                plain.catchUpAll(HOUR).build("nightly"));
        assertEquals(
                schedule(
                        OverlapPolicy.SKIP,
                        new CatchUpPolicy(CatchUpMode.LAST, Duration.ofDays(1)),
                        Duration.ZERO,
                        "{}"),
                plain.catchUpLast(Duration.ofDays(1)).build("nightly"));
        assertEquals(
                schedule(OverlapPolicy.SKIP, new CatchUpPolicy(CatchUpMode.NONE, Duration.ZERO), Duration.ZERO, "{}"),
                plain.noCatchUp().build("nightly"));
        assertEquals(
                schedule(OverlapPolicy.SKIP, usual, Duration.ofMinutes(5), "{\"region\":\"eu\"}"),
                plain.jitter(Duration.ofMinutes(5))
                        .input(Map.of("region", "eu"))
                        .build("nightly"));
        Instant start = Instant.parse("2026-11-16T09:00:00Z");
        Schedule between = plain.allowOverlapping()
                .between(start, start.plus(HOUR))
                .jitter(HOUR)
                .build("nightly");
        assertEquals(start, between.start());
        assertEquals(start.plus(HOUR), between.end());
        assertEquals(OverlapPolicy.ALLOW, between.overlap());
    }

    @Test
    void a_cron_schedule_has_a_time_zone_and_its_input_is_an_object() {
        ZoneId berlin = ZoneId.of("Europe/Berlin");
        assertEquals(
                CronRule.of("30 2 * * *", berlin),
                ScheduleOptions.cron("30 2 * * *", berlin).build("nightly").rule());
        assertThrows(
                IllegalArgumentException.class,
                () -> ScheduleOptions.every(HOUR).input("text"));
    }
}
