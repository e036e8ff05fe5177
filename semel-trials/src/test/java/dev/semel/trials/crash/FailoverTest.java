package dev.semel.trials.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** One round of {@link Failover}. The contrast, an asynchronous replica, is part of the command only. */
@Tag("trial")
class FailoverTest {
    @TempDir
    Path folder;

    @Test
    void a_promoted_synchronous_replica_has_every_acknowledged_trigger_once() {
        Failover.Outcome outcome = Failover.play(folder, true, 60);
        System.out.println(Failover.describe(true, outcome));
        assertEquals(List.of(), outcome.wrong());
        assertEquals(0, outcome.lost());
        assertTrue(outcome.durability().contains("synchronous_standby=replica"), outcome.durability());
    }
}
