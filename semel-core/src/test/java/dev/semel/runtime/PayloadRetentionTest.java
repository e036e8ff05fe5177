package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.semel.engine.ClockAndRandomSource;
import dev.semel.engine.EngineLimits;
import dev.semel.engine.RetentionPolicy;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.run.RunId;
import dev.semel.store.Await;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreWriteCommand;
import dev.semel.workflow.Start;
import dev.semel.workflow.Workflow;
import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** What has a time of its own goes in that time, by the engine itself; the run stays. */
final class PayloadRetentionTest extends SqliteTestBase {
    private final ManualClock clock = ManualClock.startingNow();
    private final Workflow<String, String> flow = flow(
            String.class,
            (ctx, in) -> ctx.effect("pay").key("pay", in).repeatable("a test").call(String.class, _ -> "paid"));

    @Override
    protected ClockAndRandomSource ambient() {
        return clock.ambient();
    }

    @Override
    protected EngineLimits limits() {
        return EngineLimits.DEFAULT.withRetention(new RetentionPolicy(
                Duration.ofDays(7), Duration.ofDays(3), null, RetentionPolicy.MIN_EVENTS, Duration.ofDays(30)));
    }

    private DatabaseRows.RunRow row(RunHandle<String> run) {
        RunId id = Objects.requireNonNull(RunId.parse(run.id()));
        return Objects.requireNonNull(semel.view(reads -> reads.claimedRun(id)));
    }

    @Test
    void a_payload_is_deleted_before_its_run_which_then_cannot_be_replayed() {
        semel.register(flow);
        RunHandle<String> old = semel.start(flow, "x");
        assertEquals("paid", old.result(SOON));
        clock.advance(Duration.ofDays(5));
        RunHandle<String> young = semel.start(flow, "y");
        assertEquals("paid", young.result(SOON));
        clock.advance(Duration.ofDays(3));
        Await.until("its payload is gone", () -> row(old).input().equals("{}"));
        DatabaseRows.RunEnd end = Objects.requireNonNull(row(old).end());
        assertNull(end.result().output());
        assertEquals("\"y\"", row(young).input());
        SemelException refused =
                assertThrows(SemelException.class, () -> semel.start(flow, "x", Start.replayOf(old.id())));
        assertEquals(ErrorCode.NOT_FOUND, refused.code());
    }

    private int requests(RunHandle<String> run) {
        RunId id = Objects.requireNonNull(RunId.parse(run.id()));
        return Objects.requireNonNull(semel.view(reads -> reads.requestsOf(id, null, 10)))
                .size();
    }

    private boolean isNamed(String key) {
        return !Objects.requireNonNull(semel.view(reads -> reads.keyRecords(ws(), key)))
                .isEmpty();
    }

    private int audit() {
        return Objects.requireNonNull(semel.view(reads -> reads.audit(ws(), null, 10)))
                .size();
    }

    private int ws() {
        return semel.testAccess().workspace();
    }

    @Test
    void duplicates_keys_and_audit_rows_have_their_own_retention() {
        semel.register(flow);
        RunHandle<String> run = semel.start(flow, "x", Start.withKey("k"));
        assertEquals("paid", run.result(SOON));
        assertEquals(true, semel.start(flow, "x", Start.withKey("k")).replayed());
        Await.until("the repeat is on record", () -> requests(run) == 1);
        var token = new DatabaseRows.TokenRow("tok_1", ws(), "default", "t", new byte[32], "read", 0, 0, 0, null);
        var note = new StoreWriteCommand.AuditEntry(
                ws(), "token.create", "tok_1", new StoreWriteCommand.ChangeAuthor(semel.newId(), "ann", ""));
        semel.change(new StoreWriteCommand.AuditedCommand<>(
                new StoreWriteCommand.CreateToken(token), Objects::nonNull, note));
        clock.advance(Duration.ofDays(4));
        Await.until("the row of the repeat is gone", () -> requests(run) == 0);
        assertEquals(1, row(run).counts().replays(), "and its count is not");
        assertEquals(true, isNamed("k"), "a tombstone stands for a week");
        clock.advance(Duration.ofDays(5));
        Await.until("the tombstone is gone", () -> !isNamed("k"));
        assertEquals(1, audit());
        clock.advance(Duration.ofDays(22));
        Await.until("the row of the audit is gone", () -> audit() == 0);
        assertEquals(true, row(run).end() != null, "the run is kept for longer than any of them");
    }

    @Test
    void retention_times_that_would_break_a_guarantee_are_rejected() {
        Duration week = RetentionPolicy.MIN_EVENTS;
        assertThrows(
                IllegalArgumentException.class,
                () -> new RetentionPolicy(Duration.ofMinutes(1), null, null, week, null));
        assertThrows(
                IllegalArgumentException.class,
                () -> new RetentionPolicy(null, null, null, week.minusSeconds(1), null));
        assertThrows(IllegalArgumentException.class, () -> new RetentionPolicy(null, null, week, week, null));
        assertThrows(
                IllegalArgumentException.class,
                () -> new RetentionPolicy(null, null, null, week, Duration.ofHours(23)));
    }
}
