package dev.semel.store;

import dev.semel.run.RunId;
import dev.semel.schedule.ScheduleTickOutcome;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** Changes of schedules, few names and few times. Has dice of its own, so that it leaves the other histories as they are. */
final class ScheduleScript {
    private static final List<String> NAMES = List.of("a", "b");
    private static final List<RunId> WORKERS = List.of(new RunId(900_001, 1), new RunId(900_002, 1));

    private final RandomGenerator random = new Random(11);
    private long seen = 0;

    StoreWriteCommand<?> next(ScriptedStore actor) {
        ScheduleQueries timetable = actor.reads.schedules();
        long now = actor.fixture.time();
        return switch (random.nextInt(8)) {
            case 0, 1 -> layOut(timetable, now);
            case 2, 3 -> new StoreWriteCommand.ClaimTicks(timetable.due(now, 3), worker(), 1_000_000);
            case 4, 5 -> settle(timetable, now);
            case 6 ->
                new StoreWriteCommand.PauseSchedule(
                        1 + random.nextInt(2),
                        "wf_pay",
                        name(),
                        random.nextBoolean(),
                        new StoreWriteCommand.ChangeAuthor(new RunId(800_000 + ++seen, 5), "tester", ""));
            default ->
                random.nextBoolean()
                        ? new StoreWriteCommand.RecordBackfill(List.of(tick(name(), now - random.nextInt(3))))
                        : new StoreWriteCommand.DeleteOldTicks(now - random.nextInt(3_000_000), 2);
        };
    }

    private StoreWriteCommand.SaveSchedules layOut(ScheduleQueries timetable, long now) {
        List<StoreWriteCommand.ScheduleUpdate> laid = new ArrayList<>();
        for (String name : NAMES) {
            if (random.nextInt(4) > 0) {
                DatabaseRows.ScheduleRow before = random.nextInt(5) == 0 ? null : timetable.schedule(1, "wf_pay", name);
                long next = now + random.nextInt(2_000_000);
                laid.add(new StoreWriteCommand.ScheduleUpdate(
                        name, "spec " + random.nextInt(3), next, next + random.nextInt(2), before));
            }
        }
        DatabaseRows.ScheduleRow any = timetable.firstDue();
        int version = any == null ? 1 : 1 + random.nextInt(3);
        for (ScheduleQueries.CurrentVersion one : timetable.currentVersions("wf_ot", 10)) {
            version = one.workflowId().equals("wf_pay") && random.nextInt(4) > 0 ? one.version() : version;
        }
        DatabaseRows.ScheduleRow there = timetable.schedule(1, "wf_pay", "a");
        List<StoreWriteCommand.AbandonedTicks> left = there == null
                ? List.of()
                : List.of(new StoreWriteCommand.AbandonedTicks(
                        "a", there.nextNominal(), List.of(tick("a", there.nextNominal()))));
        return new StoreWriteCommand.SaveSchedules(1, "wf_pay", version, laid, left);
    }

    private StoreWriteCommand.RecordTicks settle(ScheduleQueries timetable, long now) {
        List<StoreWriteCommand.ScheduleProgress> settled = new ArrayList<>();
        for (DatabaseRows.ScheduleRow row : timetable.ofWorkflow("wf_pay")) {
            long from = random.nextInt(4) == 0 ? now : row.nextNominal();
            DatabaseRows.TickRow tick = tick(row.name(), from);
            long next = from + 1_000_000;
            RunId run = tick.state().ran() ? tick.run() : null;
            settled.add(
                    new StoreWriteCommand.ScheduleProgress("wf_pay", row.name(), from, next, next, run, List.of(tick)));
        }
        return new StoreWriteCommand.RecordTicks(worker(), settled);
    }

    private DatabaseRows.TickRow tick(String name, long nominal) {
        ScheduleTickOutcome state = ScheduleTickOutcome.values()[random.nextInt(5)];
        @Nullable RunId run = state.ran() ? new RunId(950_000 + random.nextInt(50), 1) : null;
        return new DatabaseRows.TickRow("wf_pay", name, nominal, state, run == null ? "overlap" : "", run, nominal, 0);
    }

    private String name() {
        return NAMES.get(random.nextInt(NAMES.size()));
    }

    private RunId worker() {
        return WORKERS.get(random.nextInt(WORKERS.size()));
    }
}
