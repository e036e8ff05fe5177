package dev.semel.server.cli.acceptance;

import java.time.Duration;
import java.time.Instant;
import java.time.InstantSource;
import java.util.function.Consumer;

/** The clock of the temporary server of `semel qa`: the machine's clock, moved forward past waits. */
final class AcceptanceTestServerClock {
    private final InstantSource machine;
    private final Consumer<Duration> mover;
    private Duration advanced = Duration.ZERO;

    /** @param mover moves the clock of the server */
    AcceptanceTestServerClock(InstantSource machine, Consumer<Duration> mover) {
        this.machine = machine;
        this.mover = mover;
    }

    Instant now() {
        return machine.instant().plus(advanced);
    }

    /** How far the clock was moved since the server started. */
    Duration advanced() {
        return advanced;
    }

    void advance(Duration by) {
        Duration whole = Duration.ofSeconds(by.toSeconds() + 1);
        mover.accept(whole);
        advanced = advanced.plus(whole);
    }

    void advanceTo(Instant time) {
        Duration by = Duration.between(now(), time);
        if (by.isPositive()) {
            advance(by);
        }
    }
}
