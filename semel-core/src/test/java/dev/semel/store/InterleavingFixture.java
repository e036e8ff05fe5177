package dev.semel.store;

import dev.semel.admission.RunDeduplicationKey;
import dev.semel.admission.RunDeduplicationKeyClaim;
import dev.semel.admission.RunDeduplicationKeyRecord;
import dev.semel.admission.StartConditions;
import dev.semel.admission.TriggerSource;
import dev.semel.effect.EffectLedger;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.StoreWrite.RunExecution;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/**
 * Rows on which all named transactions meet. The first worker's lease is over and nobody has taken it yet; it drives
 * one run and a run with a place in a queue. Put back to this state before every interleaving.
 */
final class InterleavingFixture implements AutoCloseable {
    /** The lease that is over, and another worker's. */
    static final long LEASE = TestStoreClient.LEASE;

    static final long OTHER = 78;
    static final StartConditions GATE = new StartConditions(
            List.of(new StartConditions.QueueLimit("queue", 1)),
            new StartConditions.RateLimit("rate", 1_000, 5),
            0,
            null);
    static final StartConditions QUIET = new StartConditions(
            List.of(),
            null,
            0,
            new StartConditions.DebounceWindow("quiet", TestStoreClient.WINDOW, TestStoreClient.WINDOW));

    final PostgresStoreFixture stores = PostgresStoreFixture.withClockByHand();
    final TestStoreClient client = new TestStoreClient(stores);
    final int ws = client.ws;
    final long change;

    final RunId executed;
    final RunId neighbour;
    final RunId leaving;
    final RunId resting;
    final RunId doubting;
    final RunId ended;
    final RunId old;
    final RunId failed;
    final TestEffect reserved = TestEffect.of(client.ws, "reserved").once(TestStoreClient.WINDOW);
    final TestEffect wanted = TestEffect.of(client.ws, "wanted").once(TestStoreClient.WINDOW);
    final TestEffect past = TestEffect.of(client.ws, "past").once(1);
    final TestEffect doubted = TestEffect.of(client.ws, "doubted");

    private final List<String> tables;
    private final String restore;
    private final Connection beside = stores.jdbc();

    InterleavingFixture() {
        client.leases.start(OTHER, "other", client.slots(), 100 * TestStoreClient.TTL);
        client.change(new StoreWriteCommand.SaveSetting(profile("kept"), "{}", 0, "a"));
        stores.execute("CREATE TABLE mine (n integer)");
        leaving = client.id();
        client.apply(client.gated(leaving, GATE));
        client.claim();
        client.apply(client.gated(client.id(), GATE));
        client.apply(client.gated(client.id(), QUIET, client.key("first of many")));
        executed = client.fresh(client.key("held"));
        client.apply(client.append(executed, 0, "[0]"));
        client.apply(TestStoreClient.ops(executed, reserved.reserve(executed)));
        neighbour = client.id();
        client.applyAs(new CommitBatch.LeaseSlot(OTHER, 0), client.admit(neighbour, client.key("neighbour")));
        resting = client.fresh();
        client.apply(TestStoreClient.rest(new RunExecution(resting, 1), StoreWrite.Suspension.NEVER, 0));
        doubting = client.fresh();
        client.apply(TestStoreClient.ops(doubting, doubted.reserve(doubting)));
        EffectLedger.LedgerOperation unknown = doubted.settle(doubting, EffectLedger.EffectState.UNKNOWN, null);
        client.apply(TestStoreClient.ops(doubting, unknown));
        ask(doubting, doubt());
        ask(executed, approval());
        var rest = new StoreWrite.Suspension(StoreWrite.Suspension.NEVER, "{}", 0, false, false);
        client.apply(new StoreWrite.AppendJournal(
                new RunExecution(doubting, 1), 0, "", RunState.IN_DOUBT, List.of(unknown), rest));
        ended = client.fresh(expired());
        client.apply(client.end(ended));
        old = client.fresh(client.chosen("old"));
        client.apply(TestStoreClient.ops(old, past.reserve(old), past.done(old)));
        // Its window ended more than 7 days ago, so that retention may delete it.
        stores.execute("UPDATE semel_effect SET generation = 1, expires_at = 1 WHERE digest = 'past'");
        client.apply(client.end(old));
        failed = client.fresh(again());
        client.apply(client.failed(failed));
        client.apply(client.admit(client.run(client.id()), List.of(), false));
        client.apply(client.admit(client.run(client.id(), RunState.QUEUED, null), List.of(), true));
        client.apply(new StoreWrite.SaveEvent(
                new DatabaseRows.EventRow(
                        ws, "evt_b", client.id(), TriggerSource.EVENT, "/s", "1", "t", "{}", 0, "a", null, 0, "[]"),
                client.reads.catalogVersion()));
        client.change(listen(executed, "heard"));
        signal("kept");
        signal("known");
        stores.advance(Duration.ofNanos((TestStoreClient.TTL + 1) * 1_000));
        change = client.reads.catalogVersion();
        tables = tables();
        restore = save();
    }

    private void ask(RunId run, HumanReviewStoreWriteCommand.ReviewQuestion question) {
        client.change(new StoreWriteCommand.ReviewCommand<>(new HumanReviewStoreWriteCommand.OpenReview(
                new RunExecution(run, 1), ws, TestStoreClient.WORKFLOW, question)));
    }

    /** What the executed run asks. */
    HumanReviewStoreWriteCommand.ReviewQuestion approval() {
        return new HumanReviewStoreWriteCommand.ReviewQuestion(
                HumanReviewStoreWriteCommand.ReviewKind.APPROVAL, "ok", "", "role:ops", "{}", TestStoreClient.WINDOW);
    }

    private HumanReviewStoreWriteCommand.ReviewQuestion doubt() {
        return new HumanReviewStoreWriteCommand.ReviewQuestion(
                HumanReviewStoreWriteCommand.ReviewKind.DOUBT,
                "pay",
                doubted.id().digest(),
                "role:ops",
                "{}",
                0);
    }

    /** A run waits under a key, at a path that is named like it. */
    StoreWriteCommand<KeyedSignalStoreWriteCommand.ListenResult> listen(RunId run, String key) {
        KeyedSignalStoreWriteCommand.SignalWaiter ear =
                new KeyedSignalStoreWriteCommand.SignalWaiter(new RunExecution(run, 1), key);
        return new StoreWriteCommand.KeyedSignalCommand<>(new KeyedSignalStoreWriteCommand.StartListening(
                new KeyedSignalStoreWriteCommand.SignalAddress(ws, "paid", key), ear, false, 0));
    }

    /** A signal that nobody waits for yet, under a key that is its id. */
    private void signal(String id) {
        KeyedSignalStoreWriteCommand.SignalAddress to = new KeyedSignalStoreWriteCommand.SignalAddress(ws, "paid", id);
        client.change(new StoreWriteCommand.KeyedSignalCommand<>(new KeyedSignalStoreWriteCommand.SendKeyedSignal(
                to, id, client.id(), TestStoreClient.bytes(id), "{}")));
    }

    WorkspaceSettingName profile(String name) {
        return new WorkspaceSettingName(ws, SettingRules.PLAIN, name);
    }

    /** A key that is free again after a failure. */
    RunDeduplicationKeyClaim again() {
        return client.key("failed", RunDeduplicationKeyRecord.HOLD | RunDeduplicationKeyRecord.RERUN_FAILED);
    }

    /** The name under which the end of the run that failed is followed. */
    RunDeduplicationKeyClaim follows() {
        return client.claim(RunDeduplicationKey.KeyKind.REPLAY, failed.text(), RunDeduplicationKeyRecord.HOLD);
    }

    /** The run that failed goes on in place. */
    StoreWriteCommand.ResumeFailedRun resume(StoreWriteCommand.ChangeAuthor by) {
        List<StartConditions.QueueLimit> queueLimits = GATE.queueLimits();
        return new StoreWriteCommand.ResumeFailedRun(
                ws, failed, StoreFixture.START, follows(), 1 << 24, 0, "[\"resumed\"]", queueLimits, List.of(), by);
    }

    /** A key that is past its time. */
    RunDeduplicationKeyClaim expired() {
        return new RunDeduplicationKeyClaim(
                new RunDeduplicationKey(ws, RunDeduplicationKey.KeyKind.KEY, "expired"),
                TestStoreClient.bytes("digest"),
                1,
                0,
                true);
    }

    StoreWriteCommand.KeyTombstone tombstone() {
        return new StoreWriteCommand.KeyTombstone(expired().key(), ended, StoreFixture.START + 1);
    }

    /** An event that both sides may bring. */
    StoreWrite.SaveEvent event(InterleavedClient side, String eventId, int matched) {
        RunId seq = new RunId(9_500 + side.number, eventId.hashCode());
        return new StoreWrite.SaveEvent(
                new DatabaseRows.EventRow(
                        ws,
                        eventId,
                        seq,
                        TriggerSource.EVENT,
                        "/s",
                        "1",
                        "t",
                        "{}",
                        0,
                        "a",
                        null,
                        matched,
                        "[" + side.number + "]"),
                change);
    }

    /** An event that is past its time, and may come again. */
    StoreWriteCommand.ExpiredEvent oldEvent() {
        return new StoreWriteCommand.ExpiredEvent(ws, "evt_b", StoreFixture.START);
    }

    /** The run that a side asks for. */
    RunId claim(InterleavedClient side) {
        return new RunId(9_000 + side.number, 9);
    }

    StoreWrite.AdmitRun admit(InterleavedClient side, RunDeduplicationKeyClaim... claims) {
        return new StoreWrite.AdmitRun(client.run(claim(side)), List.of(claims), true, change);
    }

    StoreWrite.AdmitRun gated(InterleavedClient side, StartConditions conditions) {
        NewRun run = client.gatedRun(claim(side), conditions, RunState.STARTED);
        return new StoreWrite.AdmitRun(run, List.of(client.key("gated by " + side.number)), true, change);
    }

    private List<String> tables() {
        try (Connection connection = stores.jdbc();
                var statement = connection.createStatement();
                var row = statement.executeQuery("""
                    SELECT c.relname FROM pg_class c JOIN pg_namespace n ON n.oid = c.relnamespace
                    WHERE n.nspname = current_schema() AND c.relkind IN ('r', 'p') AND NOT c.relispartition
                      AND c.relname <> 'hand' ORDER BY 1
                    """)) {
            List<String> names = new ArrayList<>();
            while (row.next()) {
                names.add(row.getString(1));
            }
            return names;
        } catch (SQLException e) {
            throw new AssertionError("the tables could not be listed", e);
        }
    }

    /** Copies all rows, and answers the statements that put them back. */
    private String save() {
        List<String> back = new ArrayList<>();
        for (String table : tables) {
            stores.execute("CREATE TABLE saved_" + table + " AS TABLE " + table);
            back.add("DELETE FROM " + table);
            back.add("INSERT INTO " + table + " SELECT * FROM saved_" + table);
        }
        return "BEGIN;" + String.join(";", back) + ";COMMIT";
    }

    void restore() {
        run(restore);
    }

    /** Dead rows of thousands of interleavings would make each slower than the one before. */
    void tidy() {
        tables.forEach(table -> run("VACUUM " + table));
    }

    private void run(String sql) {
        try (Statement statement = beside.createStatement()) {
            statement.execute(sql);
        } catch (SQLException e) {
            throw new AssertionError(sql, e);
        }
    }

    /** All rows as texts. */
    String rows() {
        String all = tables.stream()
                .map(table -> "SELECT '" + table + " ' || t::text AS line FROM " + table + " t")
                .collect(Collectors.joining(" UNION ALL "));
        try (Statement statement = beside.createStatement();
                var row = statement.executeQuery(all)) {
            List<String> lines = new ArrayList<>();
            while (row.next()) {
                lines.add(row.getString(1));
            }
            return lines.stream().sorted().collect(Collectors.joining("\n"));
        } catch (SQLException e) {
            throw new AssertionError("the rows could not be read", e);
        }
    }

    void check() {
        try {
            Invariants.check(beside);
        } catch (SQLException e) {
            throw new AssertionError("the rows could not be looked at", e);
        }
    }

    /** Whether one connection waits for a lock of the other. */
    boolean waits(int backend, int holder) {
        try (var statement = beside.prepareStatement("SELECT ? = ANY (pg_blocking_pids(?))")) {
            statement.setInt(1, holder);
            statement.setInt(2, backend);
            try (var row = statement.executeQuery()) {
                row.next();
                return row.getBoolean(1);
            }
        } catch (SQLException e) {
            throw new AssertionError("the locks could not be looked at", e);
        }
    }

    @Override
    public void close() {
        try {
            beside.close();
        } catch (SQLException e) {
            throw new AssertionError("a connection did not close", e);
        }
        client.abandon();
    }
}
