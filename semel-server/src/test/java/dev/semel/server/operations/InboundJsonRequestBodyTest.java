package dev.semel.server.operations;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.semel.error.SemelException;
import dev.semel.server.http.CpuWorkPool;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import org.junit.jupiter.api.Test;

class InboundJsonRequestBodyTest {
    @Test
    void large_bodies_are_parsed_on_threads_of_their_own() {
        assertEquals(
                30_000, InboundJsonRequestBody.parseBytes(list(30_000, "]")).size());
        assertEquals(true, isParsedOnPool(list(30_000, "?")));
        assertEquals(false, isParsedOnPool(list(3_000, "?")));
    }

    private static byte[] list(int zeros, String end) {
        return ("[" + "0,".repeat(zeros - 1) + "0" + end).getBytes(StandardCharsets.UTF_8);
    }

    /** The error of the parser shows the thread that it came from. */
    private static boolean isParsedOnPool(byte[] malformed) {
        SemelException error = assertThrows(SemelException.class, () -> InboundJsonRequestBody.parseBytes(malformed));
        return Arrays.stream(error.getStackTrace())
                .anyMatch(frame -> frame.getClassName().equals(CpuWorkPool.class.getName()));
    }
}
