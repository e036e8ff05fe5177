package dev.semel.json;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.List;
import org.junit.jupiter.api.Test;

class SizeLimitsTest {
    private static final SizeLimits OK = SizeLimits.DEFAULT;

    /** The default limits with one of them changed, and the two names that the error must contain. */
    private record Contradiction(String part, String whole, int position, int value) {}

    @Test
    void limits_that_contradict_each_other_are_rejected_with_both_names() {
        for (Contradiction one : List.of(
                new Contradiction("expressionResult", "stepResult", 0, OK.stepResult() + 1),
                new Contradiction("digestItems", "stepResult", 4, OK.stepResult() + 1),
                new Contradiction("digestItems", "digestDocument", 5, OK.digestItems() + 1_000),
                new Contradiction("effectKey", "expressionResult", 6, OK.expressionResult() + 1),
                new Contradiction("stepResult", "runOutput", 3, OK.stepResult() - 1),
                new Contradiction("stepResult", "commitBatch", 10, OK.stepResult() - 1),
                new Contradiction("bufferedResults", "commitBatch", 2, OK.commitBatch() + 1),
                new Contradiction("runOutput", "commitBatch", 3, OK.commitBatch() + 1),
                new Contradiction("workflowFile", "requestBody", 7, OK.requestBody() + 1),
                new Contradiction("requestBody", "batchRequestBody", 9, OK.requestBody() - 1),
                new Contradiction("requestBody", "commitBatch", 8, OK.commitBatch() + 1),
                new Contradiction("digestItems", "stepResult", 4, 0))) {
            int[] sizes = sizes(OK);
            sizes[one.position()] = one.value();
            String message = String.valueOf(assertThrows(IllegalArgumentException.class, () -> limits(sizes))
                    .getMessage());
            assertTrue(message.contains(one.part()) && message.contains(one.whole()), one + ": " + message);
        }
        assertEquals(OK, limits(sizes(OK)));
    }

    @Test
    void a_part_may_be_as_large_as_its_whole_and_as_small_as_one() {
        int[] sizes = sizes(OK);
        sizes[0] = OK.stepResult();
        sizes[6] = 1;
        assertEquals(1, limits(sizes).effectKey());
        sizes[6] = OK.stepResult();
        assertEquals(OK.stepResult(), limits(sizes).effectKey());
    }

    @Test
    void a_limit_is_shown_in_kibibytes() {
        assertEquals("256 KiB", SizeLimits.inKibibytes(OK.stepResult()));
        assertEquals("1024 KiB", SizeLimits.inKibibytes(OK.requestBody()));
    }

    private static int[] sizes(SizeLimits from) {
        return new int[] {
            from.expressionResult(),
            from.stepResult(),
            from.bufferedResults(),
            from.runOutput(),
            from.digestItems(),
            from.digestDocument(),
            from.effectKey(),
            from.workflowFile(),
            from.requestBody(),
            from.batchRequestBody(),
            from.commitBatch(),
            from.unreadSignals()
        };
    }

    private static SizeLimits limits(int[] sizes) {
        return new SizeLimits(
                sizes[0], sizes[1], sizes[2], sizes[3], sizes[4], sizes[5], sizes[6], sizes[7], sizes[8], sizes[9],
                sizes[10], sizes[11]);
    }
}
