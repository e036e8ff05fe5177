package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.store.Await;
import dev.semel.store.Dialect;
import dev.semel.workflow.Key;
import dev.semel.workflow.Signal;
import dev.semel.workflow.Workflow;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** A sender that floods a run gets an error, the run still receives other signals, and reading makes room. */
final class UnreadSignalsTest {
    private static final Signal<String> PART = Signal.of("part", String.class);
    private static final Signal<String> GO = Signal.of("go", String.class);
    private static final int FITTING = 16;

    @ParameterizedTest
    @EnumSource
    void a_run_reads_a_flood_of_large_signals_one_by_one(Dialect dialect) {
        String large = "a".repeat(1024 * 1024 - 2);
        try (OutageBench bench = new OutageBench(dialect)) {
            Workflow<String, Integer> parts = bench.register(Workflow.define("parts", String.class, Integer.class)
                    .body((ctx, in) -> {
                        ctx.await(GO);
                        int length = 0;
                        for (int i = 0; i <= FITTING; i++) {
                            length += ctx.await("part" + i, PART).length();
                        }
                        return length;
                    }));
            RunHandle<Integer> run = bench.start(parts, "");
            for (int i = 0; i < FITTING; i++) {
                assertTrue(run.signal(PART, large, Key.of("p" + i)));
            }
            SemelException full = assertThrows(SemelException.class, () -> run.signal(PART, large, Key.of("late")));
            assertEquals(ErrorCode.TOO_MANY_SIGNALS, full.code());
            assertTrue(run.signal(GO, "", Key.of("go")), "a flood of one name does not block another");
            Await.until(
                    "it has read all parts",
                    () -> List.of().equals(bench.semel().view(reads -> reads.unreadSignals(OutageBench.id(run)))));
            bench.kill();
            RunHandle<Integer> again = bench.again(parts, run);
            assertTrue(again.signal(PART, large, Key.of("late")), "there is room again");
            assertEquals((FITTING + 1) * large.length(), again.result(Duration.ofMinutes(1)));
        }
    }
}
