package dev.semel.trials.examples;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.Semel;
import dev.semel.error.KeyConflict;
import dev.semel.trials.examples.Receipts.Payment;
import dev.semel.trials.examples.Receipts.Receipt;
import dev.semel.trials.support.JavaProcess;
import dev.semel.workflow.Start;
import dev.semel.workflow.Workflow;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.TimeUnit;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** The example of "Five minutes in Java", with the crash it tells of. */
class ReceiptsTest {
    @TempDir
    Path folder;

    private FileBackedMailProvider shop() {
        return new FileBackedMailProvider(folder.resolve("mails"), false);
    }

    private Path file() {
        return folder.resolve("semel.db");
    }

    @Test
    void two_equal_triggers_are_one_run_with_one_mail() {
        Receipt receipt = Receipts.deliver(file(), shop());
        assertEquals("mail for " + receipt.license(), receipt.mail());
        assertEquals(1, shop().calls().size());
        assertEquals(receipt, Receipts.deliver(file(), shop()), "and so it is after a restart");
        assertEquals(1, shop().calls().size());
    }

    @Test
    void after_a_crash_at_the_worst_moment_it_is_one_run_with_one_mail() throws Exception {
        Process process = JavaProcess.of(
                        List.of(),
                        Receipts.class.getName(),
                        List.of(file().toString(), shop().file().toString()))
                .inheritIO()
                .start();
        assertTrue(process.waitFor(60, TimeUnit.SECONDS));
        assertEquals(137, process.exitValue());
        assertEquals(1, shop().calls().size());

        Receipt receipt = Receipts.deliver(file(), shop());
        List<String> calls = shop().calls();
        String first = calls.getFirst();
        assertEquals(List.of(first, first.replace(" sent", " remembered")), calls, "the same key and the same licence");
        assertTrue(first.contains(" " + receipt.license() + " "), "the step before the mail did not run again");
    }

    @Test
    void another_amount_under_the_same_key_is_a_conflict_that_names_the_field() {
        Receipts.deliver(file(), shop());
        Workflow<Payment, Receipt> receipt = Receipts.receipt(shop());
        try (Semel semel = Semel.sqlite(file()).open()) {
            semel.register(receipt);
            Payment other = new Payment("pay_abc", 5900, "usd");
            KeyConflict conflict =
                    assertThrows(KeyConflict.class, () -> semel.start(receipt, other, Start.withKey("evt_1")));
            assertEquals(List.of("amount"), conflict.changedFields());
        }
    }

    @Test
    void the_lines_of_the_readme_send_one_mail() {
        FileBackedMailProvider shop = shop();
        Path file = file();
        Payment payment = new Payment("pay_abc", 4900, "usd");
        // snippet:readme
        Workflow<Payment, String> receipt = Workflow.define("receipt", Payment.class, String.class)
                .keyedBy(Payment::id)
                .body((ctx, paid) -> ctx.effect("mail")
                        .providerHonoursKey(Duration.ofHours(24))
                        .call(String.class, sending -> shop.mail(paid.id(), sending.key())));
        try (Semel semel = Semel.sqlite(file).open().register(receipt)) {
            String first = semel.start(receipt, payment).result();
            String again = semel.start(receipt, payment).result(); // the same run: no second mail
            assertEquals(first, again);
        }
        // end
        assertEquals(1, shop.calls().size());
    }
}
