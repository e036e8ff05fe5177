package dev.semel.server.connectors.ingress;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.Run;
import dev.semel.RunStatus;
import dev.semel.admission.Trigger;
import dev.semel.runtime.SemelRuntime;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreQueries;
import dev.semel.testing.FakeExternalSystem;
import dev.semel.testing.WorkflowTestKit;
import dev.semel.workflow.EffectBuilder;
import dev.semel.workflow.EscalationPolicy;
import dev.semel.workflow.Retry;
import dev.semel.workflow.ReviewOptions;
import dev.semel.workflow.Start;
import dev.semel.workflow.Step;
import dev.semel.workflow.Workflow;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Who is notified of questions, and that nobody is notified of one that is settled. */
final class HumanReviewNotifierTest {
    private final WorkflowTestKit kit = new WorkflowTestKit();
    private final FakeExternalSystem mail = kit.provider("mail");
    private boolean lost = true;

    @AfterEach
    void close() {
        kit.close();
    }

    private String send(Step step) throws IOException {
        String said = mail.call(step.key());
        if (lost) {
            throw new SocketTimeoutException("no answer");
        }
        return said;
    }

    private Workflow<String, String> flow(boolean asksTheProvider) {
        return Workflow.define("flow", String.class, String.class).body((ctx, _) -> {
            EffectBuilder draft = ctx.effect("send")
                    .retry(Retry.none())
                    .reviewOptions(ReviewOptions.of("Was it sent?")
                            .escalation(EscalationPolicy.NONE.remind(Duration.ofHours(1))));
            return asksTheProvider
                    ? draft.lookup(String.class, step -> mail.find(step.key())).call(this::send)
                    : draft.askOnDoubt("ops").call(String.class, this::send);
        });
    }

    private List<String> reported() {
        var reads = new StoreQueries.EventFilter(
                SemelRuntime.of(kit.semel()).testAccess().workspace(), null, null, false, 0, null, 100);
        List<DatabaseRows.EventRow> events = Objects.requireNonNull(
                        SemelRuntime.of(kit.semel()).view(one -> one.events(reads)))
                .found();
        return events.stream().map(DatabaseRows.EventRow::type).sorted().toList();
    }

    private void anHourLater(HumanReviewNotifier reminders) {
        kit.clock().advance(Duration.ofHours(1));
        reminders.publishDue();
    }

    @Test
    void a_doubt_settled_by_a_replay_sends_no_reminder() {
        kit.register(flow(false));
        DatabaseRows.WorkspaceRow home = Objects.requireNonNull(SemelRuntime.of(kit.semel())
                .view(reads -> reads.workspace(
                        SemelRuntime.of(kit.semel()).testAccess().workspace())));
        var ports = new InboundEventProcessor.Dependencies(
                _ -> new Trigger.TriggerWorkspace(home.ws(), home.secret()), (_, _) -> {}, () -> 16);
        try (HumanReviewNotifier reminders = new HumanReviewNotifier(
                SemelRuntime.of(kit.semel()), new InboundEventProcessor(SemelRuntime.of(kit.semel()), ports))) {
            Run<String> run = kit.start(flow(false), "x");
            kit.settle();
            assertEquals(RunStatus.IN_DOUBT, run.status());
            reminders.publishDue();
            anHourLater(reminders);
            assertEquals(List.of("semel.review.opened", "semel.review.reminder"), reported());
            assertTrue(run.cancel("ann", "nobody knows"));
            kit.settle();
            anHourLater(reminders);
            assertEquals(3, reported().size(), "its run has ended, and it is in doubt all the same");
            lost = false;
            kit.register(flow(true));
            Run<String> replay = kit.start(flow(true), "x", Start.replayOf(run.id()));
            kit.settle();
            assertEquals(RunStatus.COMPLETED, replay.status());
            anHourLater(reminders);
            anHourLater(reminders);
            assertEquals(3, reported().size(), "nobody need look any more");
            assertEquals(1, mail.calls());
        }
    }
}
