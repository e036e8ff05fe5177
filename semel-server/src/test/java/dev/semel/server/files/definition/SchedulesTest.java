package dev.semel.server.files.definition;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.schedule.Schedule;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** Schedules in files. */
final class SchedulesTest {
    private static String file(String schedule) {
        return "trigger:\n  schedules:\n    - " + schedule + "\n";
    }

    private static Schedule only(String schedule) {
        List<Schedule> all = DefinitionFixtures.compiled(file(schedule))
                .versionOptions()
                .triggers()
                .schedules();
        assertEquals(1, all.size());
        return all.getFirst();
    }

    @Test
    void a_schedule_reads_as_the_contract_shows_it() {
        Schedule nightly = only("{ id: nightly, cron: \"30 2 * * *\", zone: Europe/Berlin, overlap: queue, "
                + "catch_up: { mode: all, within: 6h }, jitter: 30s, data: {kind: full} }");
        assertEquals("nightly", nightly.name());
        assertEquals(Schedule.OverlapPolicy.QUEUE, nightly.overlap());
        assertEquals(new Schedule.CatchUpPolicy(Schedule.CatchUpMode.ALL, Duration.ofHours(6)), nightly.catchUp());
        assertEquals(Duration.ofSeconds(30), nightly.jitter());
        assertEquals("full", nightly.input().path("kind").asString());
        assertEquals(Instant.parse("2026-11-15T01:30:00Z"), nightly.nextAfter(Instant.parse("2026-11-14T12:00:00Z")));
    }

    @Test
    void omitted_fields_have_their_defaults() {
        Schedule plain = only("{id: often, every: 15m}");
        assertEquals(Schedule.OverlapPolicy.SKIP, plain.overlap());
        assertEquals(Schedule.CatchUpPolicy.DEFAULT, plain.catchUp());
        assertEquals(Instant.parse("2026-11-14T12:15:00Z"), plain.nextAfter(Instant.parse("2026-11-14T12:00:00Z")));
        Schedule anchored = only("{id: often, every: 15m, zone: Europe/Berlin, start: \"2026-11-14T12:05:00\"}");
        assertEquals(Instant.parse("2026-11-14T11:05:00Z"), anchored.nextAfter(Instant.EPOCH));
    }

    @Test
    void a_wrong_field_of_a_cron_expression_is_pointed_at() {
        var mistake = DefinitionFixtures.only(DefinitionFixtures.with(file("{id: a, cron: \"0 25 * * *\"}")));
        assertEquals(6, mistake.line());
        assertEquals("    - {id: a, cron: \"0 ".length() + 1, mistake.column());
        assertTrue(mistake.message().contains("\"25\" is outside 0 to 23"), mistake.message());
    }

    @ParameterizedTest(name = "{0}")
    @CsvSource(delimiter = '|', textBlock = """
        {id: a, cron: "0 0 30 2 *"}                         | The day in this cron expression never occurs
        {id: a, cron: "0 0 * * *", zone: Europe/Berlim}      | Did you mean 'Europe/Berlin'?
        {id: a, cron: "0 0 * * *", zone: ../../x}            | there is no time zone
        {id: a, cron: "0 0 * * *", every: 1h}                | this one has both
        {id: a}                                              | this one has neither
        {cron: "0 0 * * *"}                                  | id of the schedule is missing
        {id: A, cron: "0 0 * * *"}                           | lower-case letters
        {id: a, every: 0s}                                   | between 1s and 365d
        {id: a, every: 500ms}                                | between 1s and 365d
        {id: a, every: 1500ms}                               | `every` must be a duration in whole seconds
        {id: a, every: 1h, jitter: 2h}                       | at most 1h
        {id: a, every: 1h, overlap: stop}                    | must be one of skip, queue, allow
        {id: a, every: 1h, catch_up: {mode: some}}           | must be one of all, last, none
        {id: a, every: 1h, catch_up: {within: 31d}}          | at most 30d
        {id: a, every: 1h, start: "292278994-01-01T00:00:00Z"} | must be a time in whole seconds
        {id: a, every: 1h, start: "2026-02-30T00:00:00Z"}    | must be a time in whole seconds
        {id: a, every: 1h, start: "2026-02-02T00:00:00Z", end: "2026-02-01T00:00:00Z"} | `end` must be after `start`
        {id: a, cron: "0 0 29 2 *", start: "2026-01-01T00:00:00Z", end: "2027-01-01T00:00:00Z"} | would never fire
        {id: a, every: 1h, data: {scheduled_at: x}}          | the schedule sets it
        {id: a, every: 1h, data: 7}                          | data must be a map
        """)
    void a_bad_schedule_does_not_publish(String schedule, String why) {
        String messages = DefinitionFixtures.mistakes(DefinitionFixtures.with(file(schedule))).stream()
                .map(DefinitionFixtures.Mistake::message)
                .collect(Collectors.joining(" "));
        assertTrue(messages.contains(why), messages);
    }

    @Test
    void schedule_ids_are_unique_and_limited_in_number() {
        String twice = "trigger: {schedules: [{id: a, every: 1h}, {id: a, every: 2h}]}\n";
        assertTrue(DefinitionFixtures.only(DefinitionFixtures.with(twice))
                .message()
                .contains("two schedules have the same id a"));
        String many = IntStream.range(0, 101)
                .mapToObj(i -> "{id: a" + i + ", cron: \"* * * * * *\"}")
                .collect(Collectors.joining(", ", "trigger: {schedules: [", "]}\n"));
        assertTrue(
                DefinitionFixtures.only(DefinitionFixtures.with(many)).message().contains("at most 100 schedules"));
    }

    @Test
    void schedule_data_that_the_workflow_would_reject_does_not_publish() {
        String input = "input: {region: {type: string, required: true}}\n";
        assertTrue(DefinitionFixtures.only(DefinitionFixtures.with(input + file("{id: a, every: 1h}")))
                .message()
                .contains("/data/region is missing"));
        DefinitionFixtures.compiled(input + file("{id: a, every: 1h, data: {region: eu}}"));
    }

    @Test
    void a_time_skipped_by_a_clock_change_gives_a_warning() {
        List<String> warnings = DefinitionFixtures.compiled(
                        file("{id: nightly, cron: \"30 2 * * *\", zone: Europe/Berlin}"))
                .warnings(Instant.parse("2026-11-16T07:00:00Z"));
        assertTrue(warnings.stream().anyMatch(w -> w.contains("skips 02:30 on 2027-03-28")), warnings.toString());
        assertEquals(
                List.of(),
                DefinitionFixtures.compiled(file("{id: nightly, cron: \"30 2 * * *\"}"))
                        .warnings(Instant.parse("2026-11-16T07:00:00Z")));
    }
}
