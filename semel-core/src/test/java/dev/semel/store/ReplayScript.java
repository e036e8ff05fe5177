package dev.semel.store;

import dev.semel.run.RunId;
import dev.semel.store.ReplayPlanStoreWriteCommand.ItemOutcome;
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

    StoreWriteCommand<?> next(List<RunId> runs) {
        return random.nextBoolean() ? resumes.next(runs) : planned(runs);
    }

    private StoreWriteCommand<?> planned(List<RunId> runs) {
        RunId plan = PLANS.get(random.nextInt(PLANS.size()));
        RunId worker = new RunId(1, random.nextInt(2));
        int ws = 1 + random.nextInt(2);
        StoreWriteCommand.ChangeAuthor by = new StoreWriteCommand.ChangeAuthor(
                new RunId(920_000 + ++seen, 5), random.nextBoolean() ? "ann" : "bob", "why");
        ReplayPlanStoreWriteCommand<?> replay = switch (random.nextInt(12)) {
            case 0, 1 ->
                new ReplayPlanStoreWriteCommand.CreatePlan(
                        plan, ws, "ann", "{}", null, random.nextBoolean(), seen % 3 == 0 ? "{\"other\":1}" : null);
            case 2, 3 ->
                new ReplayPlanStoreWriteCommand.AddItems(
                        plan,
                        List.of(item(runs), item(runs)).stream().distinct().toList());
            case 4 ->
                seen % 4 == 0
                        ? new ReplayPlanStoreWriteCommand.RemoveItems(
                                plan, List.of(item(runs).run()))
                        : new ReplayPlanStoreWriteCommand.MarkReady(plan, "{\"n\":" + seen + "}");
            case 5 -> new ReplayPlanStoreWriteCommand.ApprovePlan(ws, plan, by);
            case 6 -> new ReplayPlanStoreWriteCommand.StartApplying(ws, plan, "{}", by);
            case 7 ->
                seen % 4 == 0
                        ? new ReplayPlanStoreWriteCommand.ReleasePlan(plan, worker, "waits " + seen % 8)
                        : new ReplayPlanStoreWriteCommand.ClaimPlan(plan, worker, 1_000_000);
            case 8, 9 -> new ReplayPlanStoreWriteCommand.RecordItems(plan, worker, List.of(settled(runs)));
            case 10 ->
                random.nextBoolean()
                        ? new ReplayPlanStoreWriteCommand.FinishPlan(
                                plan, ReplayPlanStoreWriteCommand.PlanState.DONE, "")
                        : new ReplayPlanStoreWriteCommand.StopPlan(ws, plan, by);
            default ->
                new ReplayPlanStoreWriteCommand.DeleteOldPlans(StoreFixture.START + random.nextInt(5_000_000), 2);
        };
        return new StoreWriteCommand.ReplayPlanCommand<>(replay);
    }

    private static RunId run(List<RunId> runs, int n) {
        return runs.isEmpty() ? new RunId(5, n) : runs.get(Math.floorMod(n, Math.min(5, runs.size())));
    }

    private ReplayPlanStoreWriteCommand.PlanItem item(List<RunId> runs) {
        int worst = random.nextInt(8);
        RunId run = run(runs, random.nextInt(5));
        return new ReplayPlanStoreWriteCommand.PlanItem(
                run, worst, random.nextInt(128), "{}", ItemOutcome.PLANNED, null, "");
    }

    private ReplayPlanStoreWriteCommand.PlanItem settled(List<RunId> runs) {
        ItemOutcome outcome = ItemOutcome.values()[1 + random.nextInt(4)];
        RunId made = outcome == ItemOutcome.APPLIED ? run(runs, random.nextInt(5)) : null;
        return item(runs).withOutcome(outcome, made, "note");
    }
}
