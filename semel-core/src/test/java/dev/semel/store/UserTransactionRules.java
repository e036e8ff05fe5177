package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertSame;

import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.StoreWrite.OwnerWriteResult;
import dev.semel.store.StoreWrite.RunExecution;
import java.sql.Connection;
import java.sql.SQLException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** The user's own rows and the record of the step are there together, or neither of them is. */
interface UserTransactionRules {
    TestStoreClient client();

    static void run(Connection connection, String sql) throws SQLException {
        try (var statement = connection.createStatement()) {
            statement.execute(sql);
        }
    }

    /** A run whose first transaction made the user's table. */
    private RunExecution withTable() {
        RunExecution by = new RunExecution(client().fresh(), 1);
        assertEquals(OwnerWriteResult.RECORDED, client().tx(new StoreWrite.UserTransaction(by, 0, connection -> {
            run(connection, "CREATE TABLE mine (n integer)");
            return "[\"made\"]";
        })));
        return by;
    }

    private static StoreWrite.UserTransaction insert(RunExecution by, int seq) {
        return new StoreWrite.UserTransaction(by, seq, connection -> {
            run(connection, "INSERT INTO mine VALUES (" + seq + ")");
            return "[" + seq + "]";
        });
    }

    @Test
    default void the_users_rows_and_the_record_are_one_commit() {
        RunExecution by = withTable();
        assertEquals(OwnerWriteResult.RECORDED, client().tx(insert(by, 1)));
        assertEquals(1, client().fixture.count("mine"));
        assertEquals(List.of("[\"made\"]", "[1]"), client().journal(by.run()));
    }

    @Test
    default void applied_again_after_a_lost_response_the_transaction_is_not_repeated() {
        RunExecution by = withTable();
        StoreWrite.UserTransaction tx = insert(by, 1);
        assertEquals(OwnerWriteResult.RECORDED, client().tx(tx));
        assertEquals(OwnerWriteResult.RECORDED, client().tx(tx));
        assertEquals(1, client().fixture.count("mine"));
        assertEquals(List.of("[\"made\"]", "[1]"), client().journal(by.run()));
    }

    @Test
    default void a_failing_transaction_is_rolled_back_and_the_next_one_is_not() {
        RunExecution by = withTable();
        var failure = new IllegalStateException("no");
        var undone = assertInstanceOf(
                StoreWrite.RolledBack.class, client().tx(new StoreWrite.UserTransaction(by, 1, connection -> {
                    run(connection, "INSERT INTO mine VALUES (1)");
                    throw failure;
                })));
        assertSame(failure, undone.failure());
        var broken = client().tx(new StoreWrite.UserTransaction(by, 1, connection -> {
            run(connection, "INSERT INTO mine VALUES (1)");
            run(connection, "INSERT INTO nowhere VALUES (1)");
            return "[1]";
        }));
        assertInstanceOf(
                SQLException.class,
                assertInstanceOf(StoreWrite.RolledBack.class, broken).failure());
        assertEquals(0, client().fixture.count("mine"));
        assertEquals(OwnerWriteResult.RECORDED, client().tx(insert(by, 1)));
        assertEquals(1, client().fixture.count("mine"));
    }

    @Test
    default void a_worker_that_does_not_own_the_run_executes_nothing() {
        RunExecution by = withTable();
        RunId free = client().id();
        client().apply(client().admit(client().run(free), List.of(), false));
        assertEquals(OwnerWriteResult.FENCED, client().tx(insert(new RunExecution(by.run(), 2), 1)));
        assertEquals(OwnerWriteResult.FENCED, client().tx(insert(new RunExecution(free, 0), 0)));
        assertEquals(OwnerWriteResult.FENCED, client().tx(insert(new RunExecution(client().id(), 1), 0)));
        assertEquals(OwnerWriteResult.FENCED, client().txAs(null, insert(by, 1)));
        client().apply(TestStoreClient.rest(by, StoreFixture.START, 0));
        assertEquals(OwnerWriteResult.FENCED, client().tx(insert(by, 1)));
        assertEquals(0, client().fixture.count("mine"));
        assertEquals(1, client().fixture.count("semel_journal"));
    }

    @Test
    default void the_owner_learns_of_a_cancel_with_its_transaction_too() {
        RunExecution by = withTable();
        client().change(new StoreWriteCommand.CancelRun(client().ws, by.run(), "op", "why"));
        assertEquals(new OwnerWriteResult(true, true, List.of()), client().tx(insert(by, 1)));
    }

    @Test
    default void a_transaction_resets_the_crash_count() {
        RunExecution by = withTable();
        client().fixture.advance(Duration.ofSeconds(11));
        client().leases.start(78, "client", client().slots(), TestStoreClient.TTL);
        client().leases.takeOverExpired(0);
        RunExecution next = client().applyAs(new CommitBatch.LeaseSlot(78, 0), new StoreWrite.ClaimRuns(1))
                .getFirst();
        assertEquals(1, client().work(by.run()).crashCount());
        int slot = client().store.txLanes() == 0 ? 0 : client().store.lanes();
        assertEquals(OwnerWriteResult.RECORDED, client().txAs(new CommitBatch.LeaseSlot(78, slot), insert(next, 1)));
        assertEquals(0, client().work(by.run()).crashCount());
        assertEquals(RunState.STARTED, client().runOf(by.run()).state());
    }
}
