package dev.semel.store;

import dev.semel.effect.Ledger;
import dev.semel.key.Known;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.Write.Driver;
import dev.semel.trigger.Door;
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
final class World implements AutoCloseable {
    /** The lease that is over, and another worker's. */
    static final long LEASE = Desk.LEASE;

    static final long OTHER = 78;
    static final NewRun.Gate GATE = new NewRun.Gate(
            List.of(new NewRun.Gate.Place("queue", 1)), new NewRun.Gate.Rate("rate", 1_000, 5), 0, null);
    static final NewRun.Gate QUIET =
            new NewRun.Gate(List.of(), null, 0, new NewRun.Gate.Debounce("quiet", Desk.WINDOW, Desk.WINDOW));

    final PostgresPlace place = PostgresPlace.withClockByHand();
    final Desk desk = new Desk(place);
    final int ws = desk.ws;
    final long change;

    final RunId driven;
    final RunId neighbour;
    final RunId leaving;
    final RunId resting;
    final RunId doubting;
    final RunId ended;
    final RunId old;
    final RunId failed;
    final Deed reserved = Deed.of(desk.ws, "reserved").once(Desk.WINDOW);
    final Deed wanted = Deed.of(desk.ws, "wanted").once(Desk.WINDOW);
    final Deed past = Deed.of(desk.ws, "past").once(1);
    final Deed doubted = Deed.of(desk.ws, "doubted");

    private final List<String> tables;
    private final String restore;
    private final Connection beside = place.jdbc();

    World() {
        desk.leases.start(OTHER, "other", desk.slots(), 100 * Desk.TTL);
        desk.change(new Edit.Put(profile("kept"), "{}", 0, "a"));
        place.execute("CREATE TABLE mine (n integer)");
        leaving = desk.id();
        desk.apply(desk.gated(leaving, GATE));
        desk.claim();
        desk.apply(desk.gated(desk.id(), GATE));
        desk.apply(desk.gated(desk.id(), QUIET, desk.key("first of many")));
        driven = desk.fresh(desk.key("held"));
        desk.apply(desk.append(driven, 0, "[0]"));
        desk.apply(Desk.ops(driven, reserved.reserve(driven)));
        neighbour = desk.id();
        desk.applyAs(new Batch.Hold(OTHER, 0), desk.admit(neighbour, desk.key("neighbour")));
        resting = desk.fresh();
        desk.apply(Desk.rest(new Driver(resting, 1), Write.Rest.NEVER, 0));
        doubting = desk.fresh();
        desk.apply(Desk.ops(doubting, doubted.reserve(doubting)));
        Ledger.Op unknown = doubted.settle(doubting, Ledger.State.UNKNOWN, null);
        desk.apply(Desk.ops(doubting, unknown));
        ask(doubting, doubt());
        ask(driven, approval());
        var rest = new Write.Rest(Write.Rest.NEVER, "{}", 0);
        desk.apply(new Write.Append(new Driver(doubting, 1), 0, "", RunState.IN_DOUBT, List.of(unknown), rest));
        ended = desk.fresh(expired());
        desk.apply(desk.end(ended));
        old = desk.fresh(desk.chosen("old"));
        desk.apply(Desk.ops(old, past.reserve(old), past.done(old)));
        desk.apply(desk.end(old));
        failed = desk.fresh(again());
        desk.apply(desk.failed(failed));
        desk.apply(desk.admit(desk.run(desk.id()), List.of(), false));
        desk.apply(desk.admit(desk.run(desk.id(), RunState.QUEUED, null), List.of(), true));
        desk.apply(new Write.Keep(
                new Rows.Event(ws, "evt_b", desk.id(), Door.EVENT, "/s", "1", "t", "{}", 0, "a", null, 0, "[]"),
                desk.reads.catalogChange()));
        desk.change(listen(driven, "heard"));
        letter("kept");
        letter("known");
        place.advance(Duration.ofNanos((Desk.TTL + 1) * 1_000));
        change = desk.reads.catalogChange();
        tables = tables();
        restore = save();
    }

    private void ask(RunId run, Review.Question question) {
        desk.change(new Edit.Reviewing<>(new Review.Ask(new Driver(run, 1), ws, Desk.WORKFLOW, question)));
    }

    /** What the driven run asks. */
    Review.Question approval() {
        return new Review.Question(Review.Kind.APPROVAL, "ok", "", "role:ops", "{}", Desk.WINDOW);
    }

    private Review.Question doubt() {
        return new Review.Question(Review.Kind.DOUBT, "pay", doubted.id().digest(), "role:ops", "{}", 0);
    }

    /** A run waits under a key, at a path that is named like it. */
    Edit<Letter.Heard> listen(RunId run, String key) {
        Letter.Ear ear = new Letter.Ear(new Driver(run, 1), key);
        return new Edit.Mail<>(new Letter.Listen(new Letter.Address(ws, "paid", key), ear, false));
    }

    /** A letter that nobody waits for yet, under a key that is its id. */
    private void letter(String id) {
        Letter.Address to = new Letter.Address(ws, "paid", id);
        desk.change(new Edit.Mail<>(new Letter.Post(to, id, desk.id(), Desk.bytes(id), "{}")));
    }

    SettingName profile(String name) {
        return new SettingName(ws, SettingRules.PLAIN, name);
    }

    /** A key that is free again after a failure. */
    Wish again() {
        return desk.key("failed", Known.HOLD | Known.RERUN_FAILED);
    }

    /** The name under which the end of the run that failed is followed. */
    Wish follows() {
        return desk.wish(Name.Kind.REPLAY, failed.text(), Known.HOLD);
    }

    /** The run that failed goes on in place. */
    Edit.Resume resume(Edit.By by) {
        List<NewRun.Gate.Place> places = GATE.places();
        return new Edit.Resume(ws, failed, Place.START, follows(), 1 << 24, 0, "[\"resumed\"]", places, List.of(), by);
    }

    /** A key that is past its time. */
    Wish expired() {
        return new Wish(new Name(ws, Name.Kind.KEY, "expired"), Desk.bytes("digest"), 1, 0, true);
    }

    Edit.Tombstone tombstone() {
        return new Edit.Tombstone(expired().name(), ended, Place.START + 1);
    }

    /** An event that both sides may bring. */
    Write.Keep event(Side side, String eventId, int matched) {
        RunId seq = new RunId(9_500 + side.number, eventId.hashCode());
        return new Write.Keep(
                new Rows.Event(
                        ws,
                        eventId,
                        seq,
                        Door.EVENT,
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
    Edit.OldEvent oldEvent() {
        return new Edit.OldEvent(ws, "evt_b", Place.START);
    }

    /** The run that a side asks for. */
    RunId wish(Side side) {
        return new RunId(9_000 + side.number, 9);
    }

    Write.Admit admit(Side side, Wish... wishes) {
        return new Write.Admit(desk.run(wish(side)), List.of(wishes), true, change);
    }

    Write.Admit gated(Side side, NewRun.Gate gate) {
        NewRun run = desk.gatedRun(wish(side), gate, RunState.STARTED);
        return new Write.Admit(run, List.of(desk.key("gated by " + side.number)), true, change);
    }

    private List<String> tables() {
        try (Connection connection = place.jdbc();
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
            place.execute("CREATE TABLE saved_" + table + " AS TABLE " + table);
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
        desk.abandon();
    }
}
