package dev.semel.trials.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.sql.Connection;
import java.sql.DriverManager;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Bugs that are planted around the engine, in real processes: the crash matrix must see each of them. */
@Tag("trial")
class CrashMutationTest {
    @TempDir
    Path folder;

    @Test
    void planted_bugs_are_detected() {
        try (Receiver receiver = Receiver.start(folder)) {
            try (CrashTrial plain = new CrashTrial(folder, receiver, CrashTrial.Tampering.NONE)) {
                CrashTrial.Result good =
                        plain.run(cell(CrashAction.PROVIDER_KEY, "effect-sent"), ProcessLife.Mutation.NONE);
                assertEquals(List.of(), good.violations());
                assertEquals(2, CrashChecks.posts(good.heard()), "the good cell was sent before and after the crash");
                CrashTrial.Result rekeyed = plain.run(
                        cell(CrashAction.PROVIDER_KEY, "effect-sent"), ProcessLife.Mutation.NEW_KEY_EACH_TIME);
                assertSees(rekeyed, "carried 2 keys");
                assertSees(rekeyed, "2 accepted effects, not one");
                assertSees(
                        plain.run(cell(CrashAction.AT_MOST_ONCE, "effect-sent"), ProcessLife.Mutation.SENT_TWICE),
                        "2 requests where at most one may be");
                assertSees(
                        plain.run(cell(CrashAction.PROVIDER_KEY, "run-ending"), ProcessLife.Mutation.NOT_SENT),
                        "the receiver never accepted it");
            }
            // As if no intent had been committed before the send.
            try (CrashTrial forgetful = new CrashTrial(folder, receiver, deleting("semel_effect"))) {
                assertSees(
                        forgetful.run(cell(CrashAction.AT_MOST_ONCE, "effect-sent"), ProcessLife.Mutation.NONE),
                        "2 requests where at most one may be");
                assertSees(
                        forgetful.run(cell(CrashAction.PROVIDER_KEY, "effect-sent"), ProcessLife.Mutation.NONE),
                        "2 requests, and only 1 attempts on record");
            }
            // As if a trigger had been answered before its run was on disk.
            try (CrashTrial losing = new CrashTrial(
                    folder, receiver, deleting("semel_run", "semel_unfinished_run", "semel_key", "semel_journal"))) {
                assertSees(
                        losing.run(cell(CrashAction.STEP, "step-done"), ProcessLife.Mutation.NONE),
                        "the key has 0 runs");
            }
            // As if the rows of the user had been committed without the record of their step.
            try (CrashTrial half = new CrashTrial(folder, receiver, deleting("semel_journal"))) {
                assertSees(
                        half.run(cell(CrashAction.TX, "tx-committed"), ProcessLife.Mutation.NONE),
                        "2 rows of the user, not one");
            }
        }
    }

    private static MatrixCell cell(CrashAction action, String label) {
        return new MatrixCell(MatrixCell.Kind.SQLITE, action, "answers", new ProcessLife.HaltPoint(label, 1));
    }

    private static void assertSees(CrashTrial.Result result, String part) {
        assertTrue(result.hit(), result.row());
        assertTrue(
                result.violations().stream().anyMatch(violation -> violation.contains(part)),
                () -> result.cell().title() + " should show \"" + part + "\": " + result.violations() + " "
                        + result.stages());
    }

    private static CrashTrial.Tampering deleting(String... tables) {
        return (store, _) -> {
            String url = "jdbc:" + store;
            try (Connection connection = DriverManager.getConnection(url);
                    Statement statement = connection.createStatement()) {
                for (String table : tables) {
                    statement.executeUpdate("DELETE FROM " + table);
                }
            } catch (SQLException e) {
                throw new AssertionError(url, e);
            }
        };
    }
}
