package dev.semel.trials.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Set;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A minute of the soak on each store, and samples that its checks must find. */
class SoakTest {
    @Tag("trial")
    @ParameterizedTest
    @ValueSource(strings = {"sqlite", "postgres"})
    void a_minute_of_mixed_load_with_kills_and_a_clock_jump_loses_and_doubles_nothing(
            String store, @TempDir Path folder) {
        // Caches still fill after a minute, so only the command judges the growth of the heap.
        Soak.Report report =
                Soak.play(new Soak.Plan(folder, store.equals("sqlite"), Duration.ofSeconds(60), 2, Double.MAX_VALUE));
        report.lines().forEach(System.out::println);
        assertTrue(report.good(), String.join("\n", report.lines()));
    }

    private static SoakChecks.Received sent(String name, String key) {
        return new SoakChecks.Received("POST", name, key, true, "<digest-0-0><digest-0-1>");
    }

    private static SoakChecks.Verdict judge(
            Set<String> keys, List<SoakChecks.Received> received, List<SoakChecks.LedgerRow> effects) {
        return SoakChecks.of(
                new SoakChecks.Evidence(keys, received, List.of("tx-0-0"), effects, List.of(), List.of(90_000_000L)));
    }

    @Test
    void a_kept_promise_is_no_finding() {
        Set<String> keys = Set.of("pay-0-0", "tx-0-0", "digest-0-0", "digest-0-1");
        List<SoakChecks.Received> received =
                List.of(sent("pay/pay-0-0", "a"), sent("tx/tx-0-0", "b"), sent("digest", "c"));
        assertTrue(judge(keys, received, List.of()).good());
    }

    @Test
    void lost_and_doubled_effects_are_found() {
        Set<String> keys = Set.of("pay-0-0", "pay-0-1", "tx-0-0", "tx-0-1", "digest-0-0", "digest-0-2");
        List<SoakChecks.Received> received = List.of(
                sent("pay/pay-0-0", "a"),
                sent("pay/pay-0-0", "b"),
                sent("tx/tx-0-0", "c"),
                sent("tx/tx-0-1", "d"),
                sent("digest", "e"),
                sent("digest", "f"));
        SoakChecks.Verdict verdict = judge(keys, received, List.of());
        assertEquals(
                Set.of("pay/pay-0-1 was never accepted", "row of tx-0-1 is missing", "item digest-0-2 is missing"),
                Set.copyOf(verdict.lost()));
        assertEquals(
                Set.of(
                        "pay/pay-0-0 was sent 2 times and accepted 2 times",
                        "pay/pay-0-0 was sent with several keys",
                        "item digest-0-0 is there 2 times"),
                Set.copyOf(verdict.doubled()));
    }

    @Test
    void only_a_kill_explains_a_doubt() {
        Set<String> keys = Set.of("tx-0-0");
        SoakChecks.LedgerRow cut = new SoakChecks.LedgerRow("tx-0-0", "send", 3, 89_000_000);
        SoakChecks.LedgerRow later = new SoakChecks.LedgerRow("tx-0-0", "send", 3, 95_000_000);
        assertEquals(1, judge(keys, List.of(), List.of(cut)).explained());
        assertTrue(judge(keys, List.of(), List.of(cut)).good());
        SoakChecks.Verdict verdict = judge(keys, List.of(), List.of(later));
        assertEquals(List.of("tx-0-0 send has state 3"), verdict.unexplained());
        assertEquals(List.of("tx/tx-0-0 was never accepted"), verdict.lost());
    }
}
