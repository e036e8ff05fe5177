package dev.semel.server.ingress;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.Run;
import dev.semel.runtime.SemelRuntime;
import dev.semel.workflow.RunState;
import dev.semel.store.StoreQueries;
import dev.semel.store.StoredRows;
import dev.semel.testing.WorkflowTestKit;
import dev.semel.testing.FakeProvider;
import dev.semel.trigger.Trigger;
import dev.semel.workflow.ReviewOptions;
import dev.semel.workflow.EffectBuilder;
import dev.semel.workflow.Retry;
import dev.semel.workflow.Start;
import dev.semel.workflow.Step;
import dev.semel.workflow.EscalationPolicy;
import dev.semel.workflow.Workflow;
import java.io.IOException;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** Who is told of questions, and that nobody is told of one that is settled. */
final class ReviewNotifierTest {
    private final WorkflowTestKit lab = new WorkflowTestKit();
    private final FakeProvider mail = lab.provider("mail");
    private boolean lost = true;

    @AfterEach
    void close() {
        lab.close();
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
                    .reviewOptions(ReviewOptions.of("Was it sent?").escalation(EscalationPolicy.NONE.remind(Duration.ofHours(1))));
            return asksTheProvider
                    ? draft.lookup(String.class, step -> mail.find(step.key())).call(this::send)
                    : draft.askOnDoubt("ops").call(String.class, this::send);
        });
    }

    private List<String> told() {
        var reads = new StoreQueries.EventFilter(SemelRuntime.of(lab.semel()).testAccess().workspace(), null, null, false, 0, null, 100);
        List<StoredRows.EventRow> events = Objects.requireNonNull(SemelRuntime.of(lab.semel()).view(one -> one.events(reads)))
                .found();
        return events.stream().map(StoredRows.EventRow::type).sorted().toList();
    }

    private void anHourLater(ReviewNotifier reminders) {
        lab.clock().advance(Duration.ofHours(1));
        reminders.publishDue();
    }

    @Test
    void a_doubt_that_a_replay_settled_is_told_no_more() {
        lab.register(flow(false));
        StoredRows.WorkspaceRow home = Objects.requireNonNull(SemelRuntime.of(lab.semel())
                .view(reads -> reads.workspace(SemelRuntime.of(lab.semel()).testAccess().workspace())));
        var ports = new EventIngress.Dependencies(_ -> new Trigger.TriggerWorkspace(home.ws(), home.secret()), (_, _) -> {}, () -> 16);
        try (ReviewNotifier reminders = new ReviewNotifier(SemelRuntime.of(lab.semel()), new EventIngress(SemelRuntime.of(lab.semel()), ports))) {
            Run<String> run = lab.start(flow(false), "x");
            lab.settle();
            assertEquals(RunState.IN_DOUBT, run.status());
            reminders.publishDue();
            anHourLater(reminders);
            assertEquals(List.of("semel.review.asked", "semel.review.reminder"), told());
            assertTrue(run.cancel("ann", "nobody knows"));
            lab.settle();
            anHourLater(reminders);
            assertEquals(3, told().size(), "its run has ended, and it is in doubt all the same");
            lost = false;
            lab.register(flow(true));
            Run<String> replay = lab.start(flow(true), "x", Start.replayOf(run.id()));
            lab.settle();
            assertEquals(RunState.COMPLETED, replay.status());
            anHourLater(reminders);
            anHourLater(reminders);
            assertEquals(3, told().size(), "nobody need look any more");
            assertEquals(1, mail.calls());
        }
    }
}
