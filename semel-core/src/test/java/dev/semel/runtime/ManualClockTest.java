package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.admission.Trigger;
import dev.semel.admission.TriggerResult;
import dev.semel.admission.TriggerSource;
import dev.semel.definition.WorkflowVersion;
import dev.semel.idempotency.IdempotencyKey;
import dev.semel.json.StrictJsonCodec;
import dev.semel.store.DatabaseRows;
import dev.semel.store.Dialect;
import dev.semel.store.PostgresStoreFixture;
import dev.semel.store.SqliteStoreFixture;
import dev.semel.store.StoreFixture;
import dev.semel.store.StoreWriteCommand;
import java.time.Duration;
import java.time.Instant;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** The clock that users move by hand, on both stores. */
final class ManualClockTest {
    private static final Duration WINDOW = Duration.ofHours(1);
    private static final Duration MARGIN = Duration.ofMinutes(2);

    private static WorkflowVersion compile(DatabaseRows.VersionRow version) {
        return new WorkflowVersion(
                version.workflowId(),
                version.name(),
                version.version(),
                KeyPolicyBuilder.plain().window(WINDOW).build(),
                EngineTestBench.ECHO,
                List.of(),
                WorkflowVersion.VersionOptions.NONE);
    }

    private static TriggerResult send(SemelRuntime semel, DatabaseRows.WorkspaceRow workspace) {
        var entry = semel.workflow(workspace.ws(), "plain");
        if (entry == null) {
            throw new AssertionError("the workflow was published");
        }
        return semel.trigger(new Trigger(
                new Trigger.TriggerWorkspace(workspace.ws(), workspace.secret()),
                entry,
                StrictJsonCodec.parse("{}"),
                "{}",
                new Trigger.Identifiers(IdempotencyKey.of("K"), null),
                new Trigger.Sender(TriggerSource.LIBRARY, "tester", null),
                false,
                null));
    }

    @ParameterizedTest
    @EnumSource
    void a_window_passes_when_the_clock_is_advanced(Dialect dialect) {
        ManualClock clock = ManualClock.startingAt(Instant.parse("2031-05-05T00:00:00Z"));
        try (StoreFixture fixture =
                        dialect == Dialect.SQLITE ? new SqliteStoreFixture() : PostgresStoreFixture.withItsOwnClock();
                SemelRuntime semel = SemelRuntime.open(RuntimeOptions.of(fixture.url(), ManualClockTest::compile)
                        .withClock(clock.ambient(), clock.databaseSkew()))) {
            DatabaseRows.WorkspaceRow workspace =
                    semel.change(new StoreWriteCommand.CreateWorkspace("one", new byte[32]));
            semel.change(new StoreWriteCommand.PublishVersion(workspace.ws(), "plain", "wf_plain", "text", "tester"));
            TriggerResult first = send(semel, workspace);
            semel.await(workspace.ws(), first.run(), Duration.ofSeconds(60));
            Instant expires = Instant.ofEpochSecond(0, first.expiresAt() * 1_000);
            assertTrue(Duration.between(clock.now().plus(WINDOW), expires).abs().compareTo(MARGIN) < 0);

            clock.advance(WINDOW.minus(MARGIN));
            assertTrue(send(semel, workspace).replayed());
            clock.advance(MARGIN.multipliedBy(2));
            TriggerResult later = send(semel, workspace);
            assertFalse(later.replayed());
            assertEquals(first.runId(), later.previousRunId());
            assertTrue(semel.isReady(), "moving the time ended no lease");
        }
    }

    @Test
    void the_clock_stays_until_advanced_and_never_goes_back() {
        ManualClock clock = ManualClock.startingAt(Instant.parse("2031-05-05T00:00:00.000001Z"));
        assertEquals(Instant.parse("2031-05-05T00:00:00.000001Z"), clock.now());
        assertEquals(clock.ambient().micros(), clock.ambient().micros());
        clock.advance(Duration.ofNanos(1_000));
        assertEquals(Instant.parse("2031-05-05T00:00:00.000002Z"), clock.now());
        assertThrows(IllegalArgumentException.class, () -> clock.advance(Duration.ofSeconds(-1)));
        ManualClock now = ManualClock.startingNow();
        assertEquals(0, now.databaseSkew().getAsLong());
        now.advance(Duration.ofSeconds(1));
        assertEquals(1_000_000, now.databaseSkew().getAsLong());
    }
}
