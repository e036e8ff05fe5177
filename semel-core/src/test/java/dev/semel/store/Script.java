package dev.semel.store;

import dev.semel.admission.RunDeduplicationKey;
import dev.semel.admission.TriggerSource;
import dev.semel.effect.EffectLedger;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import java.util.ArrayList;
import java.util.List;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/**
 * Makes up what happens next. Few keys, few runs at a time, few effects and queues, short windows: things meet. It looks
 * at one of the stores for what there is; as long as all stores agree it does not matter at which.
 */
final class Script {
    private static final int REMEMBERED = 12;
    private static final int SETTINGS_EVERY = 9;
    private static final int SCHEDULES_EVERY = 13;
    private static final int LETTERS_EVERY = 7;
    private static final int DELIVERIES_EVERY = 11;
    private static final int REPLAYS_EVERY = 17;
    private static final int TIDIES_EVERY = 23;
    private static final int REVIEWS_EVERY = 8;

    private final RandomGenerator random;
    private final ScriptedStore first;
    private final TriggerScript triggers;
    private final LedgerScript ops;
    private final List<ScriptStep.ApplyBatch> applyBatchs = new ArrayList<>();
    private final List<RunId> runs = new ArrayList<>();
    private long leases = 1;
    private long seen = 0;
    private int made = 0;
    private final SettingScript settings = new SettingScript();
    private final ScheduleScript schedules = new ScheduleScript();
    private final KeyedSignalScript keyedSignalScript;
    private final ReviewScript reviews;
    private final DeliveryScript deliveries = new DeliveryScript();
    private final ReplayScript replays;

    Script(RandomGenerator random, ScriptedStore first) {
        this.random = random;
        this.first = first;
        this.triggers = new TriggerScript(random, runs, this::lineage, () -> first.reads.catalogVersion());
        this.ops = new LedgerScript(random, first.reads);
        this.keyedSignalScript = new KeyedSignalScript(this::mine, runs);
        this.reviews = new ReviewScript(this::mine, first.reads);
        this.replays = new ReplayScript(first.reads);
    }

    /** What a script begins with: two workspaces, three workflows. */
    static List<ScriptStep> opening() {
        List<StoreWriteCommand<?>> edits = List.of(
                new StoreWriteCommand.CreateWorkspace("one", new byte[] {1, 2}),
                new StoreWriteCommand.CreateWorkspace("two", new byte[] {3}),
                new StoreWriteCommand.PublishVersion(1, "pay", "wf_pay", "v1", "tester"),
                new StoreWriteCommand.PublishVersion(1, "ship", "wf_ship", "v1", "tester"),
                new StoreWriteCommand.PublishVersion(2, "pay", "wf_other", "v1", "tester"));
        List<ScriptStep> steps = new ArrayList<>();
        edits.forEach(edit -> steps.add(new ScriptStep.ApplyBatch(
                ScriptStep.BatchAuthor.NOBODY, List.of(new StoreWrite.ExecuteCommand<>(edit)))));
        return steps;
    }

    ScriptStep next() {
        ScriptStep step = make();
        if (step instanceof ScriptStep.ApplyBatch apply) {
            applyBatchs.add(apply);
            applyBatchs.subList(0, Math.max(0, applyBatchs.size() - REMEMBERED)).clear();
        }
        return step;
    }

    private ScriptStep make() {
        if (++made % SETTINGS_EVERY == 0) {
            return new ScriptStep.ApplyBatch(
                    ScriptStep.BatchAuthor.NOBODY,
                    List.of(new StoreWrite.ExecuteCommand<>(settings.next(first.reads.catalogVersion()))));
        }
        if (made % SCHEDULES_EVERY == 0) {
            return new ScriptStep.ApplyBatch(
                    ScriptStep.BatchAuthor.NOBODY, List.of(new StoreWrite.ExecuteCommand<>(schedules.next(first))));
        }
        if (made % LETTERS_EVERY == 0) {
            return new ScriptStep.ApplyBatch(
                    ScriptStep.BatchAuthor.OWNER,
                    List.of(new StoreWrite.ExecuteCommand<>(
                            new StoreWriteCommand.KeyedSignalCommand<>(keyedSignalScript.next()))));
        }
        if (made % REVIEWS_EVERY == 0) {
            return new ScriptStep.ApplyBatch(
                    ScriptStep.BatchAuthor.OWNER,
                    List.of(new StoreWrite.ExecuteCommand<>(new StoreWriteCommand.ReviewCommand<>(reviews.next()))));
        }
        if (made % DELIVERIES_EVERY == 0) {
            return new ScriptStep.ApplyBatch(
                    ScriptStep.BatchAuthor.NOBODY, List.of(new StoreWrite.ExecuteCommand<>(deliveries.next())));
        }
        if (made % REPLAYS_EVERY == 0) {
            return new ScriptStep.ApplyBatch(
                    ScriptStep.BatchAuthor.NOBODY, List.of(new StoreWrite.ExecuteCommand<>(replays.next(runs))));
        }
        if (made % TIDIES_EVERY == 0) {
            return new ScriptStep.ApplyBatch(
                    ScriptStep.BatchAuthor.NOBODY, List.of(new StoreWrite.ExecuteCommand<>(tidy())));
        }
        int dice = random.nextInt(100);
        if (dice < 8) {
            return new ScriptStep.AdvanceClock(
                    pick(List.of(1L, 1_000L, 999_999L, 1_000_000L, 5_000_000L, 3_600_000_000L)));
        }
        if (dice < 10) {
            return random.nextBoolean() ? new ScriptStep.Crash(++leases) : new ScriptStep.Handover(++leases);
        }
        if (dice < 12) {
            return new ScriptStep.Renew();
        }
        if (dice < 20 && !applyBatchs.isEmpty()) {
            return again(pick(applyBatchs));
        }
        if (dice < 28) {
            return new ScriptStep.ApplyBatch(ScriptStep.BatchAuthor.OWNER, batch());
        }
        ScriptStep.BatchAuthor as = dice < 30
                ? ScriptStep.BatchAuthor.NOBODY
                : dice < 31 && leases > 1 ? ScriptStep.BatchAuthor.FENCED : ScriptStep.BatchAuthor.OWNER;
        return new ScriptStep.ApplyBatch(as, List.of(write()));
    }

    /**
     * After a lost answer everything is applied again. Of several triggers only one: what PostgreSQL tells the others
     * about it in the same batch is as of now and not as of the first time.
     */
    private static ScriptStep again(ScriptStep.ApplyBatch step) {
        List<StoreWrite<?>> writes = new ArrayList<>();
        for (StoreWrite<?> write : step.writes()) {
            if (!(write instanceof StoreWrite.AdmitRun) || writes.isEmpty()) {
                writes.add(write);
            }
        }
        return new ScriptStep.ApplyBatch(step.as(), writes);
    }

    private StoreWrite<?> write() {
        int dice = random.nextInt(100);
        if (dice < 28) {
            return triggers.admit();
        }
        if (dice < 46) {
            return append(driver(), true);
        }
        if (dice < 56) {
            return end(driver(), true);
        }
        if (dice < 66) {
            return claim();
        }
        if (dice < 70) {
            return tally();
        }
        if (dice < 73) {
            return keep();
        }
        StoreWriteCommand<?> edit = dice < 88 ? runEdit() : edit();
        return new StoreWrite.ExecuteCommand<>(edit);
    }

    private StoreWriteCommand.CompactMetrics tidy() {
        long now = first.reads.now();
        return new StoreWriteCommand.CompactMetrics(
                now / MetricUpdateCollector.MICROS_PER_MINUTE, 0, now - 7_200_000_000L, 1_000);
    }

    /** Kinds in the order in which PostgreSQL applies them, each about other runs: the order is no promise. */
    private List<StoreWrite<?>> batch() {
        List<StoreWrite<?>> writes = new ArrayList<>();
        for (int i = random.nextInt(4); i > 0; i--) {
            writes.add(triggers.plain());
        }
        List<StoreWrite.RunExecution> mine = new ArrayList<>(mine());
        for (int i = 0; i < 2 && !mine.isEmpty(); i++) {
            writes.add(append(mine.remove(random.nextInt(mine.size())), false));
        }
        for (int i = 0; i < 2 && !mine.isEmpty(); i++) {
            writes.add(end(mine.remove(random.nextInt(mine.size())), false));
        }
        if (random.nextBoolean()) {
            writes.add(tally());
        }
        return writes;
    }

    private List<StoreWrite.RunExecution> mine() {
        return new java.util.ArrayList<>(first.reads.runsOfLease(first.lease(), null, 1_000));
    }

    private int claims(RunId id) {
        DatabaseRows.RunRow run = first.reads.claimedRun(id);
        return run == null || run.progress() == null ? 1 : run.progress().claims();
    }

    /** Mostly the execution that drives a run now; sometimes an old one, or of a run that nobody drives. */
    private StoreWrite.RunExecution driver() {
        List<StoreWrite.RunExecution> mine = mine();
        if (mine.isEmpty() || random.nextInt(10) == 0) {
            RunId any = anyRun();
            return new StoreWrite.RunExecution(any, Math.max(0, claims(any) - random.nextInt(2)));
        }
        return pick(mine);
    }

    private RunId anyRun() {
        return runs.isEmpty() ? new RunId(9, 9) : runs.get(Math.max(0, runs.size() - 1 - random.nextInt(12)));
    }

    /** A run that has done nothing yet is not in doubt. */
    private List<RunState> restsOf(RunId run) {
        DatabaseRows.RunRow row = first.reads.claimedRun(run);
        return row != null && row.state() == RunState.RUNNING
                ? List.of(RunState.WAITING, RunState.HELD, RunState.IN_DOUBT)
                : List.of(RunState.WAITING, RunState.HELD);
    }

    private StoreWrite.AppendJournal append(StoreWrite.RunExecution by, boolean alone) {
        int seq = first.reads.journal(by.run()).size();
        boolean rests = alone && random.nextInt(3) == 0;
        RunState state =
                random.nextInt(40) == 0 ? RunState.COMPLETED : rests ? pick(restsOf(by.run())) : RunState.RUNNING;
        StoreWrite.Suspension rest = rests
                ? new StoreWrite.Suspension(
                        pick(List.of(0L, first.fixture.time() + 1_000_000, StoreWrite.Suspension.NEVER)),
                        pick(List.of("{\"for\":\"signal\"}", "{\"for\":\"code\"}", "{\"for\":\"poison\"}")),
                        random.nextInt(3),
                        random.nextBoolean(),
                        random.nextBoolean())
                : null;
        List<EffectLedger.LedgerOperation> ledgerOperations = alone ? ops.some(by, !rests) : List.of();
        String entries = random.nextInt(4) == 0 ? "" : "[" + seq + "]";
        return new StoreWrite.AppendJournal(
                by, Math.max(0, seq - random.nextInt(2)), entries, state, ledgerOperations, rest);
    }

    private StoreWrite.EndRun end(StoreWrite.RunExecution by, boolean alone) {
        RunState state = pick(
                List.of(RunState.COMPLETED, RunState.COMPLETED, RunState.FAILED, RunState.FAILED, RunState.CANCELLED));
        if (random.nextInt(40) == 0) {
            state = RunState.RUNNING;
        }
        StoreWrite.RunResult ending = state == RunState.FAILED
                ? new StoreWrite.RunResult(null, "broken", "it broke", "pay")
                : StoreWrite.RunResult.output(
                        random.nextInt(10) == 0 ? "\"" + "x".repeat(5_000) + "\"" : "{\"ok\":true}");
        return new StoreWrite.EndRun(by, state, ending, "[\"last\"]", alone ? ops.some(by, false) : List.of(), false);
    }

    private StoreWrite.ClaimRuns claim() {
        List<String> except =
                pick(List.of(List.<String>of(), List.<String>of(), List.of("wf_pay"), List.of("wf_ship", "wf_other")));
        return new StoreWrite.ClaimRuns(random.nextInt(4), except, random.nextInt(3));
    }

    private StoreWrite.RecordDuplicates tally() {
        List<StoreWrite.DuplicateRequest> rows = new ArrayList<>();
        for (int i = random.nextInt(3); i >= 0; i--) {
            RunId run = anyRun();
            if (first.reads.claimedRun(run) == null) {
                continue; // nobody met a name of a run that was refused
            }
            boolean conflict = random.nextInt(3) == 0;
            rows.add(new StoreWrite.DuplicateRequest(
                    new RunId(500_000 + ++seen, 3),
                    1,
                    run,
                    conflict,
                    first.fixture.time(),
                    conflict ? 422 : 200,
                    "actor",
                    conflict ? "[\"amount\"]" : null,
                    random.nextInt(40)));
        }
        return new StoreWrite.RecordDuplicates(rows);
    }

    private StoreWrite.SaveEvent keep() {
        long change = first.reads.catalogVersion() - random.nextInt(2);
        DatabaseRows.EventRow event = new DatabaseRows.EventRow(
                1 + random.nextInt(2),
                pick(List.of("evt_a", "evt_b")),
                new RunId(600_000 + ++seen, 3),
                TriggerSource.EVENT,
                "/shop",
                "1",
                pick(List.of("t1", "t2")),
                "{}",
                0,
                "actor",
                null,
                random.nextInt(3),
                "[]");
        return new StoreWrite.SaveEvent(event, change);
    }

    private StoreWriteCommand<?> runEdit() {
        RunId run = anyRun();
        int ws = random.nextInt(8) == 0 ? 2 : 1;
        return switch (random.nextInt(11)) {
            case 9 -> random.nextInt(3) == 0 ? forget() : retire();
            case 10 -> noted(ws, run);
            case 0, 1 -> signal(ws, run);
            case 2 -> new StoreWriteCommand.CancelRun(ws, run, "tester", "enough");
            case 3 -> new StoreWriteCommand.WakeRuns(List.of(run, anyRun()));
            case 4 -> new StoreWriteCommand.ReturnRun(driver());
            case 5 -> new StoreWriteCommand.WakeHeldRuns(pick(TriggerScript.WORKFLOWS));
            case 6, 7 -> decide(run);
            case 8 -> new StoreWriteCommand.ContinueHeldRun(ws, run, "tester", "mended");
            default -> throw new AssertionError();
        };
    }

    private StoreWriteCommand.SendSignal signal(int ws, RunId run) {
        return new StoreWriteCommand.SendSignal(
                ws, run, pick(List.of("go", "stop")), pick(List.of("a", "b")), "{\"n\":1}");
    }

    private StoreWriteCommand<?> noted(int ws, RunId run) {
        var note = new StoreWriteCommand.AuditEntry(ws, "run.decide", run.text(), by("tester", "go"));
        return new StoreWriteCommand.AuditedCommand<>(
                signal(ws, run), outcome -> outcome == StoreWriteCommand.SignalResult.DELIVERED, note);
    }

    private @Nullable RunId lineage(RunId id) {
        DatabaseRows.RunRow run = first.reads.claimedRun(id);
        return run == null ? null : run.lineage();
    }

    /** Not the rows of duplicates: every history ends with the sums of those. */
    private StoreWriteCommand<Integer> forget() {
        long before = first.fixture.time() - random.nextInt(3) * 1_000_000L;
        return random.nextBoolean()
                ? new StoreWriteCommand.DeleteOldHistory(
                        StoreWriteCommand.HistoryTable.AUDIT, before, 1 + random.nextInt(3))
                : new StoreWriteCommand.ErasePayloads(
                        first.reads
                                .oldRuns(null, 1 + random.nextInt(20), before)
                                .found(),
                        before);
    }

    private StoreWriteCommand.DeleteRuns retire() {
        long before = first.fixture.time() - random.nextInt(3) * 1_000_000L;
        return new StoreWriteCommand.DeleteRuns(
                first.reads.oldRuns(null, 1 + random.nextInt(20), before).found(), before);
    }

    private StoreWriteCommand.DecideEffect decide(RunId otherwise) {
        String result = random.nextBoolean() ? "{\"id\":7}" : null;
        StoreQueries.EffectFilter unknown = StoreQueries.EffectFilter.in(1, EffectLedger.EffectState.UNKNOWN, 20);
        List<EffectLedger.EffectRow> doubtful = first.reads.effects(unknown).found();
        if (doubtful.isEmpty()) {
            return new StoreWriteCommand.DecideEffect(
                    new EffectLedger.EffectId(1, "d1"), otherwise, result, by("tester", "looked"));
        }
        EffectLedger.EffectRow one = pick(doubtful);
        return new StoreWriteCommand.DecideEffect(one.id(), one.holder().run(), result, by("tester", "looked"));
    }

    private StoreWriteCommand<?> edit() {
        return switch (random.nextInt(15)) {
            case 0 ->
                new StoreWriteCommand.PauseWorkflow(
                        random.nextInt(6) == 0 ? 2 : 1, pick(TriggerScript.WORKFLOWS), random.nextBoolean());
            case 1 -> new StoreWriteCommand.PauseWorkflow(1, pick(TriggerScript.WORKFLOWS), false);
            case 2 -> new StoreWriteCommand.DeleteExpiredReplies(10);
            case 3 -> new StoreWriteCommand.PublishVersion(1, "pay", "wf_pay", "v" + random.nextInt(3), "tester");
            case 4, 14 -> TriggerScript.publishOver(random, first.reads.catalogVersion());
            case 5 -> token();
            case 6 -> new StoreWriteCommand.RevokeToken(1, "tok_" + random.nextInt(3), "tester");
            case 7, 8 -> release();
            case 9 ->
                new StoreWriteCommand.DeleteTombstones(first.reads
                        .tombstones(null, 1_000, first.fixture.time() - random.nextInt(5_000_000))
                        .found());
            case 10 ->
                new StoreWriteCommand.StageCandidate(
                        1, pick(List.of("pay", "none")), "v" + random.nextInt(3), 1 + random.nextInt(99), "t");
            case 11 ->
                new StoreWriteCommand.PromoteCandidate(1 + random.nextInt(2), "wf_pay", random.nextInt(4), "tester");
            case 13 ->
                new StoreWriteCommand.DeleteEvents(
                        first.reads.oldEvents(1, first.fixture.time() - random.nextInt(5_000_000), 2));
            case 12 ->
                new StoreWriteCommand.RollBackVersion(
                        1 + random.nextInt(2), "wf_pay", random.nextInt(4), "tester", "why");
            default -> throw new AssertionError();
        };
    }

    private StoreWriteCommand.CreateToken token() {
        int n = random.nextInt(3);
        byte[] hash = {(byte) random.nextInt(3)};
        return new StoreWriteCommand.CreateToken(new DatabaseRows.TokenRow(
                "tok_" + n, 1 + n / 2, "one", "token", hash, "trigger", n, 0, 0, n == 0 ? null : "usr_" + n));
    }

    private StoreWriteCommand.ChangeAuthor by(String actor, String reason) {
        return new StoreWriteCommand.ChangeAuthor(new RunId(700_000 + ++seen, 5), actor, reason);
    }

    private StoreWriteCommand<?> release() {
        RunDeduplicationKey name = triggers.name();
        var keyRecord = first.reads.findKeys(List.of(name)).keyRecords().getFirst();
        RunId run = keyRecord == null ? anyRun() : keyRecord.run();
        return new StoreWriteCommand.ReleaseKey(name, run, by("tester", "wrong amount"));
    }

    private <T> T pick(List<T> from) {
        return from.get(random.nextInt(from.size()));
    }

    List<RunId> runs() {
        return runs;
    }
}
