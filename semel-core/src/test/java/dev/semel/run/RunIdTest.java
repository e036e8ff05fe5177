package dev.semel.run;

import static org.junit.jupiter.api.Assertions.assertArrayEquals;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.math.BigInteger;
import java.util.Arrays;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.Test;

/** Ids as text and bytes: nothing is lost, and all three sort alike. */
final class RunIdTest {
    private static final long SEED = Long.getLong("seed", 20_261_115L);

    private static final long[] EDGES = {
        0, 1, -1, Long.MIN_VALUE, Long.MAX_VALUE, 61, 62, 0xFFFFFFFFL, 0x100000000L, 0x7FFFFFFFL, 0x80000000L
    };

    private static RunId random(Random random) {
        long high = random.nextBoolean() ? EDGES[random.nextInt(EDGES.length)] : random.nextLong();
        long low = random.nextBoolean() ? EDGES[random.nextInt(EDGES.length)] : random.nextLong();
        return new RunId(high, low);
    }

    @Test
    void text_and_bytes_convert_back_to_the_same_id() {
        Random random = new Random(SEED);
        for (int i = 0; i < 20_000; i++) {
            RunId id = random(random);
            assertEquals(id, RunId.parse(id.text()), "seed " + SEED);
            assertEquals(id, RunId.of(id.bytes()), "seed " + SEED);
            assertEquals(26, id.text().length());
            assertEquals(id.text(), id.toString());
        }
    }

    @Test
    void ids_texts_and_bytes_sort_alike() {
        Random random = new Random(SEED);
        for (int i = 0; i < 20_000; i++) {
            RunId a = random(random);
            RunId b = random(random);
            int order = Integer.signum(a.compareTo(b));
            assertEquals(order, Integer.signum(a.text().compareTo(b.text())), a + " " + b + " seed " + SEED);
            assertEquals(order, Integer.signum(Arrays.compareUnsigned(a.bytes(), b.bytes())), "seed " + SEED);
        }
    }

    @Test
    void the_text_is_the_number_in_base_62() {
        Random random = new Random(SEED);
        String digits = "0123456789ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz";
        for (int i = 0; i < 2_000; i++) {
            RunId id = random(random);
            BigInteger value = BigInteger.ZERO;
            for (char c : id.text().substring(4).toCharArray()) {
                value = value.multiply(BigInteger.valueOf(62)).add(BigInteger.valueOf(digits.indexOf(c)));
            }
            assertEquals(new BigInteger(1, id.bytes()), value, "seed " + SEED);
        }
    }

    @Test
    void ids_of_a_period_lie_between_its_bounds_with_clocks_off_by_two_hours() {
        long then = 1_794_830_400_000_000L;
        long wrong = 2L * 60 * 60 * 1_000_000;
        for (long by : new long[] {-wrong, 0, wrong}) {
            RunId made = new RunId((then + by) << 12, 7);
            assertTrue(RunId.lowerBoundAt(then).compareTo(made) < 0);
            assertTrue(RunId.upperBoundAt(then + 1).compareTo(made) > 0);
        }
        assertTrue(RunId.upperBoundAt(Long.MAX_VALUE).compareTo(new RunId((then + wrong) << 12, 7)) > 0);
        assertEquals(new RunId(0, 0), RunId.lowerBoundAt(1));
    }

    @Test
    void other_texts_are_not_ids() {
        String largest = new RunId(-1, -1).text();
        assertEquals("run_7n42DGM5Tflk9n8mt7Fhc7", largest);
        for (String text : List.of(
                "",
                "run_",
                "run_0",
                "RUN_0000000000000000000000",
                "run-0000000000000000000000",
                "run_000000000000000000000",
                "run_00000000000000000000000",
                "run_000000000000000000000-",
                "run_000000000000000000000é",
                "run_000000000000000000000\u0080",
                "run_7n42DGM5Tflk9n8mt7Fhc8",
                "run_zzzzzzzzzzzzzzzzzzzzzz")) {
            assertNull(RunId.parse(text), text);
        }
    }

    @Test
    void bytes_of_another_length_are_rejected() {
        for (int length : new int[] {0, 15, 17}) {
            var refused = assertThrows(IllegalArgumentException.class, () -> RunId.of(new byte[length]));
            assertTrue(String.valueOf(refused.getMessage()).contains(String.valueOf(length)));
        }
        assertArrayEquals(new byte[16], new RunId(0, 0).bytes());
    }

    @Test
    void a_step_id_depends_only_on_lineage_and_path() {
        RunId lineage = new RunId(1, 2);
        assertEquals(StepId.of(lineage, "pay"), StepId.of(new RunId(1, 2), "pay"));
        assertNotEquals(StepId.of(lineage, "pay"), StepId.of(lineage, "pay2"));
        assertNotEquals(StepId.of(lineage, "pay"), StepId.of(new RunId(1, 3), "pay"));
        assertTrue(StepId.of(lineage, "pay").text().matches("step_[0-9A-Za-z]{22}"));
    }
}
