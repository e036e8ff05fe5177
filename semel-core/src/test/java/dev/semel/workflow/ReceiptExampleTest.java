package dev.semel.workflow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNull;

import dev.semel.definition.EffectSpec;
import dev.semel.definition.JavaWorkflow;
import dev.semel.effect.EffectDuplicateProtection;
import dev.semel.json.StrictJsonCodec;
import dev.semel.policy.SameKeyDifferentPayloadPolicy;
import java.io.IOException;
import java.math.BigDecimal;
import java.sql.Connection;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** The first example of the documentation as it stands there: keys, a charge, rows and a mail. */
class ReceiptExampleTest {
    record Payment(String eventId, String paymentId, BigDecimal amount, String currency, String email) {}

    record Charge(String id) {}

    record License(String serial) {}

    record Receipt(String chargeId, String serial) {}

    static class CardDeclined extends Exception {}

    private final List<String> done = new ArrayList<>();
    private final Stripe stripe = new Stripe();
    private final Licenses licenses = new Licenses();
    private final Mail mail = new Mail();

    private final class Stripe {
        Charge charge(Payment p, String key) throws CardDeclined {
            done.add("charge " + p.amount() + " " + key);
            return new Charge("ch_1");
        }
    }

    private final class Licenses {
        License insert(Connection sql, String paymentId) throws java.sql.SQLException {
            done.add("insert " + paymentId);
            return new License("L-" + paymentId);
        }
    }

    private final class Mail {
        void send(String to, String template, License license, String key) throws IOException {
            done.add("mail " + to + " " + template + " " + license.serial() + " " + key);
        }
    }

    private final JavaWorkflow<Payment, Receipt> RECEIPT = (JavaWorkflow<Payment, Receipt>) Workflow.define(
                    "payment_receipt", Payment.class, Receipt.class)
            .keyedBy(Payment::eventId)
            .fingerprint(Payment::paymentId, Payment::amount, Payment::currency)
            .window(Duration.ofHours(24))
            .onMismatch(SameKeyDifferentPayloadPolicy.REJECT)
            .owner("payments-team")
            .body((ctx, p) -> {
                Charge charge = ctx.effect("capture")
                        .key("capture", p.paymentId())
                        .worth(p.amount(), p.currency())
                        .object("payment", p.paymentId())
                        .retry(Retry.exponential(Duration.ofSeconds(1)).upTo(5).notOn(CardDeclined.class))
                        .providerHonoursKey(Duration.ofHours(24))
                        .call(Charge.class, e -> stripe.charge(p, e.key()));

                License license =
                        ctx.tx("issue_license", License.class, (sql, s) -> licenses.insert(sql, p.paymentId()));

                ctx.effect("send_receipt")
                        .key("receipt", p.paymentId(), p.email(), "v3")
                        .oncePer(Duration.ofDays(1))
                        .askOnDoubt("role:support")
                        .call(e -> mail.send(p.email(), "receipt-v3", license, e.key()));

                return new Receipt(charge.id(), license.serial());
            });

    private static final String DATA = """
        {"eventId":"evt_1","paymentId":"pay_1","amount":49.00,"currency":"EUR","email":"ann@example.org"}\
        """;

    @Test
    void each_effect_happens_once_for_any_number_of_executions() throws Exception {
        InMemoryDurableOperations.SharedState shared = new InMemoryDurableOperations.SharedState();
        JsonNode first = RECEIPT.body().run(new InMemoryDurableOperations(shared), StrictJsonCodec.parse(DATA));
        JsonNode again = RECEIPT.body().run(new InMemoryDurableOperations(shared), StrictJsonCodec.parse(DATA));
        assertEquals(new Receipt("ch_1", "L-pay_1"), RECEIPT.outputOf(first));
        assertEquals(first, again);
        assertEquals(
                List.of(
                        "charge 49.00 capture:pay_1",
                        "insert pay_1",
                        "mail ann@example.org receipt-v3 L-pay_1 receipt:pay_1:ann@example.org:v3"),
                done);
    }

    @Test
    void the_engine_gets_the_declared_options() throws Exception {
        InMemoryDurableOperations.SharedState shared = new InMemoryDurableOperations.SharedState();
        RECEIPT.body().run(new InMemoryDurableOperations(shared), StrictJsonCodec.parse(DATA));
        EffectSpec capture = planOf(shared, "capture");
        assertEquals("capture:pay_1", capture.key());
        assertEquals(new EffectDuplicateProtection.ProviderKey(Duration.ofHours(24)), capture.protection());
        assertEquals(
                new EffectSpec.BusinessRecord(EffectOperation.CREATE, "payment:pay_1", "49.00 EUR"),
                capture.businessRecord());
        assertEquals(List.of(CardDeclined.class), capture.step().retry().notOn());
        assertNull(capture.once());
        EffectSpec.@Nullable OncePerWindow once = planOf(shared, "send_receipt").once();
        assertEquals(Duration.ofDays(1), once == null ? null : once.window());
        assertEquals(Retry.STANDARD, planOf(shared, "send_receipt").step().retry());
        assertEquals("evt_1", RECEIPT.derivedKey(StrictJsonCodec.parse(DATA)));
        assertEquals(
                List.of("paymentId", "amount", "currency"),
                RECEIPT.policy().fingerprint().stream()
                        .map(field -> field.name())
                        .toList());
    }

    private static EffectSpec planOf(InMemoryDurableOperations.SharedState shared, String name) {
        EffectSpec plan = shared.effects.get(name);
        if (plan == null) {
            throw new AssertionError("there was no effect " + name);
        }
        return plan;
    }
}
