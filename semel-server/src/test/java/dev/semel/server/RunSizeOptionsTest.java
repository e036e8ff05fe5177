package dev.semel.server;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.semel.engine.RunSizeLimits;
import dev.semel.server.cli.server.ServerOptions;
import org.junit.jupiter.api.Test;

class RunSizeOptionsTest {
    @Test
    void the_default_limits_of_a_run_are_those_of_the_engine() {
        assertEquals(RunSizeLimits.DEFAULT, SemelServer.runSize(ServerOptions.ServerLimits.DEFAULT));
    }

    @Test
    void the_journal_is_given_in_mebibytes() {
        RunSizeLimits limits = SemelServer.runSize(new ServerOptions.ServerLimits(16, 1_000, 7, 2));
        assertEquals(7, limits.steps());
        assertEquals(2L << 20, limits.journalBytes());
    }
}
