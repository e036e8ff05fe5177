package dev.semel.workflow;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.net.ConnectException;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** How often a step is tried, and how long it waits in between. */
class RetryTest {
    @ParameterizedTest(name = "after attempt {4} of first {0}, factor {1}, at most {2}: {3}")
    @CsvSource({
        // first, factor, longest, delay, after attempt
        "PT1S,    2,   PT5M,  PT1S,    0",
        "PT1S,    2,   PT5M,  PT1S,    1",
        "PT1S,    2,   PT5M,  PT2S,    2",
        "PT1S,    2,   PT5M,  PT8S,    4",
        "PT1S,    2,   PT5M,  PT4M16S, 9",
        "PT1S,    2,   PT5M,  PT5M,    10",
        "PT1S,    2,   PT8S,  PT8S,    4",
        "PT1S,    1.5, PT5M,  PT2.25S, 3",
        "PT1S,    1,   PT5M,  PT1S,    1000",
        "PT1S,    100, P365D, P365D,   1000",
        "PT0.000001S, 1, PT1S, PT0.001S, 1",
        "PT3H,    2,   PT3H,  PT3H,    1",
    })
    void a_delay_grows_by_its_factor_up_to_the_longest(
            Duration first, double factor, Duration longest, Duration delay, int made) {
        assertEquals(delay, new Retry(5, first, factor, longest, List.of()).delayAfter(made));
    }

    @Test
    void the_standard_policy_makes_five_attempts_1_2_4_and_8_seconds_apart() {
        assertEquals(5, Retry.STANDARD.attempts());
        assertEquals(
                List.of(Duration.ofSeconds(1), Duration.ofSeconds(2), Duration.ofSeconds(4), Duration.ofSeconds(8)),
                List.of(1, 2, 3, 4).stream().map(Retry.STANDARD::delayAfter).toList());
        assertEquals(1, Retry.none().attempts());
        assertEquals(
                Duration.ofMinutes(5), Retry.exponential(Duration.ofMinutes(5)).longest());
        assertEquals(
                Duration.ofMinutes(6), Retry.exponential(Duration.ofMinutes(6)).longest());
    }

    @ParameterizedTest(name = "{0} attempts, {1}, {2}, {3}: {4}")
    @CsvSource(delimiter = '|', textBlock = """
        1    | PT1S          | 1     | PT1S            | accepted
        1000 | PT0.000001S   | 100   | P365D           | accepted
        0    | PT1S          | 2     | PT5M            | attempts must be between 1 and 1000, not 0
        1001 | PT1S          | 2     | PT5M            | attempts must be between 1 and 1000, not 1001
        5    | PT0S          | 2     | PT5M            | the first delay must be positive and at most the maximum delay
        5    | PT-1S         | 2     | PT5M            | the first delay must be positive and at most the maximum delay
        5    | PT5M0.001S    | 2     | PT5M            | the first delay must be positive and at most the maximum delay
        5    | PT1S          | 2     | P365DT0.001S    | the maximum delay must be at most 365 days, not PT8760H0.001S
        5    | PT1S          | 0.99  | PT5M            | the factor must be between 1 and 100, not 0.99
        5    | PT1S          | 100.1 | PT5M            | the factor must be between 1 and 100, not 100.1
        5    | PT1S          | NaN   | PT5M            | the factor must be between 1 and 100, not NaN
        """)
    void a_policy_has_limits(int attempts, Duration first, double factor, Duration longest, String expected) {
        if (expected.equals("accepted")) {
            assertEquals(
                    new Retry(attempts, first, factor, longest, List.of()),
                    Retry.exponential(first).upTo(attempts).longest(longest).factor(factor));
        } else {
            IllegalArgumentException rejected = assertThrows(
                    IllegalArgumentException.class, () -> new Retry(attempts, first, factor, longest, List.of()));
            assertEquals(expected, rejected.getMessage());
        }
    }

    @Test
    void a_policy_may_limit_the_time_instead_of_the_attempts() {
        Retry day = Retry.STANDARD.within(Duration.ofDays(1)).upToUnsent(5);
        assertEquals(Retry.UNLIMITED, day.attempts());
        assertEquals(Duration.ofDays(1), day.within());
        assertEquals(5, day.unsentAttempts());
        assertEquals(Duration.ofDays(365), day.within(Duration.ofDays(365)).within());
        assertEquals(Duration.ZERO, day.within(Duration.ZERO).within());
        assertThrows(IllegalArgumentException.class, () -> Retry.STANDARD.within(Duration.ofMillis(-1)));
        assertThrows(
                IllegalArgumentException.class,
                () -> Retry.STANDARD.within(Duration.ofDays(365).plusMillis(1)));
        assertThrows(IllegalArgumentException.class, () -> Retry.STANDARD.upToUnsent(-1));
        assertThrows(IllegalArgumentException.class, () -> Retry.STANDARD.upTo(Retry.UNLIMITED));
        assertThrows(IllegalArgumentException.class, () -> day.upTo(1_001));
    }

    @Test
    void a_failure_of_a_listed_class_or_its_subclass_is_final() {
        Retry retry = Retry.STANDARD.notOn(ConnectException.class).notOn(IllegalStateException.class);
        assertTrue(retry.isFinal(new ConnectException()));
        assertTrue(retry.isFinal(new IllegalStateException()));
        assertFalse(retry.isFinal(new IOException()));
        assertTrue(Retry.STANDARD.notOn(IOException.class).isFinal(new ConnectException()));
        assertFalse(Retry.STANDARD.isFinal(new ConnectException()));
        assertEquals(5, retry.attempts());
    }
}
