package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.Health;
import dev.semel.engine.ClockAndRandomSource;
import dev.semel.store.Await;
import java.security.SecureRandom;
import java.util.concurrent.atomic.AtomicReference;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

/** A worker without one of its threads executes nothing, so it must not look healthy. */
final class EssentialThreadTest extends SqliteTestBase {
    private final AtomicReference<String> victim = new AtomicReference<>("");

    /** The clock fails on the thread of this name, as any code can fail there. */
    @Override
    protected ClockAndRandomSource ambient() {
        ClockAndRandomSource real = ClockAndRandomSource.real();
        return new ClockAndRandomSource(
                real::micros,
                () -> {
                    if (Thread.currentThread().getName().equals(victim.get())) {
                        throw new StackOverflowError("on command");
                    }
                    return real.nanos();
                },
                new SecureRandom());
    }

    @ParameterizedTest
    @ValueSource(strings = {"semel-dispatch", "semel-lease"})
    void a_dead_thread_makes_the_worker_unhealthy(String thread) {
        assertTrue(semel.health().up());
        victim.set(thread);
        Await.until("the worker is down", () -> !semel.health().up());
        Health health = semel.health();
        assertTrue(String.valueOf(health.reason()).contains(thread), health.reason());
    }
}
