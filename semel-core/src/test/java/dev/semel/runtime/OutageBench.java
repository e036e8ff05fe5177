package dev.semel.runtime;

import dev.semel.RunStatus;
import dev.semel.effect.EffectLedger;
import dev.semel.engine.run.WorkflowCatalog;
import dev.semel.error.HttpStatusException;
import dev.semel.json.StrictJsonCodec;
import dev.semel.run.RunId;
import dev.semel.store.Await;
import dev.semel.store.DatabaseRows;
import dev.semel.store.Dialect;
import dev.semel.store.HumanReviewStoreWriteCommand;
import dev.semel.store.Invariants;
import dev.semel.store.PostgresStoreFixture;
import dev.semel.store.StoreFixture;
import dev.semel.workflow.Workflow;
import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketException;
import java.net.SocketTimeoutException;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import java.util.TreeSet;
import java.util.function.BooleanSupplier;

/** A worker on either store, a clock that the test moves, and a provider that keeps its own log. */
final class OutageBench implements AutoCloseable {
    static final Duration SOON = Duration.ofSeconds(30);

    final ManualClock clock = ManualClock.startingNow();
    final Provider provider = new Provider();
    private final StoreFixture fixture;
    private final List<Workflow<?, ?>> workflows = new ArrayList<>();
    private SemelRuntime semel;

    OutageBench(Dialect dialect) {
        this.fixture = dialect == Dialect.POSTGRES ? PostgresStoreFixture.withItsOwnClock() : dialect.open();
        this.semel = opened();
    }

    private SemelRuntime opened() {
        return SemelRuntime.open(RuntimeOptions.of(fixture.url(), version -> {
                    throw new WorkflowCatalog.WorkflowNotRegistered(version.name(), version.workflowId());
                })
                .withClock(clock.ambient(), clock.databaseSkew()));
    }

    SemelRuntime semel() {
        return semel;
    }

    <O> Workflow<String, O> register(Workflow<String, O> workflow) {
        workflows.add(workflow);
        semel.register(workflow);
        return workflow;
    }

    <O> RunHandle<O> start(Workflow<String, O> workflow, String input) {
        return semel.start(workflow, input);
    }

    /** The worker dies with everything it has in memory; another one continues. */
    void kill() {
        semel.close(Duration.ZERO);
        fixture.execute("UPDATE semel_unfinished_run SET owner = NULL, due_at = 0 WHERE owner IS NOT NULL");
        reopen();
    }

    /** The same state as if the worker had died during the sends, and the runs were held then. */
    void crashDuringSends() {
        semel.close();
        fixture.execute("UPDATE semel_effect SET state = 1 WHERE state = 3");
        fixture.execute("UPDATE semel_unfinished_run SET owner = NULL, state = 6, has_crashed = 1,"
                + " due_at = 9223372036854775807");
        reopen();
    }

    /** The same state as if the worker had died just before it recorded the end. */
    void undoEnd(RunHandle<?> run) {
        DatabaseRows.RunRow row = row(run);
        String entries = Objects.requireNonNull(row.end()).entries();
        semel.close();
        try (Connection connection = fixture.jdbc()) {
            update(
                    connection,
                    "DELETE FROM semel_finished_run WHERE run = ?",
                    row.id().bytes());
            update(
                    connection,
                    "INSERT INTO semel_journal (run, seq, at, entries)"
                            + " SELECT ?, COALESCE(max(seq) + 1, 0), 0, ? FROM semel_journal WHERE run = ?",
                    row.id().bytes(),
                    entries,
                    row.id().bytes());
            update(
                    connection,
                    "INSERT INTO semel_unfinished_run (run, workflow_id, owner, claim_count, state, start_blocked)"
                            + " VALUES (?, ?, NULL, 100, 3, 0)",
                    row.id().bytes(),
                    row.workflowId());
        } catch (SQLException e) {
            throw new AssertionError(e);
        }
        reopen();
    }

    private static void update(Connection connection, String sql, Object... values) throws SQLException {
        try (var statement = connection.prepareStatement(sql)) {
            for (int i = 0; i < values.length; i++) {
                statement.setObject(i + 1, values[i]);
            }
            statement.executeUpdate();
        }
    }

    void restart() {
        semel.close();
        reopen();
    }

    private void reopen() {
        semel = opened();
        workflows.forEach(semel::register);
    }

    <O> RunHandle<O> again(Workflow<String, O> workflow, RunHandle<O> run) {
        return semel.run(workflow, run.id());
    }

    DatabaseRows.RunRow row(RunHandle<?> run) {
        return Objects.requireNonNull(semel.view(reads -> reads.claimedRun(id(run))));
    }

    static RunId id(RunHandle<?> run) {
        return Objects.requireNonNull(RunId.parse(run.id()));
    }

    DatabaseRows.RunEnd end(RunHandle<?> run) {
        return Objects.requireNonNull(row(run).end(), "it has not ended");
    }

    String errorCode(RunHandle<?> run) {
        return String.valueOf(end(run).result().errorCode());
    }

    List<EffectLedger.EffectRow> effects(RunHandle<?> run) {
        return Objects.requireNonNull(semel.view(reads -> reads.effects(id(run))));
    }

    List<HumanReviewStoreWriteCommand.ReviewRow> inbox() {
        int ws = semel.testAccess().workspace();
        return Objects.requireNonNull(semel.view(reads -> reads.reviews()
                        .open(new HumanReviewStoreWriteCommand.OpenReviewFilter(
                                ws, null, null, null, HumanReviewStoreWriteCommand.ReviewCursor.FRONT, 100))))
                .found();
    }

    static void untilEnded(RunHandle<?> run, RunStatus status) {
        Await.until("run " + run.id() + " is " + status, () -> run.status() == status);
    }

    /** Moves the clock in steps until it holds. Between two steps, the worker has nothing to do. */
    void advanceUntil(String what, Duration step, int most, BooleanSupplier end) {
        for (int i = 0; i < most && !end.getAsBoolean(); i++) {
            advance(step);
        }
        if (!end.getAsBoolean()) {
            throw new AssertionError("not in " + step.multipliedBy(most) + ": " + what);
        }
    }

    void advance(Duration step) {
        clock.advance(step);
        settle();
    }

    /** Waits until the worker has nothing to do before the clock moves. */
    void settle() {
        semel.testAccess().lookForWork();
        Await.until(
                "the worker is idle", () -> semel.testAccess().nextDueIfIdle().isPresent());
    }

    @Override
    public void close() {
        semel.close();
        try {
            Invariants.check(fixture);
        } finally {
            fixture.close();
        }
    }

    /** What a provider does with a request. */
    enum Answer {
        OK,
        /** 503 before anything was done. */
        UNAVAILABLE,
        /** It is done, and the response never comes. */
        TIMEOUT,
        /** The connection breaks before anything is done. */
        RESET,
        REFUSED,
        UNAUTHORIZED,
        /** A stored 500 that it repeats for the key. */
        REPLAYED_ERROR
    }

    /** It deduplicates by key, and logs every request that arrives. */
    static final class Provider {
        private final List<String> requests = new ArrayList<>();
        private final Map<String, Integer> effects = new TreeMap<>();
        private Answer[] answers = {Answer.OK};
        private int turn;

        /** From now on, the requests get these answers in turn. */
        synchronized void answers(Answer... value) {
            answers = value;
            turn = 0;
        }

        synchronized String call(String key) throws IOException {
            Answer answer = answers[turn++ % answers.length];
            if (answer != Answer.REFUSED) {
                requests.add(key);
            }
            switch (answer) {
                case UNAVAILABLE -> throw new HttpStatusException(503, StrictJsonCodec.parse("{}"), null);
                case RESET -> throw new SocketException("Connection reset");
                case REFUSED -> throw new ConnectException("refused");
                case UNAUTHORIZED -> throw new HttpStatusException(401, StrictJsonCodec.parse("{}"), null);
                case REPLAYED_ERROR -> throw new HttpStatusException(500, StrictJsonCodec.parse("{}"), null, true);
                case OK, TIMEOUT -> effects.merge(key, 1, (had, _) -> had); // a key that it knows does nothing
            }
            if (answer == Answer.TIMEOUT) {
                throw new SocketTimeoutException("no answer");
            }
            return "ok";
        }

        synchronized int requests() {
            return requests.size();
        }

        synchronized int effects() {
            return effects.values().stream().mapToInt(n -> n).sum();
        }

        synchronized Set<String> keys() {
            return new TreeSet<>(requests);
        }
    }
}
