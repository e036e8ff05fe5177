package dev.semel.server.operations.incident;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.Run;
import dev.semel.runtime.SemelRuntime;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreWriteCommand;
import dev.semel.testing.WorkflowTestKit;
import dev.semel.workflow.Retry;
import dev.semel.workflow.Start;
import dev.semel.workflow.Workflow;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.node.ObjectNode;

/** What is notified of a time hangs on that time, and not on how much came after it. */
final class IncidentReportDataCollectorTest {
    private static final int MORE_THAN_ARE_LOOKED_AT = 5_300;
    private static final long HOUR = 3_600_000_000L;

    private final WorkflowTestKit kit = new WorkflowTestKit();
    private final Workflow<String, String> flow = Workflow.define("broken", String.class, String.class)
            .body((ctx, _) -> ctx.effect("pay")
                    .retry(Retry.none())
                    .repeatable("a test")
                    .call(String.class, _ -> {
                        throw new IllegalStateException("it broke");
                    }));

    @AfterEach
    void close() {
        kit.close();
    }

    private int ws() {
        return SemelRuntime.of(kit.semel()).testAccess().workspace();
    }

    private long now() {
        return Objects.requireNonNull(SemelRuntime.of(kit.semel()).view(reads -> reads.now()));
    }

    private ObjectNode facts(long since, long until) {
        return new IncidentReportDataCollector(
                        SemelRuntime.of(kit.semel()),
                        new IncidentReportDataCollector.IncidentPeriod(ws(), null, since, until))
                .collect();
    }

    private void audit(int number) {
        String id = "tok_" + number;
        byte[] hash = id.getBytes(StandardCharsets.UTF_8);
        var note = new StoreWriteCommand.AuditEntry(
                ws(),
                "token.create",
                id,
                new StoreWriteCommand.ChangeAuthor(SemelRuntime.of(kit.semel()).newId(), "usr_ann", ""));
        var token = new DatabaseRows.TokenRow(id, ws(), "default", "t", hash, "read", 0, 0, 0, null);
        SemelRuntime.of(kit.semel())
                .change(new StoreWriteCommand.AuditedCommand<>(
                        new StoreWriteCommand.CreateToken(token), Objects::nonNull, note));
    }

    @Test
    void failures_and_actions_are_found_behind_thousands_of_later_rows() {
        kit.register(flow);
        Run<String> first = kit.start(flow, "x", Start.withKey("k"));
        kit.settle();
        kit.start(flow, "y");
        kit.start(flow, "x", Start.withKey("k"));
        audit(0);
        kit.settle();
        long then = now();
        kit.clock().advance(Duration.ofDays(2));
        for (int i = 1; i <= MORE_THAN_ARE_LOOKED_AT; i++) {
            kit.start(flow, "z");
            audit(i);
        }
        kit.settle();
        ObjectNode facts = facts(then - HOUR, then + HOUR);
        assertEquals(2, facts.get("failed_runs").asInt(), facts::toString);
        assertEquals(first.id(), facts.at("/first/run_id").asString());
        assertEquals(1, facts.get("audit_rows").asInt(), facts::toString);
        assertEquals(1, facts.get("replayed_requests").asInt(), facts::toString);
        assertTrue(facts.get("complete").asBoolean(), facts::toString);
        String trigger = Objects.requireNonNull(
                IncidentReportMarkdownWriter.draftAnswers(facts).get("trigger"));
        assertTrue(trigger.startsWith("Run " + first.id() + " failed first"), trigger);
        ObjectNode today = facts(now() - HOUR, now() + HOUR);
        assertEquals(MORE_THAN_ARE_LOOKED_AT, today.get("failed_runs").asInt());
        assertEquals(
                "[\"alerts\",\"audit_rows\",\"decided\"]", today.get("at_least").toString());
        assertTrue(
                Objects.requireNonNull(
                                IncidentReportMarkdownWriter.draftAnswers(today).get("visible"))
                        .contains("Whether an alert fired is not known"),
                today::toString);
    }
}
