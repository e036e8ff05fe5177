package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.semel.run.RunId;
import dev.semel.store.StoreWrite.OwnerWriteResult;
import dev.semel.store.StoreWrite.RunExecution;
import java.sql.Connection;
import java.sql.SQLException;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** On PostgreSQL the user's code has a connection of its own, and whatever happens while it runs undoes it or not. */
final class PostgresUserTransactionTest {
    private final TestStoreClient client = new TestStoreClient(Dialect.POSTGRES);
    private RunExecution by = new RunExecution(client.fresh(), 1);

    @BeforeEach
    void table() {
        client.fixture.execute("CREATE TABLE mine (n integer UNIQUE DEFERRABLE INITIALLY DEFERRED)");
    }

    @AfterEach
    void close() {
        client.close();
    }

    @FunctionalInterface
    private interface ConcurrentChange {
        void happens() throws Exception;
    }

    private StoreWrite.UserTransaction insert(ConcurrentChange meanwhile) {
        return new StoreWrite.UserTransaction(by, 0, connection -> {
            UserTransactionRules.run(connection, "INSERT INTO mine VALUES (1)");
            meanwhile.happens();
            return "[\"tx\"]";
        });
    }

    @Test
    void a_lease_lost_while_user_code_runs_rolls_it_back() {
        WorkerLeases other = client.store.openLeases();
        assertThrows(
                StoreFailure.Fenced.class,
                () -> client.tx(insert(() -> {
                    client.fixture.setTime(StoreFixture.START + TestStoreClient.TTL + 1);
                    assertEquals(1, other.takeOverExpired(0), "it does not wait for user code");
                })));
        other.close();
        assertEquals(0, client.fixture.count("mine"));
        assertEquals(List.of(), client.journal(by.run()));
        assertEquals(1, client.work(by.run()).crashCount());
    }

    @Test
    void a_run_that_changes_owner_while_user_code_runs_rolls_it_back() {
        StoreWrite.TransactionResult outcome = client.tx(insert(() -> {
            client.change(new StoreWriteCommand.ReturnRun(by));
            client.claim();
        }));
        assertEquals(OwnerWriteResult.FENCED, outcome);
        assertEquals(0, client.fixture.count("mine"));
    }

    @Test
    void an_earlier_attempt_that_committed_rolls_back_the_second() {
        StoreWrite.TransactionResult outcome = client.tx(insert(() -> {
            // What the server did with the COMMIT whose answer was lost, only now.
            client.fixture.execute("INSERT INTO semel_journal (run, seq, at, entries) SELECT run, 0, 1, '[\"first\"]' "
                    + "FROM semel_run");
        }));
        assertEquals(OwnerWriteResult.RECORDED, outcome);
        assertEquals(0, client.fixture.count("mine"), "what the second try did is one too many");
        assertEquals(List.of("[\"first\"]"), client.journal(by.run()));
    }

    @Test
    void an_earlier_attempt_about_to_commit_is_waited_for() throws Exception {
        try (Connection earlier = client.fixture.jdbc()) {
            earlier.setAutoCommit(false);
            UserTransactionRules.run(earlier, "INSERT INTO mine VALUES (7)");
            UserTransactionRules.run(
                    earlier,
                    "SELECT 1 FROM semel_fence WHERE lease = " + TestStoreClient.LEASE + " AND slot = "
                            + client.store.lanes() + " FOR NO KEY UPDATE");
            UserTransactionRules.run(
                    earlier,
                    "INSERT INTO semel_journal (run, seq, at, entries) SELECT run, 0, 1, '[\"first\"]' FROM semel_run");
            FutureTask<StoreWrite.TransactionResult> again = BackgroundTask.start(() -> client.tx(insert(() -> {})));
            PostgresStoreFixture.awaitBlockedBy(earlier);
            assertFalse(again.isDone());
            earlier.commit();
            assertEquals(OwnerWriteResult.RECORDED, again.get());
        }
        assertEquals(7, client.fixture.number("SELECT sum(n) FROM mine"));
    }

    @Test
    void a_deadlock_in_user_code_may_be_retried() throws Exception {
        client.fixture.execute("INSERT INTO mine VALUES (1), (2)");
        CountDownLatch holdsOne = new CountDownLatch(1);
        try (Connection other = client.fixture.jdbc()) {
            other.setAutoCommit(false);
            UserTransactionRules.run(
                    other, "SET deadlock_timeout = '60s'"); // so that the other side is the one to give up
            UserTransactionRules.run(other, "UPDATE mine SET n = n WHERE n = 2");
            FutureTask<Boolean> crossing = BackgroundTask.start(() -> {
                holdsOne.await();
                UserTransactionRules.run(other, "UPDATE mine SET n = n WHERE n = 1");
                other.commit();
                return true;
            });
            StoreWrite.UserTransaction tx = new StoreWrite.UserTransaction(by, 0, connection -> {
                UserTransactionRules.run(connection, "UPDATE mine SET n = n WHERE n = 1");
                holdsOne.countDown();
                PostgresStoreFixture.awaitBlockedBy(connection);
                try {
                    UserTransactionRules.run(connection, "UPDATE mine SET n = n WHERE n = 2");
                } catch (SQLException e) {
                    throw new IllegalStateException("wrapped by the user", e);
                }
                return "[]";
            });
            assertFalse(assertThrows(StoreFailure.LockConflict.class, () -> client.tx(tx))
                    .waited());
            assertEquals(true, crossing.get());
        }
        assertEquals(OwnerWriteResult.RECORDED, client.tx(new StoreWrite.UserTransaction(by, 0, _ -> "[]")));
    }

    @Test
    void a_constraint_that_fails_at_commit_is_a_user_code_failure() {
        client.fixture.execute("INSERT INTO mine VALUES (1)");
        assertInstanceOf(StoreWrite.RolledBack.class, client.tx(insert(() -> {})));
        assertEquals(1, client.fixture.count("mine"));
        assertEquals(List.of(), client.journal(by.run()));
    }

    @Test
    void a_failure_swallowed_by_user_code_still_rolls_back() {
        StoreWrite.TransactionResult outcome = client.tx(new StoreWrite.UserTransaction(by, 0, connection -> {
            UserTransactionRules.run(connection, "INSERT INTO mine VALUES (1)");
            assertThrows(
                    SQLException.class, () -> UserTransactionRules.run(connection, "INSERT INTO nowhere VALUES (1)"));
            return "[]";
        }));
        assertInstanceOf(StoreWrite.RolledBack.class, outcome);
        assertEquals(0, client.fixture.count("mine"));
        assertEquals(OwnerWriteResult.RECORDED, client.tx(insert(() -> {})));
    }

    @Test
    void the_user_connection_uses_normal_query_plans() {
        StoreWrite.TransactionResult outcome = client.tx(new StoreWrite.UserTransaction(by, 0, connection -> {
            try (var statement = connection.createStatement();
                    var row = statement.executeQuery("SELECT current_setting('enable_seqscan')")) {
                row.next();
                return "[\"" + row.getString(1) + "\"]";
            }
        }));
        assertEquals(OwnerWriteResult.RECORDED, outcome);
        assertEquals(List.of("[\"on\"]"), client.journal(by.run()));
    }

    @Test
    void other_statements_are_rejected() {
        RunId run = by.run();
        try (WorkflowStore.BatchWriter lane = client.store.openTxLane()) {
            var batch = new CommitBatch(
                    new CommitBatch.LeaseSlot(TestStoreClient.LEASE, client.store.lanes()), List.of(client.end(run)));
            assertThrows(IllegalArgumentException.class, () -> lane.apply(batch));
        }
    }
}
