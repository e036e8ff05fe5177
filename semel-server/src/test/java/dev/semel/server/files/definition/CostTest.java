package dev.semel.server.files.definition;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.MethodSource;

/** Each of these would run for hours or fill the memory if nothing bounded it; here it ends with a reason. */
class CostTest {
    private static final String SHARED = "[1]" + ".map(x,[x,x])".repeat(55);

    static Stream<String> bombs() {
        return Stream.of(
                "[\"aaaaaaaaaaaaaaaa\"]" + ".map(x, x+x)".repeat(55),
                "[[1]]" + ".map(x, x+x)".repeat(55),
                SHARED,
                SHARED + " == " + SHARED,
                SHARED + " in [" + SHARED + "] || " + SHARED + " != " + SHARED,
                "{\"a\":" + SHARED + "} == {\"a\":" + SHARED + "}",
                "default(" + SHARED + ", 1) ? 1 : 2",
                "default(" + SHARED + ", 1) && true",
                "{\"a\":1}[default(" + SHARED + ",1)]",
                "{default(" + SHARED + ",1): 1}",
                "default(" + SHARED + ",1)[99]",
                "json(" + SHARED + ")",
                nested());
    }

    private static String nested() {
        var loops = new StringBuilder("[[1]]");
        for (int i = 0; i < 20; i++) {
            loops.append(".exists(x%d, [[x%d,x%d,x%d]]".formatted(i, i, i, i));
        }
        return loops + ".exists(y, default(y,1) ? true : false)" + ")".repeat(20);
    }

    @ParameterizedTest
    @MethodSource("bombs")
    void a_value_that_doubles_in_every_loop_ends_at_the_cost_limit(String expression) {
        String detail = DefinitionFixtures.failure("'${ " + expression + " }'", "{}");
        assertTrue(detail.contains("because it needs more computation steps than allowed"), detail);
    }

    @Test
    void loops_inside_loops_end_at_the_iteration_limit() {
        String ten = "[1,2,3,4,5,6,7,8,9,10]";
        String loops = ten + ".map(a," + ten + ".map(b," + ten + ".map(c," + ten + ".map(d," + ten + ".map(e,1)))))";
        assertTrue(DefinitionFixtures.failure("'${ " + loops + " }'", "{}")
                .contains("it needs more than 10000 iterations"));
    }

    @Test
    void a_search_in_hostile_text_ends_at_the_budget() {
        String input = "{\"a\":\"" + "a".repeat(400_000) + "\",\"b\":\"" + "a".repeat(200_000) + "b\"}";
        assertTrue(DefinitionFixtures.failure("'${ input.a.contains(input.b) }'", input)
                .contains("it needs more computation steps than allowed"));
    }

    static Stream<String> tooDeep() {
        return Stream.of(
                "(".repeat(500) + "1" + ")".repeat(500),
                "1" + "+1".repeat(1900),
                "[".repeat(500) + "]".repeat(500),
                "input" + ".a".repeat(1900),
                "true ? 1 : ".repeat(300) + "1",
                "x".repeat(5000));
    }

    @ParameterizedTest
    @MethodSource("tooDeep")
    void an_expression_too_deep_or_too_long_is_rejected_at_publish(String expression) {
        String message = DefinitionFixtures.only(
                        DefinitionFixtures.with(DefinitionFixtures.STEP + "output: '${ " + expression + " }'\n"))
                .message();
        assertTrue(message.contains("recursion limit") || message.contains("4 KiB"), message);
    }

    @Test
    void a_file_has_a_limited_number_of_expressions() {
        var mistake = DefinitionFixtures.only(DefinitionFixtures.with(
                "output: [" + "'${ 1 + 1 }',".repeat(1_001) + "1]\n" + DefinitionFixtures.STEP));
        assertEquals("a file may have at most 1000 expressions.", mistake.message());
    }

    @Test
    void a_result_of_more_than_256_kib_is_rejected() {
        String input = "{\"a\":\"" + "a".repeat(50_000) + "\"}";
        assertEquals(
                50_000,
                DefinitionFixtures.output("${ input.a }", input).stringValue().length());
        String many = "[" + "'${ input.a }',".repeat(6) + "1]";
        assertTrue(DefinitionFixtures.failure(many, input).contains("its result is larger than 256 KiB"));
        assertTrue(DefinitionFixtures.failure("'" + "${ input.a }".repeat(6) + "'", input)
                .contains("larger than 256 KiB"));
    }

    @Test
    void long_lists_within_the_limits_are_accepted() {
        String input = "{\"l\":[" + "1,".repeat(8_999) + "1]}";
        assertEquals(
                9_000,
                DefinitionFixtures.output("${ map(input.l, x, x + 1) }", input).size());
        assertEquals(
                9_000, DefinitionFixtures.output("${ size(input.l) }", input).intValue());
    }
}
