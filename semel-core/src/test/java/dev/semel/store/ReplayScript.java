package dev.semel.store;

import dev.semel.run.RunId;
import dev.semel.store.ReplayPlanOperation.ItemOutcome;
import java.util.List;
import java.util.Random;
import java.util.random.RandomGenerator;

/** Plans of safe replays, few of them and in any order, and runs that go on in place. Has dice of its own, as {@link SettingScript} has. */
final class ReplayScript {
    static final List<RunId> PLANS = List.of(new RunId(910_001, 3), new RunId(910_002, 3), new RunId(910_003, 3));

    private final RandomGenerator random = new Random(11);
    private final ResumeScript resumes;
    private long seen;

    ReplayScript(StoreQueries reads) {
        this.resumes = new ResumeScript(reads);
    }

    StoreCommand<?> next(List<RunId> runs) {
        return random.nextBoolean() ? resumes.next(runs) : planned(runs);
    }

    private StoreCommand<?> planned(List<RunId> runs) {
        RunId plan = PLANS.get(random.nextInt(PLANS.size()));
        RunId worker = new RunId(1, random.nextInt(2));
        int ws = 1 + random.nextInt(2);
        StoreCommand.ChangeAuthor by = new StoreCommand.ChangeAuthor(
                new RunId(920_000 + ++seen, 5), random.nextBoolean() ? "ann" : "bob", "why");
        ReplayPlanOperation<?> replay = switch (random.nextInt(12)) {
            case 0, 1 ->
                new ReplayPlanOperation.CreatePlan(
                        plan, ws, "ann", "{}", null, random.nextBoolean(), seen % 3 == 0 ? "{\"other\":1}" : null);
            case 2, 3 ->
                new ReplayPlanOperation.AddItems(
                        plan,
                        List.of(item(runs), item(runs)).stream().distinct().toList());
            case 4 ->
                seen % 4 == 0
                        ? new ReplayPlanOperation.RemoveItems(
                                plan, List.of(item(runs).run()))
                        : new ReplayPlanOperation.MarkReady(plan, "{\"n\":" + seen + "}");
            case 5 -> new ReplayPlanOperation.ApprovePlan(ws, plan, by);
            case 6 -> new ReplayPlanOperation.StartApplying(ws, plan, "{}", by);
            case 7 ->
                seen % 4 == 0
                        ? new ReplayPlanOperation.ReleasePlan(plan, worker, "waits " + seen % 8)
                        : new ReplayPlanOperation.ClaimPlan(plan, worker, 1_000_000);
            case 8, 9 -> new ReplayPlanOperation.RecordItems(plan, worker, List.of(settled(runs)));
            case 10 ->
                random.nextBoolean()
                        ? new ReplayPlanOperation.FinishPlan(plan, ReplayPlanOperation.PlanState.DONE, "")
                        : new ReplayPlanOperation.StopPlan(ws, plan, by);
            default -> new ReplayPlanOperation.DeleteOldPlans(StoreFixture.START + random.nextInt(5_000_000), 2);
        };
        return new StoreCommand.ReplayPlanCommand<>(replay);
    }

    private static RunId run(List<RunId> runs, int n) {
        return runs.isEmpty() ? new RunId(5, n) : runs.get(Math.floorMod(n, Math.min(5, runs.size())));
    }

    private ReplayPlanOperation.PlanItem item(List<RunId> runs) {
        int worst = random.nextInt(8);
        RunId run = run(runs, random.nextInt(5));
        return new ReplayPlanOperation.PlanItem(run, worst, random.nextInt(128), "{}", ItemOutcome.PLANNED, null, "");
    }

    private ReplayPlanOperation.PlanItem settled(List<RunId> runs) {
        ItemOutcome fate = ItemOutcome.values()[1 + random.nextInt(4)];
        RunId made = fate == ItemOutcome.APPLIED ? run(runs, random.nextInt(5)) : null;
        return item(runs).withOutcome(fate, made, "note");
    }
}
