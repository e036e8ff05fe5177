package dev.semel.admission;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.stream.IntStream;
import org.junit.jupiter.api.Test;

/** Who gets the new version of a workflow while it is rolled out to a percentage. */
final class VersionRolloutBucketTest {
    private static boolean isIn(int key, int share) {
        return VersionRolloutBucket.isInRollout("wf_1:2", "key_" + key, share);
    }

    @Test
    void nobody_is_in_a_rollout_of_zero_per_cent_and_everybody_in_a_full_one() {
        for (int key = 0; key < 1_000; key++) {
            assertFalse(isIn(key, 0));
            assertTrue(isIn(key, 100));
        }
    }

    @Test
    void a_larger_percentage_includes_a_smaller_one() {
        for (int key = 0; key < 200; key++) {
            int trigger = key;
            long entered = IntStream.rangeClosed(0, 100)
                    .filter(share -> isIn(trigger, share))
                    .findFirst()
                    .orElseThrow();
            for (int share = 0; share <= 100; share++) {
                assertEquals(share >= entered, isIn(key, share));
            }
        }
    }

    @Test
    void about_the_given_percentage_is_in_the_rollout() {
        long in = IntStream.range(0, 10_000).filter(key -> isIn(key, 30)).count();
        assertTrue(in > 2_800 && in < 3_200, "of 10,000: " + in);
    }

    @Test
    void two_rollouts_affect_different_triggers() {
        long both = IntStream.range(0, 10_000)
                .filter(key -> isIn(key, 50) && VersionRolloutBucket.isInRollout("wf_1:3", "key_" + key, 50))
                .count();
        assertTrue(both > 2_200 && both < 2_800, "of 10,000: " + both);
    }
}
