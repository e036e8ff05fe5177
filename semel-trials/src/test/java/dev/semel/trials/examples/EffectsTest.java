package dev.semel.trials.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.Run;
import dev.semel.error.EffectInDoubt;
import dev.semel.workflow.RunState;
import dev.semel.testing.WorkflowTestKit;
import dev.semel.testing.FakeProvider;
import dev.semel.workflow.OnChange;
import dev.semel.workflow.Outcome;
import dev.semel.workflow.Start;
import dev.semel.workflow.Workflow;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What the page "Effects" shows and says. */
class EffectsTest {
    private final WorkflowTestKit lab = new WorkflowTestKit();
    private final FakeProvider provider = lab.provider("cards");

    @AfterEach
    void close() {
        lab.close();
    }

    private static Workflow<String, String> charging(FakeProvider cards) {
        // snippet:lookup
        Workflow<String, String> pay = Workflow.define("pay", String.class, String.class)
                .body((ctx, order) -> ctx.effect("charge")
                        .key("charge", order)
                        .lookup(String.class, sending -> cards.find(sending.key()))
                        .call(sending -> cards.call(sending.key())));
        // end
        return pay;
    }

    @Test
    void a_lost_answer_is_looked_up_and_not_sent_again() {
        Workflow<String, String> pay = charging(provider.loseResponse(1));
        lab.clock().autoAdvance();
        assertEquals("cards-1", lab.result(lab.register(pay).start(pay, "o-1")));
        assertEquals(1, provider.calls());
    }

    @Test
    void an_unknown_outcome_is_told_to_the_workflow_under_at_most_once() {
        FakeProvider sms = provider.loseResponse(1);
        Workflow<String, String> remind = Workflow.define("remind", String.class, String.class)
                .body((ctx, text) -> {
                    // snippet:at-most-once
                    Outcome<String> sent =
                            ctx.effect("sms").atMostOnce().call(String.class, sending -> sms.call(sending.key()));
                    return switch (sent) {
                        case Outcome.Done<String> done -> done.value();
                        case Outcome.Indeterminate<String> _ -> "perhaps sent";
                    };
                    // end
                });
        assertEquals("perhaps sent", lab.result(lab.register(remind).start(remind, "hello")));
        assertEquals(1, provider.calls());
    }

    private static Workflow<String, String> asking(FakeProvider mails) {
        return Workflow.define("ask", String.class, String.class)
                .body((ctx, text) -> ctx.effect("mail")
                        .askOnDoubt("role:support")
                        .call(String.class, sending -> mails.call(sending.key())));
    }

    @Test
    void a_person_decides_what_is_in_doubt() {
        Workflow<String, String> ask = asking(provider.loseResponse(1));
        Run<String> run = lab.register(ask).start(ask, "hello");
        lab.settle();
        // snippet:decide
        assertEquals(RunState.IN_DOUBT, run.status());
        assertEquals(List.of("mail"), run.stepsInDoubt());
        assertThrows(EffectInDoubt.class, () -> run.result(Duration.ZERO));
        assertTrue(run.confirmDone("mail", "m_17", "ann@example.com")); // or run.didNotHappen("mail", "ann@example.com")
        assertFalse(run.confirmNotDone("mail", "bob@example.com")); // the first decision counts
        // end
        assertEquals("m_17", lab.result(run));
        assertEquals(1, provider.calls());
    }

    @Test
    void what_did_not_happen_is_sent_again_with_the_same_key() {
        Workflow<String, String> ask = asking(provider.loseResponse(1));
        Run<String> run = lab.register(ask).start(ask, "hello");
        lab.settle();
        assertTrue(run.confirmNotDone("mail", "ann@example.com"));
        lab.result(run);
        assertEquals(2, provider.calls());
        assertEquals(provider.keys().getFirst(), provider.keys().getLast());
    }

    record Invoice(String customer, String text) {}

    private static Workflow<Invoice, String> reminding(FakeProvider mails) {
        // snippet:once
        Workflow<Invoice, String> remind = Workflow.define("remind", Invoice.class, String.class)
                .body((ctx, invoice) -> ctx.effect("mail")
                        .key("reminder", invoice.customer())
                        .oncePer(Duration.ofDays(7))
                        .data(invoice.text())
                        .onChange(OnChange.SEND)
                        .askOnDoubt("role:support")
                        .call(String.class, sending -> mails.call(sending.key())));
        // end
        return remind;
    }

    @Test
    void once_per_window_across_runs_and_a_changed_message_goes_out_under_another_key() {
        Workflow<Invoice, String> remind = reminding(provider);
        lab.register(remind);
        assertEquals("cards-1", lab.result(lab.start(remind, new Invoice("ann", "pay"))));
        assertEquals("cards-1", lab.result(lab.start(remind, new Invoice("ann", "pay"))), "suppressed");
        assertEquals("cards-2", lab.result(lab.start(remind, new Invoice("ann", "pay now"))), "changed");
        lab.clock().advance(Duration.ofDays(7));
        assertEquals("cards-3", lab.result(lab.start(remind, new Invoice("ann", "pay now"))), "another window");
        assertEquals(3, provider.keys().stream().distinct().count());
    }

    @Test
    void a_safe_replay_reuses_effects_and_does_plain_steps_again() {
        FakeProvider steps = lab.provider("steps");
        Workflow<String, String> flow = Workflow.define("flow", String.class, String.class)
                .body((ctx, in) -> ctx.step("plain", String.class, step -> steps.call(step.id()))
                        + ctx.effect("mail")
                                .providerHonoursKey(Duration.ofHours(1))
                                .call(String.class, sending -> provider.call(sending.key())));
        lab.register(flow);
        Run<String> run = lab.start(flow, "x");
        assertEquals("steps-1cards-1", lab.result(run));
        // snippet:replay
        Run<String> replay = lab.start(flow, "x", Start.replayOf(run.id()));
        // end
        assertEquals("steps-2cards-1", lab.result(replay));
        assertEquals(1, steps.keys().stream().distinct().count(), "a step keeps its id in the replay");
    }

    @Test
    void a_provider_that_is_away_is_tried_again_under_every_protection() {
        Workflow<String, String> ask = asking(provider.down(2));
        lab.clock().autoAdvance();
        assertEquals("cards-1", lab.result(lab.register(ask).start(ask, "hello")));
    }
}
