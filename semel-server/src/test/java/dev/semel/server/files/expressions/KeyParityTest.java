package dev.semel.server.files.expressions;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.semel.workflow.Key;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** The ledger is one for all workflows of a workspace, so a effect has the same key in a file and in Java. */
class KeyParityTest {
    static Stream<List<Object>> parts() {
        return Stream.of(
                List.of("receipt", "pay_1", "ann@example.org", "v3"),
                List.of("a:b", "c"),
                List.of("a", "b:c"),
                List.of("100%", "\u00e4 b", "\ud83d\ude00"),
                List.of("quote\"", "back\\slash", "line\n", "\u0000"),
                List.of("order", 7L, true),
                List.of("order", 100.0, 0.1, 1e25));
    }

    @ParameterizedTest
    @MethodSource("parts")
    void the_same_parts_make_the_same_key(List<Object> parts) throws Exception {
        String inFiles = ScopedValue.where(ExpressionEvaluationBudget.CURRENT, new ExpressionEvaluationBudget())
                .call(() -> ExpressionFunctions.key(parts));
        assertEquals(inFiles, Key.of(parts.toArray()).text());
    }
}
