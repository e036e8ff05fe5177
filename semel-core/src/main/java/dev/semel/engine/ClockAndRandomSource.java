package dev.semel.engine;

import dev.semel.run.MicrosecondConverter;
import dev.semel.run.RunId;
import dev.semel.store.TrustedClock;
import java.io.IOException;
import java.math.BigDecimal;
import java.nio.file.Files;
import java.nio.file.Path;
import java.security.SecureRandom;
import java.time.Instant;
import java.util.concurrent.atomic.AtomicLong;
import java.util.concurrent.locks.LockSupport;
import java.util.function.LongSupplier;
import java.util.function.Supplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** The only file of the core that reads real clocks, random numbers and threads, so that tests can control them. */
public final class ClockAndRandomSource {
    private final LongSupplier micros;
    private final LongSupplier nanos;
    private final RandomGenerator random;
    private final TestInstrumentation testInstrumentation;
    private final TrustedClock.@Nullable BootClock sinceBoot;
    private final AtomicLong lastHigh = new AtomicLong();

    /** Lets tests and simulations observe and interrupt the engine. Production uses {@link #NONE}. */
    public interface TestInstrumentation {
        TestInstrumentation NONE = new TestInstrumentation() {};

        /** Called where a crash is worth testing. docs/internals.md lists the labels. */
        default void point(String label) {}

        /** Throws {@link SimulatedCrash} if the simulated process has crashed. Called before anything new begins. */
        default void checkAlive() {}

        default void onClockJump(Runnable callback) {}

        /** Wraps the work of an engine thread that may run user code. */
        default Runnable wrap(Runnable work) {
            return work;
        }
    }

    /** {@link TestInstrumentation#point} and a crashed store throw it. The engine neither handles nor logs it. */
    public static final class SimulatedCrash extends Error {
        public SimulatedCrash() {
            super("a test simulates a crash of the process", null, false, false);
        }

        public static boolean causes(Throwable failure) {
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
    private static final Path UPTIME = Path.of("/proc/uptime");
    private static final Path BOOT_ID = Path.of("/proc/sys/kernel/random/boot_id");

    public ClockAndRandomSource(LongSupplier micros, LongSupplier nanos, RandomGenerator random) {
        this(micros, nanos, random, TestInstrumentation.NONE, null);
    }

    public ClockAndRandomSource(
            LongSupplier micros, LongSupplier nanos, RandomGenerator random, TestInstrumentation testInstrumentation) {
        this(micros, nanos, random, testInstrumentation, null);
    }

    /** @param sinceBoot null: there is none, or a test moves the time, which then never counts as a jump */
    public ClockAndRandomSource(
            LongSupplier micros,
            LongSupplier nanos,
            RandomGenerator random,
            TestInstrumentation testInstrumentation,
            TrustedClock.@Nullable BootClock sinceBoot) {
        this.micros = micros;
        this.nanos = nanos;
        this.random = random;
        this.testInstrumentation = testInstrumentation;
        this.sinceBoot = sinceBoot;
    }

    public ClockAndRandomSource withInstrumentation(TestInstrumentation value) {
        return new ClockAndRandomSource(micros, nanos, random, value, sinceBoot);
    }

    public void point(String label) {
        testInstrumentation.point(label);
    }

    public void checkAlive() {
        testInstrumentation.checkAlive();
    }

    public void onClockJump(Runnable callback) {
        testInstrumentation.onClockJump(callback);
    }

    public static ClockAndRandomSource real() {
        return new ClockAndRandomSource(
                () -> MicrosecondConverter.of(Instant.now()),
                System::nanoTime,
                new SecureRandom(),
                TestInstrumentation.NONE,
                bootClock());
    }

    /** Linux has a clock that runs while the machine is suspended. On other systems jumps are not detected. */
    private static TrustedClock.@Nullable BootClock bootClock() {
        try {
            String bootId = Files.readString(BOOT_ID).strip();
            readUptime();
            return new TrustedClock.BootClock(bootId, () -> {
                try {
                    return readUptime();
                } catch (IOException | NumberFormatException e) {
                    throw new IllegalStateException(UPTIME + " cannot be read any more", e);
                }
            });
        } catch (IOException | NumberFormatException e) {
            return null;
        }
    }

    private static long readUptime() throws IOException {
        String seconds = Files.readString(UPTIME).split(" ", 2)[0];
        return new BigDecimal(seconds).movePointRight(6).longValue();
    }

    /** The clock of a store in this process. */
    public TrustedClock trustedClock() {
        return sinceBoot == null ? TrustedClock.unchecked(micros) : new TrustedClock(micros, nanos, sinceBoot);
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
    public Thread startThread(String name, Runnable work) {
        return Thread.ofVirtual().name(name).start(testInstrumentation.wrap(work));
    }

    /** Parks the thread of user code that ignores the end of its execution. It never returns. */
    public static void parkForever() {
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
