package dev.semel.engine;

import dev.semel.run.RunId;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/**
 * Supplies clock, random numbers, ids and threads to the engine.
 * It is the only file of the core that reads the real ones, so that tests and simulations can control them.
 */
public final class EngineEnvironment {
    private final LongSupplier micros;
    private final LongSupplier nanos;
    private final RandomGenerator random;
    private final TestInstrumentation hooks;
    private final AtomicLong lastHigh = new AtomicLong();

    /** Lets tests and simulations observe and interrupt the engine. Production uses {@link #NONE}. */
    public interface TestInstrumentation {
        TestInstrumentation NONE = new TestInstrumentation() {};

        /** Called where a crash is worth testing. docs/internals.md lists the labels. */
        default void point(String label) {}

        /**
         * Throws {@link SimulatedCrash} if the simulated process has crashed. The engine calls it before it begins anything new.
         */
        default void checkAlive() {}

        /** Registers a callback for manual changes of the clock. */
        default void onClockJump(Runnable callback) {}

        /** Wraps the work of an engine thread that may run user code. */
        default Runnable wrap(Runnable work) {
            return work;
        }
    }

    /**
     * Simulates the crash of the process in a test.
     * {@link TestInstrumentation#point} throws it, and so does a store that rejects all calls after the crash. The engine neither
     * handles nor logs it.
     */
    public static final class SimulatedCrash extends Error {
        public SimulatedCrash() {
            super("a test simulates a crash of the process", null, false, false);
        }

        /** Whether a failure was caused by a simulated crash. */
        static boolean causes(Throwable failure) {
            Throwable cause = failure;
            for (int i = 0; cause != null && i < CAUSES; i++) {
                if (cause instanceof SimulatedCrash) {
                    return true;
                }
                cause = cause.getCause();
            }
            return false;
        }
    }

    private static final int CAUSES = 10;

    public EngineEnvironment(LongSupplier micros, LongSupplier nanos, RandomGenerator random) {
        this(micros, nanos, random, TestInstrumentation.NONE);
    }

    public EngineEnvironment(
            LongSupplier micros, LongSupplier nanos, RandomGenerator random, TestInstrumentation hooks) {
        this.micros = micros;
        this.nanos = nanos;
        this.random = random;
        this.hooks = hooks;
    }

    public EngineEnvironment withInstrumentation(TestInstrumentation value) {
        return new EngineEnvironment(micros, nanos, random, value);
    }

    public void point(String label) {
        hooks.point(label);
    }

    void checkAlive() {
        hooks.checkAlive();
    }

    void onClockJump(Runnable callback) {
        hooks.onClockJump(callback);
    }

    public static EngineEnvironment real() {
        return new EngineEnvironment(
                () -> {
                    Instant now = Instant.now();
                    return now.getEpochSecond() * 1_000_000 + now.getNano() / 1_000;
                },
                System::nanoTime,
                new SecureRandom());
    }

    /** Wall-clock time in microseconds. In-process stores use it as their clock. */
    public long micros() {
        return micros.getAsLong();
    }

    /** Monotonic clock, for timeouts. */
    public long nanos() {
        return nanos.getAsLong();
    }

    public RandomGenerator random() {
        return random;
    }

    /** Creates an id: microseconds and a counter, so that ids of this process increase; then 64 random bits. */
    public RunId newId() {
        long wanted = micros() << 12;
        long high = lastHigh.accumulateAndGet(wanted, (last, now) -> Math.max(last + 1, now));
        return new RunId(high, random.nextLong());
    }

    public Supplier<RunId> idSupplier() {
        return this::newId;
    }

    /** Starts a virtual thread. The engine has no other way to start one. */
    Thread startThread(String name, Runnable work) {
        return Thread.ofVirtual().name(name).start(hooks.wrap(work));
    }

    /** Parks the thread of user code that ignores the end of its execution. It never returns. */
    static void parkForever() {
        while (true) {
            LockSupport.park();
            var unused = Thread.interrupted(); // otherwise the next park would return at once
        }
    }

    public byte[] randomBytes(int bytes) {
        byte[] secret = new byte[bytes];
        random.nextBytes(secret);
        return secret;
    }
}
