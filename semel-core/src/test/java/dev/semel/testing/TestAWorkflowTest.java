package dev.semel.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.semel.Run;
import dev.semel.error.StepFailed;
import dev.semel.testing.junit.SemelTest;
import dev.semel.workflow.Key;
import dev.semel.workflow.Signal;
import dev.semel.workflow.Start;
import dev.semel.workflow.Workflow;
import java.time.Duration;
import org.junit.jupiter.api.Test;

/** The code of docs/how-to/test-a-workflow.md: what stands between `snippet` and `end` is shown there. */
// snippet:kit-crash
@SemelTest
class TestAWorkflowTest {
    record Payment(String id, long amount) {}

    static Workflow<Payment, String> receipt(FakeExternalSystem cards, FakeExternalSystem mail) {
        return Workflow.define("payment_receipt", Payment.class, String.class)
                .keyedBy(Payment::id)
                .body((ctx, payment) -> {
                    String charge = ctx.effect("capture")
                            .key("capture", payment.id())
                            .providerHonoursKey(Duration.ofHours(24))
                            .call(String.class, e -> cards.call(e.key()));
                    ctx.effect("send_receipt")
                            .lookup(String.class, e -> mail.find(e.key()))
                            .call(e -> mail.call(e.key()));
                    return charge;
                });
    }

    @Test
    void no_crash_ever_doubles_a_charge_or_a_receipt(WorkflowTestKit kit) {
        FakeExternalSystem cards =
                kit.provider("cards").honoursKeysFor(Duration.ofHours(24)).loseResponse(1);
        FakeExternalSystem mail = kit.provider("mail");
        Workflow<Payment, String> receipt = receipt(cards, mail);
        kit.register(receipt)
                .crashEverywhere(l -> l.start(receipt, new Payment("pay_1", 4200)))
                .check(l -> {
                    assertEquals(1, cards.effects());
                    assertEquals(1, mail.effects());
                })
                .report();
    }
    // end

    // snippet:kit-clock
    static final Signal<String> PAID = Signal.of("paid", String.class);
    static final Workflow<String, String> FULFIL = Workflow.define("fulfil", String.class, String.class)
            .body((ctx, order) -> ctx.await(PAID, Duration.ofDays(3)).orElse("unpaid"));

    @Test
    void an_order_that_nobody_pays_is_unpaid_after_three_days(WorkflowTestKit kit) {
        Run<String> run = kit.register(FULFIL).start(FULFIL, "o-1", Start.withKey("o-1"));
        kit.clock().advance(Duration.ofDays(3));
        assertEquals("unpaid", kit.result(run));
    }

    @Test
    void paying_twice_is_paying_once(WorkflowTestKit kit) {
        kit.duplicateEverything().register(FULFIL);
        Run<String> run = kit.start(FULFIL, "o-1", Start.withKey("o-1"));
        run.signal(PAID, "ref-7", Key.of("evt_9"));
        assertEquals("ref-7", kit.result(run));
    }
    // end

    // snippet:kit-twice
    @Test
    void a_refused_card_fails_the_run_and_no_receipt_is_sent(WorkflowTestKit kit) {
        FakeExternalSystem cards = kit.provider("cards").down(2).reject(1);
        FakeExternalSystem mail = kit.provider("mail");
        Workflow<Payment, String> receipt = receipt(cards, mail);
        kit.clock().autoAdvance(); // the pauses between attempts pass by themselves
        Run<String> run = kit.register(receipt).start(receipt, new Payment("pay_1", 4200));
        assertThrows(StepFailed.class, () -> kit.result(run));
        assertEquals(0, mail.calls());
    }
    // end

    // snippet:kit-history
    @Test
    void the_answer_of_the_charge_is_lost_in_a_crash(WorkflowTestKit kit) {
        FakeExternalSystem cards = kit.provider("cards").honoursKeysFor(Duration.ofHours(24));
        Workflow<Payment, String> receipt = receipt(cards, kit.provider("mail"));
        kit.register(receipt).crashAt("effect-sent", 1);
        Run<String> run = kit.start(receipt, new Payment("pay_1", 4200));
        assertEquals("cards-1", kit.result(run));
        assertEquals(2, cards.calls());
        assertEquals(1, cards.effects());
    }
    // end
}
