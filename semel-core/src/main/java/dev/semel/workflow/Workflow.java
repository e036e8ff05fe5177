package dev.semel.workflow;

import org.jspecify.annotations.Nullable;

/**
 * A workflow defined in Java: its name, key policy, triggers and code. Immutable; define it as a constant.
 * Only {@link #define} creates workflows; do not implement this interface.
 *
 * {@snippet :
 * static final Workflow<Payment, Receipt> RECEIPT = Workflow.define("payment_receipt", Payment.class, Receipt.class)
 *         .keyedBy(Payment::eventId)
 *         .fingerprint(Payment::paymentId, Payment::amount)
 *         .body((ctx, payment) -> new Receipt(
 *                 ctx.effect("capture").providerHonoursKey(Duration.ofHours(24))
 *                         .call(String.class, e -> stripe.charge(payment, e.key()))));
 * }
 */
public interface Workflow<I, O extends @Nullable Object> {
    /** @param name 1 to 64 characters a-z, 0-9, _ and -, beginning with a letter */
    static <I, O> WorkflowBuilder<I, O> define(String name, Class<I> in, Class<O> out) {
        return define(name, TypeRef.of(in), TypeRef.of(out));
    }

    static <I, O> WorkflowBuilder<I, O> define(String name, TypeRef<I> in, TypeRef<O> out) {
        return new WorkflowBuilder<>(name, in, out);
    }

    String name();
}
