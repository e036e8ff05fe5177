package dev.semel.server.files.yaml;

import static org.junit.jupiter.api.Assertions.assertEquals;

import java.time.Duration;
import java.util.Optional;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class DurationFormatTest {
    @ParameterizedTest
    @CsvSource({
        "500ms, PT0.5S, 500ms",
        "1500ms, PT1.5S, 1500ms",
        "2000ms, PT2S, 2s",
        "30s, PT30S, 30s",
        "90s, PT1M30S, 90s",
        "15m, PT15M, 15m",
        "24h, PT24H, 1d",
        "7d, PT168H, 7d",
        "999999999d, PT23999999976H, 999999999d"
    })
    void a_number_and_a_unit_are_a_duration(String text, Duration length, String formatted) {
        assertEquals(Optional.of(length), DurationFormat.parse(text));
        assertEquals(formatted, DurationFormat.format(length));
    }

    @ParameterizedTest
    @ValueSource(strings = {"", "5", "ms", "5 s", "1.5s", "-5s", "5S", "5us", "5mss", "1h30m", "1234567890s"})
    void other_texts_are_no_durations(String text) {
        assertEquals(Optional.empty(), DurationFormat.parse(text));
    }
}
