package dev.semel.trials.examples;

import dev.semel.Run;
import dev.semel.Semel;
import dev.semel.workflow.Start;
import dev.semel.workflow.Workflow;
import java.nio.file.Path;
import java.time.Duration;

/** What the page "Five minutes in Java" builds. */
final class Receipts {
    private Receipts() {}

    // snippet:types
    record Payment(String id, long amount, String currency) {}

    record Receipt(String license, String mail) {}
    // end

    // snippet:receipt
    static Workflow<Payment, Receipt> receipt(FileBackedMailProvider shop) {
        return Workflow.define("receipt", Payment.class, Receipt.class)
                .fingerprint(Payment::id, Payment::amount, Payment::currency)
                .body((ctx, payment) -> {
                    String license = ctx.step("license", String.class, shop::newLicense);
                    String mail = ctx.effect("mail")
                            .providerHonoursKey(Duration.ofHours(24))
                            .call(String.class, sending -> shop.mail(license, sending.key()));
                    return new Receipt(license, mail);
                });
    }
    // end

    // snippet:twice
    static Receipt deliver(Path file, FileBackedMailProvider shop) {
        Workflow<Payment, Receipt> receipt = receipt(shop);
        Payment payment = new Payment("pay_abc", 4900, "usd");
        try (Semel semel = Semel.sqlite(file).open()) {
            semel.register(receipt);
            Run<Receipt> first = semel.start(receipt, payment, Start.withKey("evt_1"));
            Run<Receipt> again = semel.start(receipt, payment, Start.withKey("evt_1"));
            assert again.replayed() && again.id().equals(first.id());
            return again.result();
        }
    }
    // end

    /** The same in a process of its own, which dies with the first mail. */
    public static void main(String[] args) {
        deliver(Path.of(args[0]), new FileBackedMailProvider(Path.of(args[1]), true));
    }
}
