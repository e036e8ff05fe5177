package dev.semel.server;

import dev.semel.runtime.ManualClock;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStream;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * The clock of the temporary server of `semel qa`, which runs only with stubs. A line `advance SECONDS` on standard
 * input moves the clock, so that runs pass their waits at once.
 */
final class StubServerClock {
    private static final Pattern ADVANCE = Pattern.compile("advance ([0-9]{1,9})");

    private StubServerClock() {}

    static ManualClock readingFrom(InputStream commands) {
        ManualClock clock = ManualClock.running();
        Thread.ofPlatform().daemon().name("stub-clock").start(() -> follow(clock, commands));
        return clock;
    }

    private static void follow(ManualClock clock, InputStream commands) {
        try (var lines = new BufferedReader(new InputStreamReader(commands, StandardCharsets.UTF_8))) {
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                Matcher found = ADVANCE.matcher(line);
                if (found.matches()) {
                    clock.advance(Duration.ofSeconds(Long.parseLong(found.group(1))));
                }
            }
        } catch (IOException ended) {
            return; // the parent process has ended, and nobody moves the clock any more
        }
    }
}
