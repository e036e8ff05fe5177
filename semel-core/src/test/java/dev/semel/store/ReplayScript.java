package dev.semel.store;

import dev.semel.run.RunId;
import dev.semel.store.Replay.Fate;
import java.util.List;
import java.util.Random;
import java.util.random.RandomGenerator;

/** Plans of safe replays, few of them and in any order, and runs that go on in place. Has dice of its own, as {@link SettingScript} has. */
final class ReplayScript {
    static final List<RunId> PLANS = List.of(new RunId(910_001, 3), new RunId(910_002, 3), new RunId(910_003, 3));

    private final RandomGenerator random = new Random(11);
    private final ResumeScript resumes;
    private long seen;

    ReplayScript(Reads reads) {
        this.resumes = new ResumeScript(reads);
    }

    Edit<?> next(List<RunId> runs) {
        return random.nextBoolean() ? resumes.next(runs) : planned(runs);
    }

    private Edit<?> planned(List<RunId> runs) {
        RunId plan = PLANS.get(random.nextInt(PLANS.size()));
        RunId worker = new RunId(1, random.nextInt(2));
        int ws = 1 + random.nextInt(2);
        Edit.By by = new Edit.By(new RunId(920_000 + ++seen, 5), random.nextBoolean() ? "ann" : "bob", "why");
        Replay<?> replay = switch (random.nextInt(12)) {
            case 0, 1 ->
                new Replay.Lay(
                        plan, ws, "ann", "{}", null, random.nextBoolean(), seen % 3 == 0 ? "{\"other\":1}" : null);
            case 2, 3 ->
                new Replay.Note(
                        plan,
                        List.of(item(runs), item(runs)).stream().distinct().toList());
            case 4 ->
                seen % 4 == 0
                        ? new Replay.Drop(plan, List.of(item(runs).run()))
                        : new Replay.Ready(plan, "{\"n\":" + seen + "}");
            case 5 -> new Replay.Approve(ws, plan, by);
            case 6 -> new Replay.Begin(ws, plan, "{}", by);
            case 7 ->
                seen % 4 == 0
                        ? new Replay.LetGo(plan, worker, "waits " + seen % 8)
                        : new Replay.Take(plan, worker, 1_000_000);
            case 8, 9 -> new Replay.Settle(plan, worker, List.of(settled(runs)));
            case 10 ->
                random.nextBoolean() ? new Replay.Finish(plan, Replay.State.DONE, "") : new Replay.Stop(ws, plan, by);
            default -> new Replay.Delete(Place.START + random.nextInt(5_000_000), 2);
        };
        return new Edit.Replaying<>(replay);
    }

    private static RunId run(List<RunId> runs, int n) {
        return runs.isEmpty() ? new RunId(5, n) : runs.get(Math.floorMod(n, Math.min(5, runs.size())));
    }

    private Replay.Item item(List<RunId> runs) {
        int worst = random.nextInt(8);
        RunId run = run(runs, random.nextInt(5));
        return new Replay.Item(run, worst, random.nextInt(128), "{}", Fate.PLANNED, null, "");
    }

    private Replay.Item settled(List<RunId> runs) {
        Fate fate = Fate.values()[1 + random.nextInt(4)];
        RunId made = fate == Fate.APPLIED ? run(runs, random.nextInt(5)) : null;
        return item(runs).became(fate, made, "note");
    }
}
