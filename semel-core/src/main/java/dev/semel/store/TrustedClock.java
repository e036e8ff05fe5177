package dev.semel.store;

import dev.semel.run.MicrosecondConverter;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.time.Duration;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.function.LongSupplier;
import org.jspecify.annotations.Nullable;

/**
 * The clock of a store that has no server: the clock of the machine, while it agrees with the clock since boot. After a
 * jump of the machine's clock this clock continues as if there had been none, with the clock since boot. It follows the
 * machine's clock again when an operator confirms it, or when both clocks have run at the same rate for an hour. All
 * times are microseconds.
 */
public final class TrustedClock implements LongSupplier {
    private static final Logger LOG = System.getLogger(TrustedClock.class.getName());

    /** Per hour. A clock that follows a time server deviates less. */
    static final long TOLERANCE = MicrosecondConverter.of(Duration.ofMinutes(1));

    static final long AGREEMENT = MicrosecondConverter.of(Duration.ofHours(1));

    /** After a reboot nothing shows how long the machine was off. A longer time must be confirmed. */
    static final long LONGEST_OFF = MicrosecondConverter.of(Duration.ofDays(1));

    private final LongSupplier machine;
    private final LongSupplier nanos;
    private final @Nullable BootClock sinceBoot;
    private Reading anchor;
    private long anchorNanos;
    private @Nullable Jump jump;

    /**
     * A clock that runs while the machine is suspended, and that nobody can set.
     *
     * @param bootId changes with every boot
     */
    public record BootClock(String bootId, LongSupplier micros) {}

    /** What a store keeps between two starts. */
    public record StoredTime(long time, String bootId, long bootMicros) {}

    /**
     * @param machineTime by the clock of the machine
     * @param storeTime by this clock
     * @param trustedAt by this clock: when it follows the machine's clock again, if that does not jump again
     */
    public record ClockJump(long machineTime, long storeTime, long trustedAt) {
        /** One sentence for users. */
        public String text() {
            Duration ahead = Duration.of(machineTime - storeTime, ChronoUnit.MICROS);
            return "The clock of this machine jumped and is " + ahead.abs().toSeconds() + " s "
                    + (ahead.isNegative() ? "behind" : "ahead of") + " the store's clock. Until "
                    + instant(trustedAt).truncatedTo(ChronoUnit.SECONDS)
                    + " the server deletes nothing and lets no key expire, unless an operator confirms the clock.";
        }
    }

    /** Both clocks at one moment. */
    private record Reading(long time, long boot) {}

    /** @param agreesSince since then the two clocks run at the same rate */
    private record Jump(long startedAt, Reading agreesSince) {}

    public TrustedClock(LongSupplier machine, LongSupplier nanos, BootClock sinceBoot) {
        this(machine, nanos, sinceBoot, new Reading(machine.getAsLong(), sinceBoot.micros.getAsLong()));
    }

    private TrustedClock(LongSupplier machine, LongSupplier nanos, @Nullable BootClock sinceBoot, Reading anchor) {
        this.machine = machine;
        this.nanos = nanos;
        this.sinceBoot = sinceBoot;
        this.anchor = anchor;
        this.anchorNanos = nanos.getAsLong();
    }

    /** For systems without a clock since boot, and for tests that move the time. */
    public static TrustedClock unchecked(LongSupplier machine) {
        return new TrustedClock(machine, () -> 0, null, new Reading(0, 0));
    }

    /** Compares the machine's clock with the time of the last run of the process. */
    public synchronized void continueFrom(@Nullable StoredTime stored) {
        if (sinceBoot == null || stored == null) {
            return;
        }
        Reading now = read(sinceBoot);
        if (stored.bootId.equals(sinceBoot.bootId)) {
            long expected = stored.time + now.boot - stored.bootMicros;
            follow(now, expected, Math.abs(now.time - expected) <= TOLERANCE);
        } else {
            long off = now.time - stored.time;
            follow(now, stored.time, off >= -TOLERANCE && off <= LONGEST_OFF);
        }
    }

    @Override
    public synchronized long getAsLong() {
        long time = machine.getAsLong();
        if (sinceBoot == null) {
            return time;
        }
        long running = (nanos.getAsLong() - anchorNanos) / 1_000;
        if (jump == null && running < AGREEMENT && Math.abs(time - anchor.time - running) <= TOLERANCE) {
            return time; // the usual case: reading the clock since boot is slow
        }
        Reading now = read(sinceBoot);
        long expected = anchor.time + now.boot - anchor.boot;
        if (jump == null) {
            return follow(now, expected, Math.abs(now.time - expected) <= TOLERANCE);
        }
        Reading since = jump.agreesSince;
        if (Math.abs((now.time - since.time) - (now.boot - since.boot)) > TOLERANCE) {
            jump = new Jump(jump.startedAt, now); // it jumped again
        } else if (now.boot - since.boot >= AGREEMENT) {
            confirm("its clock has run evenly for an hour");
            return now.time;
        }
        return expected;
    }

    /** Returns the time for deciding whether a key window has ended: during a jump, the time at which it began. */
    public synchronized long windowTime() {
        long now = getAsLong();
        return jump == null ? now : jump.startedAt;
    }

    /** Returns the jump that nobody has confirmed yet, or null. */
    public synchronized @Nullable ClockJump jump() {
        long now = getAsLong();
        return jump == null || sinceBoot == null
                ? null
                : new ClockJump(
                        machine.getAsLong(),
                        now,
                        now + AGREEMENT - (sinceBoot.micros.getAsLong() - jump.agreesSince.boot));
    }

    /** An operator confirms that the machine's clock is right. */
    public synchronized void confirm() {
        if (jump != null) {
            confirm("an operator confirmed it");
        }
    }

    /** Returns what the store keeps for its next start; null without a clock since boot. */
    public synchronized @Nullable StoredTime toStore() {
        return sinceBoot == null ? null : new StoredTime(getAsLong(), sinceBoot.bootId, sinceBoot.micros.getAsLong());
    }

    /** Follows the machine's clock if it is plausible; otherwise continues with the expected time. */
    private long follow(Reading now, long expected, boolean plausible) {
        long time = plausible ? now.time : expected;
        anchor = new Reading(time, now.boot);
        anchorNanos = nanos.getAsLong();
        if (!plausible) {
            jump = new Jump(expected, now);
            LOG.log(
                    Level.ERROR,
                    "the clock of this machine jumped from about {0} to {1}. The store continues with {0}. Until both"
                            + " clocks have run evenly for an hour, Semel deletes nothing and lets no key expire. If"
                            + " the clock of the machine is right, run `semel clock confirm`; otherwise correct it",
                    instant(expected),
                    instant(now.time));
        }
        return time;
    }

    private void confirm(String why) {
        jump = null;
        if (sinceBoot != null) {
            anchor = read(sinceBoot);
            anchorNanos = nanos.getAsLong();
            LOG.log(
                    Level.WARNING,
                    "the store follows the clock of this machine again: {0}; {1}",
                    instant(anchor.time),
                    why);
        }
    }

    private Reading read(BootClock clock) {
        return new Reading(machine.getAsLong(), clock.micros.getAsLong());
    }

    private static Instant instant(long micros) {
        return Instant.EPOCH.plus(micros, ChronoUnit.MICROS);
    }
}
