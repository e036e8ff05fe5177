package dev.semel.store;

import dev.semel.admission.RunDeduplicationKey;
import dev.semel.effect.EffectLedger;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import java.util.function.Supplier;
import org.jspecify.annotations.Nullable;

/** Every question of {@link StoreQueries}, asked of one store; each answer is a line. */
final class StoreQuerySnapshot {
    private final StoreQueries reads;
    private final List<String> answers = new ArrayList<>();

    private StoreQuerySnapshot(StoreQueries reads) {
        this.reads = reads;
    }

    static List<String> ask(ScriptedStore actor, List<RunId> runs) {
        StoreQuerySnapshot questions = new StoreQuerySnapshot(actor.reads);
        questions.store(actor.lease());
        for (int ws = 1; ws <= 3; ws++) {
            questions.workspace(ws);
            questions.names(ws);
            questions.lists(ws, runs);
        }
        runs.forEach(questions::run);
        return questions.answers;
    }

    private void answer(String question, Supplier<@Nullable Object> asked) {
        answers.add(question + ": " + ValueText.of(asked.get()));
    }

    private void store(long lease) {
        answer("now", reads::now);
        answer("catalogChange", reads::catalogVersion);
        answer("expiredReply", reads::hasExpiredReply);
        answer("expiredLetter", reads::hasExpiredKeyedSignal);
        answer("expiredDelivery", reads::hasExpiredDelivery);
        answer("nextDue", reads::nextDue);
        answer("unfinished", reads::countUnfinished);
        answer("workers", reads::workers);
        List<StoreWrite.RunExecution> owned = reads.runsOfLease(lease, null, 3);
        answer("owned", () -> owned);
        answer(
                "owned after",
                () -> owned.isEmpty()
                        ? null
                        : reads.runsOfLease(lease, owned.getFirst().run(), 100));
        answer("owned by nobody", () -> reads.runsOfLease(lease + 1, null, 100));
        answer("workspace", () -> reads.workspace("one"));
        answer("no workspace", () -> reads.workspace("three"));
        ScheduleQueries timetable = reads.schedules();
        answer("schedules due", () -> timetable.due(reads.now(), 100));
        answer("first schedule", timetable::firstDue);
        answer("next schedule", () -> timetable.firstDueAfter(reads.now()));
        answer("schedules of", () -> timetable.ofWorkflow("wf_pay"));
        answer("schedules", () -> timetable.page(1, "wf_pay", "a", 2));
        answer("no schedules", () -> timetable.page(2, "", "", 2));
        answer("ticks", () -> timetable.ticks("wf_pay", "a", Long.MAX_VALUE, 1_000));
        answer("ticks page", () -> timetable.ticks("wf_pay", "b", reads.now(), 2));
        answer("old ticks", () -> timetable.hasTicksBefore(reads.now() - 1_000_000));
        answer("standings", () -> timetable.currentVersions("wf_new", 2));
        figures();
        for (EffectLedger.EffectId id : LedgerScript.IDS) {
            answer("effect", () -> reads.effect(id));
        }
        for (int i = 0; i < 3; i++) {
            byte[] hash = {(byte) i};
            answer("token", () -> reads.token(hash));
        }
    }

    private void figures() {
        MetricQueries figures = reads.metrics();
        long now = reads.now();
        answer("totals", () -> figures.totals(0, Long.MAX_VALUE));
        answer(
                "untidy",
                () -> figures.needsCompaction(new StoreWriteCommand.CompactMetrics(
                        now / MetricUpdateCollector.MICROS_PER_MINUTE, 0, now - 1_000_000, 1)));
        for (int ws = 1; ws <= 2; ws++) {
            int one = ws;
            MetricQueries.MetricRange all = new MetricQueries.MetricRange(ws, "", 0, Long.MAX_VALUE);
            MetricQueries.MetricRange some =
                    new MetricQueries.MetricRange(ws, "wf_pay", now - MetricUpdateCollector.MICROS_PER_MINUTE, now);
            answer("sums", () -> figures.sums(all, 1));
            answer("some sums", () -> figures.sums(some, 60));
            answer("written", () -> figures.writeCounts(all));
            answer("objects", () -> figures.mostWrittenObjects(all, 1, 3));
            answer("failures", () -> figures.failures(all, 100));
            answer("some failures", () -> figures.failures(some, 1));
            MetricQueries.RequestScan newest = new MetricQueries.RequestScan(new RunId(0, 0), new RunId(-1L, -1L), 2);
            answer("met", () -> figures.replayedRuns(all, newest));
            answer("some met", () -> figures.replayedRuns(some, newest));
            answer("doubts", () -> figures.inDoubtCounts(one));
            answer("arrivals", () -> figures.admittedTriggers(one, "wf_pay", RunId.MAX, 5));
            for (MetricCounter figure : MetricCounter.values()) {
                List<MetricUpdateCollector.MetricFact> first =
                        figures.facts(all, figure, MetricQueries.FactCursor.START, 2);
                answer("facts", () -> first);
                answer("more facts", () -> first.isEmpty() ? null : figures.facts(all, figure, behind(first), 100));
            }
        }
    }

    private static MetricQueries.FactCursor behind(List<MetricUpdateCollector.MetricFact> facts) {
        MetricUpdateCollector.MetricFact last = facts.getLast();
        return new MetricQueries.FactCursor(last.at(), last.run(), last.digest());
    }

    private void workspace(int ws) {
        answer("workspace " + ws, () -> reads.workspace(ws));
        answer("workflows", () -> reads.workflows(ws));
        answer("tokens", () -> reads.tokens(ws));
        answer("audit", () -> reads.audit(ws, null, 1_000));
        answer("audit page", () -> reads.audit(ws, new RunId(20, 0), 3));
        for (String name : List.of("pay", "ship", "wf_pay", "wf_other", "nobody")) {
            answer("workflow " + name, () -> reads.workflow(ws, name));
            answer("version " + name, () -> reads.version(name, ws));
            answer("versions " + name, () -> reads.versions(name, 5, 3));
            answer("tally " + name, () -> reads.countRuns(ws, name, 4));
        }
        answer("workspace after", () -> reads.workspaceAfter(ws));
        plans(ws);
        answer("event", () -> reads.event(ws, "evt_a"));
        answer("events", () -> reads.events(new StoreQueries.EventFilter(ws, null, null, false, 0, null, 100)));
        answer("events page", () -> reads.events(new StoreQueries.EventFilter(ws, "t1", null, true, 0, null, 2)));
        answer(
                "old events",
                () -> Set.copyOf(reads.oldEvents(ws, StoreFixture.START + 3_000_000, 3))
                        .size());
        answer("names like", () -> reads.keysStartingWith(ws, RunDeduplicationKey.KeyKind.KEY, "a", 5));
        for (WorkspaceSettingName.SettingKind kind :
                List.of(SettingRules.WATCHED, SettingRules.KEEPING, SettingRules.PLAIN)) {
            answer("settings " + kind.word(), () -> reads.settings(ws, kind.word(), "", 1_000));
            answer("settings after", () -> reads.settings(ws, kind.word(), "a", 1));
            answer("setting", () -> reads.setting(ws, kind.word(), "b"));
            answer("setting version", () -> reads.setting(ws, kind.word(), "b", 2));
            answer("setting versions", () -> reads.settingVersions(ws, kind.word(), "a"));
        }
        for (String webhook : DeliveryScript.HOOKS) {
            List<InboundWebhookDelivery> deliveries = reads.deliveries(ws, webhook, null, 3);
            answer("deliveries " + webhook, () -> deliveries);
            answer(
                    "deliveries before",
                    () -> deliveries.isEmpty()
                            ? null
                            : reads.deliveries(ws, webhook, deliveries.getLast().id(), 1_000));
            answer(
                    "delivery",
                    () -> deliveries.isEmpty()
                            ? null
                            : reads.delivery(ws, webhook, deliveries.getFirst().id()));
            answer("first delivery", () -> reads.firstDelivery(ws, webhook, "evt_1"));
        }
        effects(ws);
    }

    private void plans(int ws) {
        answer("plans", () -> reads.plans().page(ws, null, 100));
        for (RunId plan : ReplayScript.PLANS) {
            answer("plan", () -> reads.plans().plan(ws, plan));
            answer("items", () -> reads.plans().items(new ReplayPlanQueries.ItemFilter(plan, 0, null), null, 100));
            answer(
                    "some items",
                    () -> reads.plans()
                            .items(
                                    new ReplayPlanQueries.ItemFilter(
                                            plan, 5, ReplayPlanStoreWriteCommand.ItemOutcome.PLANNED),
                                    null,
                                    2));
            answer("progress", () -> reads.plans().progress(plan));
        }
        answer("free plans", () -> reads.plans().claimable(new RunId(1, 1), reads.now(), 2));
        answer("old plans", () -> reads.plans().hasPlansBefore(reads.now() - 1_000_000));
    }

    private void effects(int ws) {
        for (StoreQueries.EffectSelection part : StoreQueries.EffectSelection.values()) {
            StoreQueries.EffectFilter all =
                    StoreQueries.EffectFilter.all(ws, 1_000).selection(part);
            answer("effects " + part, () -> reads.effects(all));
            answer("effects of a key " + part, () -> reads.effects(all.key("the key")));
        }
        for (EffectLedger.EffectState state : EffectLedger.EffectState.values()) {
            answer("effects " + state, () -> reads.effects(StoreQueries.EffectFilter.in(ws, state, 1_000)));
        }
    }

    private void names(int ws) {
        for (String key : TriggerScript.KEYS) {
            answer("key " + key, () -> reads.keyRecords(ws, key));
            answer("names " + key, () -> found(ws, key));
            answer("runs of key " + key, () -> reads.runs(filter(ws, null, null, key)));
        }
        for (String prefix : List.of("", "a", "a b", "zz")) {
            answer("keys " + prefix, () -> reads.keys(ws, prefix, null, 100));
            List<DatabaseRows.KeyRow> page = reads.keys(ws, prefix, null, 2);
            answer("keys page", () -> page);
            answer(
                    "keys after",
                    () -> page.isEmpty()
                            ? null
                            : reads.keys(ws, prefix, page.getLast().key(), 3));
        }
        StoreQueries.TombstonePage slice = reads.tombstones(null, 3, Long.MAX_VALUE);
        answer("tombstones", () -> slice);
        answer("tombstones after", () -> reads.tombstones(slice.next(), 4, reads.now()));
    }

    /** PostgreSQL tells the time with what it found, so where nobody holds a name there is no time to compare. */
    private Object found(int ws, String key) {
        StoreQueries.KeyLookup found = reads.findKeys(List.of(
                new RunDeduplicationKey(ws, RunDeduplicationKey.KeyKind.KEY, key),
                new RunDeduplicationKey(ws, RunDeduplicationKey.KeyKind.WORKFLOW_KEY, key + "\nwf_pay"),
                new RunDeduplicationKey(ws, RunDeduplicationKey.KeyKind.DISTINCT_KEY, key + "\nd1"),
                new RunDeduplicationKey(ws, RunDeduplicationKey.KeyKind.PAYLOAD, "p1")));
        return found.keyRecords().stream().anyMatch(Objects::nonNull) ? found : found.keyRecords();
    }

    private static StoreQueries.RunFilter filter(
            int ws, @Nullable String workflow, @Nullable RunState state, @Nullable String key) {
        return new StoreQueries.RunFilter(ws, workflow, state, key, false, 0, null, 1_000, null);
    }

    private void reviews(int ws) {
        HumanReviewStoreWriteCommand.ReviewQueries client = reads.reviews();
        HumanReviewStoreWriteCommand.ReviewPage page = client.open(new HumanReviewStoreWriteCommand.OpenReviewFilter(
                ws, null, null, null, HumanReviewStoreWriteCommand.ReviewCursor.FRONT, 2));
        answer("reviews", () -> page);
        HumanReviewStoreWriteCommand.ReviewCursor next =
                page.next() == null ? HumanReviewStoreWriteCommand.ReviewCursor.FRONT : page.next();
        answer(
                "more reviews",
                () -> client.open(
                        new HumanReviewStoreWriteCommand.OpenReviewFilter(ws, null, null, "role:ops", next, 50)));
        for (HumanReviewStoreWriteCommand.ReviewKind kind : HumanReviewStoreWriteCommand.ReviewKind.values()) {
            answer(
                    "reviews " + kind,
                    () -> client.open(
                            new HumanReviewStoreWriteCommand.OpenReviewFilter(ws, kind, "wf_pay", null, next, 50)));
        }
        List<HumanReviewStoreWriteCommand.ReviewRow> decided = client.decided(ws, null, 2);
        answer("decided reviews", () -> decided);
        answer(
                "decided before",
                () -> decided.isEmpty()
                        ? null
                        : client.decided(ws, HumanReviewStoreWriteCommand.ReviewCursor.decided(decided.getLast()), 50));
        answer("reviews to tell", () -> client.dueReminders(reads.now(), 50));
        StoreQueries.EffectPage effects = reads.effects(StoreQueries.EffectFilter.all(ws, 3));
        answer("effects page", () -> effects);
        answer(
                "more effects",
                () -> reads.effects(new StoreQueries.EffectFilter(
                        ws,
                        EffectLedger.EffectState.DONE,
                        null,
                        null,
                        "ask",
                        null,
                        StoreQueries.EffectSelection.NOT_SUPPRESSED,
                        effects.next(),
                        50)));
        answer(
                "effects of an object",
                () -> reads.effects(new StoreQueries.EffectFilter(
                        ws,
                        null,
                        "wf_pay",
                        "order 1",
                        null,
                        null,
                        StoreQueries.EffectSelection.SUPPRESSED,
                        effects.next(),
                        50)));
    }

    private void lists(int ws, List<RunId> runs) {
        reviews(ws);
        answer("runs", () -> reads.runs(filter(ws, null, null, null)));
        for (RunState state : RunState.values()) {
            answer("runs " + state, () -> reads.runs(filter(ws, null, state, null)));
        }
        for (String workflow : TriggerScript.WORKFLOWS) {
            answer("runs of " + workflow, () -> reads.runs(filter(ws, workflow, null, null)));
            answer("failed of " + workflow, () -> reads.runs(filter(ws, workflow, RunState.FAILED, null)));
            answer("at work of " + workflow, () -> reads.runs(filter(ws, workflow, RunState.WAITING, null)));
        }
        answer(
                "recorded",
                () -> reads.runsWithJournal(runs).stream()
                        .sorted(Comparator.comparing(read -> read.run().id()))
                        .toList());
        RunId before = runs.isEmpty() ? null : runs.get(runs.size() / 2);
        answer(
                "runs page",
                () -> reads.runs(new StoreQueries.RunFilter(
                        ws, null, null, null, true, StoreFixture.START + 1_000_000, before, 5, null)));
        List<StoreWrite.DuplicateRequest> page = reads.requests(ws, null, 5);
        answer("requests", () -> page);
        answer(
                "requests page",
                () -> page.isEmpty() ? null : reads.requests(ws, page.getLast().id(), 1_000));
    }

    private void run(RunId run) {
        answer("run " + run, () -> reads.run(1, run));
        answer("claimed " + run, () -> reads.claimedRun(run));
        answer("journal " + run, () -> reads.journal(run));
        answer("journal length " + run, () -> reads.journalLength(run));
        answer("signals " + run, () -> reads.signals(run));
        answer("reviews " + run, () -> reads.reviews().reviewsOf(run));
        answer("effects " + run, () -> reads.effects(run));
        answer("children " + run, () -> reads.children(run, 1_000));
        answer("queues " + run, () -> reads.queuesOf(run));
        answer("lineage " + run, () -> reads.lineage(run));
        List<StoreWrite.DuplicateRequest> page = reads.requestsOf(run, null, 2);
        answer("requests of " + run, () -> page);
        answer(
                "requests before of " + run,
                () -> page.isEmpty()
                        ? null
                        : reads.requestsOf(run, page.getFirst().id(), 2));
    }
}
