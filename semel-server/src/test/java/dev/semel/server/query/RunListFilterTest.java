package dev.semel.server.query;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.semel.error.SemelException;
import dev.semel.run.RunState;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;

final class RunListFilterTest {
    @ParameterizedTest
    @ValueSource(
            strings = {
                "failed_since:1h status:completed",
                "status:completed failed_since:1h",
                "ended_since:1h status:waiting",
                "status:in_doubt ended_since:1h"
            })
    void terms_that_no_run_can_meet_are_rejected(String text) {
        SemelException refused = assertThrows(SemelException.class, () -> RunListFilter.parse(text));
        assertEquals(400, refused.code().status());
    }

    @Test
    void terms_that_fit_each_other_are_accepted() {
        assertEquals(RunState.FAILED, RunListFilter.parse("failed_since:1h").state());
        assertEquals(
                RunState.FAILED,
                RunListFilter.parse("status:failed failed_since:1h").state());
        assertEquals(
                RunState.COMPLETED,
                RunListFilter.parse("status:completed ended_since:1h").state());
        assertEquals(
                RunState.WAITING, RunListFilter.parse("status:waiting since:1h").state());
    }
}
