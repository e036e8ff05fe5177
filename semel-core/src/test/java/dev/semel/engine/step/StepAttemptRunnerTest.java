package dev.semel.engine.step;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.engine.ClockAndRandomSource;
import dev.semel.workflow.Retry;
import java.io.IOException;
import java.time.Duration;
import java.util.random.RandomGenerator;
import org.junit.jupiter.api.Test;

/** The pause before the next attempt. */
final class StepAttemptRunnerTest {
    private static ClockAndRandomSource with(RandomGenerator random) {
        return new ClockAndRandomSource(() -> 0, () -> 0, random);
    }

    @Test
    void retry_pauses_grow_to_the_maximum_and_jitter_removes_at_most_half() {
        Retry retry = Retry.exponential(Duration.ofSeconds(1))
                .factor(3)
                .longest(Duration.ofSeconds(20))
                .upTo(1_000);
        long[] whole = {1, 3, 9, 20, 20};
        for (int made = 1; made <= 5; made++) {
            long most = whole[made - 1] * 1_000_000;
            assertEquals(most / 2, StepAttemptRunner.retryDelayMicros(retry, made, new IOException(), with(() -> 0)));
            assertTrue(StepAttemptRunner.retryDelayMicros(retry, made, new IOException(), with(() -> -1)) <= most);
            RandomGenerator random = RandomGenerator.of("L64X128MixRandom");
            for (int i = 0; i < 200; i++) {
                long pause = StepAttemptRunner.retryDelayMicros(retry, made, new IOException(), with(random));
                assertTrue(pause >= most / 2 && pause <= most, made + ": " + pause);
            }
        }
        assertTrue(
                StepAttemptRunner.retryDelayMicros(retry, 1_000, new IOException(), with(() -> 0)) > 0, "no overflow");
        Duration tooLong = Duration.ofDays(366);
        assertThrows(IllegalArgumentException.class, () -> Retry.exponential(tooLong));
    }
}
