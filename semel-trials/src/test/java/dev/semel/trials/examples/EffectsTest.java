package dev.semel.trials.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.Run;
import dev.semel.RunStatus;
import dev.semel.error.EffectInDoubt;
import dev.semel.policy.ChangedEffectDataPolicy;
import dev.semel.testing.FakeExternalSystem;
import dev.semel.testing.WorkflowTestKit;
import dev.semel.workflow.EffectOutcome;
import dev.semel.workflow.Start;
import dev.semel.workflow.Workflow;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** What the page "Effects" shows and says. */
class EffectsTest {
    private final WorkflowTestKit kit = new WorkflowTestKit();
    private final FakeExternalSystem provider = kit.provider("cards");

    @AfterEach
    void close() {
        kit.close();
    }

    private static Workflow<String, String> charging(FakeExternalSystem cards) {
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
    void a_lost_response_is_looked_up_and_not_resent() {
        Workflow<String, String> pay = charging(provider.loseResponse(1));
        kit.clock().autoAdvance();
        assertEquals("cards-1", kit.result(kit.register(pay).start(pay, "o-1")));
        assertEquals(1, provider.calls());
    }

    @Test
    void at_most_once_reports_an_unknown_outcome_to_the_workflow() {
        FakeExternalSystem sms = provider.loseResponse(1);
        Workflow<String, String> remind = Workflow.define("remind", String.class, String.class)
                .body((ctx, text) -> {
                    // snippet:at-most-once
                    EffectOutcome<String> sent =
                            ctx.effect("sms").atMostOnce().call(String.class, sending -> sms.call(sending.key()));
                    return switch (sent) {
                        case EffectOutcome.Done<String> done -> done.value();
                        case EffectOutcome.Indeterminate<String> _ -> "perhaps sent";
                    };
                    // end
                });
        assertEquals("perhaps sent", kit.result(kit.register(remind).start(remind, "hello")));
        assertEquals(1, provider.calls());
    }

    private static Workflow<String, String> asking(FakeExternalSystem mails) {
        return Workflow.define("ask", String.class, String.class)
                .body((ctx, text) -> ctx.effect("mail")
                        .askOnDoubt("role:support")
                        .call(String.class, sending -> mails.call(sending.key())));
    }

    @Test
    void a_user_decides_an_effect_in_doubt() {
        Workflow<String, String> ask = asking(provider.loseResponse(1));
        Run<String> run = kit.register(ask).start(ask, "hello");
        kit.settle();
        // snippet:decide
        assertEquals(RunStatus.IN_DOUBT, run.status());
        assertEquals(List.of("mail"), run.stepsInDoubt());
        assertThrows(EffectInDoubt.class, () -> run.result(Duration.ZERO));
        assertTrue(run.confirmDone("mail", "m_17", "ann@example.com")); // or confirmNotDone(…)
        assertFalse(run.confirmNotDone("mail", "bob@example.com")); // the first decision counts
        // end
        assertEquals("m_17", kit.result(run));
        assertEquals(1, provider.calls());
    }

    @Test
    void an_effect_decided_as_not_happened_is_sent_with_the_same_key() {
        Workflow<String, String> ask = asking(provider.loseResponse(1));
        Run<String> run = kit.register(ask).start(ask, "hello");
        kit.settle();
        assertTrue(run.confirmNotDone("mail", "ann@example.com"));
        kit.result(run);
        assertEquals(2, provider.calls());
        assertEquals(provider.keys().getFirst(), provider.keys().getLast());
    }

    record Invoice(String customer, String text) {}

    private static Workflow<Invoice, String> reminding(FakeExternalSystem mails) {
        // snippet:once
        Workflow<Invoice, String> remind = Workflow.define("remind", Invoice.class, String.class)
                .body((ctx, invoice) -> ctx.effect("mail")
                        .key("reminder", invoice.customer())
                        .oncePer(Duration.ofDays(7))
                        .data(invoice.text())
                        .onChange(ChangedEffectDataPolicy.SEND)
                        .askOnDoubt("role:support")
                        .call(String.class, sending -> mails.call(sending.key())));
        // end
        return remind;
    }

    @Test
    void once_per_window_across_runs_and_a_changed_message_gets_another_key() {
        Workflow<Invoice, String> remind = reminding(provider);
        kit.register(remind);
        assertEquals("cards-1", kit.result(kit.start(remind, new Invoice("ann", "pay"))));
        assertEquals("cards-1", kit.result(kit.start(remind, new Invoice("ann", "pay"))), "suppressed");
        assertEquals("cards-2", kit.result(kit.start(remind, new Invoice("ann", "pay now"))), "changed");
        kit.clock().advance(Duration.ofDays(7));
        assertEquals("cards-3", kit.result(kit.start(remind, new Invoice("ann", "pay now"))), "another window");
        assertEquals(3, provider.keys().stream().distinct().count());
    }

    @Test
    void a_safe_replay_reuses_effects_and_repeats_plain_steps() {
        FakeExternalSystem steps = kit.provider("steps");
        Workflow<String, String> flow = Workflow.define("flow", String.class, String.class)
                .body((ctx, in) -> ctx.step("plain", String.class, step -> steps.call(step.id()))
                        + ctx.effect("mail")
                                .providerHonoursKey(Duration.ofHours(1))
                                .call(String.class, sending -> provider.call(sending.key())));
        kit.register(flow);
        Run<String> run = kit.start(flow, "x");
        assertEquals("steps-1cards-1", kit.result(run));
        // snippet:replay
        Run<String> replay = kit.start(flow, "x", Start.replayOf(run.id()));
        // end
        assertEquals("steps-2cards-1", kit.result(replay));
        assertEquals(1, steps.keys().stream().distinct().count(), "a step keeps its id in the replay");
    }

    @Test
    void an_unreachable_provider_is_retried_under_every_protection() {
        Workflow<String, String> ask = asking(provider.down(2));
        kit.clock().autoAdvance();
        assertEquals("cards-1", kit.result(kit.register(ask).start(ask, "hello")));
    }
}
