package dev.semel.engine;

import dev.semel.run.RunId;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicLong;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;

/**
 * Time, chance and ids: the only file of the core that reads the real ones. Everything else is handed one of these, so
 * that tests and simulations can hold the clock.
 */
public final class Ambient {
    private final LongSupplier micros;
    private final LongSupplier nanos;
    private final RandomGenerator random;
    private final Hooks hooks;
    private final AtomicLong lastHigh = new AtomicLong();

    /** What tests and simulations see of the engine from inside; nothing in production. */
    public interface Hooks {
        Hooks NONE = new Hooks() {};

        /** The engine is at a point where a crash is interesting; the labels are in docs/internals.md. */
        default void point(String label) {}

        /** Throws {@link Death} in a process that has died; asked before anything new begins. */
        default void alive() {}

        /** Calls back whenever somebody moves the clock by hand. */
        default void onJump(Runnable look) {}

        /** What runs on a thread of the engine that may run code of the user. */
        default Runnable around(Runnable work) {
            return work;
        }
    }

    /**
     * The process dies here, as far as a test is concerned: thrown by {@link Hooks#point} and by a store that lets
     * nothing through any more. The engine neither handles it nor logs it; a dead process would not either.
     */
    public static final class Death extends Error {
        public Death() {
            super("the process has died, in a test", null, false, false);
        }

        /** Whether a failure comes from a death. */
        static boolean isIn(Throwable failure) {
            Throwable cause = failure;
            for (int i = 0; cause != null && i < CAUSES; i++) {
                if (cause instanceof Death) {
                    return true;
                }
                cause = cause.getCause();
            }
            return false;
        }
    }

    private static final int CAUSES = 10;

    public Ambient(LongSupplier micros, LongSupplier nanos, RandomGenerator random) {
        this(micros, nanos, random, Hooks.NONE);
    }

    public Ambient(LongSupplier micros, LongSupplier nanos, RandomGenerator random, Hooks hooks) {
        this.micros = micros;
        this.nanos = nanos;
        this.random = random;
        this.hooks = hooks;
    }

    public Ambient withHooks(Hooks value) {
        return new Ambient(micros, nanos, random, value);
    }

    public void point(String label) {
        hooks.point(label);
    }

    void alive() {
        hooks.alive();
    }

    void onJump(Runnable look) {
        hooks.onJump(look);
    }

    public static Ambient real() {
        return new Ambient(
                () -> {
                    Instant now = Instant.now();
                    return now.getEpochSecond() * 1_000_000 + now.getNano() / 1_000;
                },
                System::nanoTime,
                new SecureRandom());
    }

    /** Wall time in microseconds; the clock of a store that lives in this process. */
    public long micros() {
        return micros.getAsLong();
    }

    /** A clock that only goes forward, for time-outs. */
    public long nanos() {
        return nanos.getAsLong();
    }

    public RandomGenerator random() {
        return random;
    }

    /** A new id: microseconds and a counter first, so that ids of this process rise; then 64 bits of chance. */
    public RunId id() {
        long wanted = micros() << 12;
        long high = lastHigh.accumulateAndGet(wanted, (last, now) -> Math.max(last + 1, now));
        return new RunId(high, random.nextLong());
    }

    public Supplier<RunId> ids() {
        return this::id;
    }

    /** Starts a virtual thread; the engine's only way to get one. */
    Thread start(String name, Runnable work) {
        return Thread.ofVirtual().name(name).start(hooks.around(work));
    }

    public byte[] secret(int bytes) {
        byte[] secret = new byte[bytes];
        random.nextBytes(secret);
        return secret;
    }
}
