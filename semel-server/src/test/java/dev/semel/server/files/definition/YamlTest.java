package dev.semel.server.files.definition;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.json.StrictJsonCodec;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.MethodSource;

class YamlTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
        no          | "no"
        on          | "on"
        Yes         | "Yes"
        1_000       | "1_000"
        12:30:45    | "12:30:45"
        2024-01-01  | "2024-01-01"
        0b1         | "0b1"
        0o7         | 7
        0xff        | 255
        +5          | 5
        .5          | 0.5
        1e3         | 1E+3
        1.10        | 1.10
        123456789012345678901234567890 | 123456789012345678901234567890
        True        | true
        ~           | null
        '5'         | "5"
        "no"        | "no"
        [a, 1]      | ["a",1]
        """)
    void a_plain_scalar_means_what_the_core_schema_says(String written, String meant) {
        assertEquals(meant, StrictJsonCodec.write(DefinitionFixtures.output(written, "{}")));
    }

    @Test
    void json_is_read_as_yaml() {
        WorkflowDefinition definition = WorkflowDefinition.compile("""
            {"semel":1,
            \t"workflow":"w", "owner":"\\ud83d\\ude00\\/\\u00e4",
            \t"steps":[{"id":"note","set":{"ok":true}}],"output":{"a":"${ steps.note.ok }"}}\
            """);
        assertEquals("😀/ä", definition.owner());
        assertEquals("{\"a\":true}", StrictJsonCodec.write(DefinitionFixtures.run(definition, "{}")));
    }

    @Test
    void a_byte_order_mark_is_not_part_of_the_file() {
        assertEquals(
                "w",
                WorkflowDefinition.compile("\uFEFF" + DefinitionFixtures.with(""))
                        .name());
        assertEquals(
                8,
                DefinitionFixtures.only("\uFEFFsemel: 2\nworkflow: w\n" + DefinitionFixtures.STEP)
                        .column());
    }

    static Stream<Arguments> hostile() {
        String bomb = "a: &a [x,x,x,x,x,x,x,x,x,x]\n"
                + "b: &b [*a,*a,*a,*a,*a,*a,*a,*a,*a,*a]\nc: &c [*b,*b,*b,*b,*b,*b,*b,*b,*b,*b]\n";
        return Stream.of(
                Arguments.of(
                        "title: !!javax.script.ScriptEngineManager [x]",
                        1,
                        8,
                        "tags (!…) are not allowed; remove the tag."),
                Arguments.of("title: !local x", 1, 8, "tags (!…) are not allowed; remove the tag."),
                Arguments.of("!!map {a: 1}", 1, 1, "tags (!…) are not allowed; remove the tag."),
                Arguments.of("!x a: 1", 1, 1, "tags (!…) are not allowed; remove the tag."),
                Arguments.of(bomb, 1, 4, "anchors are not allowed; write the value where it is used."),
                Arguments.of("a: " + "*a ".repeat(50_000), 1, 4, "aliases are not allowed; write the value here."),
                Arguments.of("*a : 1", 1, 1, "aliases are not allowed; write the value here."),
                Arguments.of("a: [" + "*b,".repeat(80_000), 1, 5, "aliases are not allowed; write the value here."),
                Arguments.of(
                        "a: 1\n---\nb: 2",
                        3,
                        1,
                        "a file must have one YAML document; this is a second one. Use one file per workflow."),
                Arguments.of("? [a]\n: b", 1, 3, "the name of a field must be text."),
                Arguments.of("a: " + "[".repeat(100_000), 1, 35, "values may have at most 32 nested levels."),
                Arguments.of("- ".repeat(50_000) + "x", 1, 65, "values may have at most 32 nested levels."),
                Arguments.of(
                        "[" + "1,".repeat(100_000) + "]", 1, 40_000, "a workflow file may have at most 20000 values."),
                Arguments.of("x".repeat(1024 * 1024), 1, 1, "a workflow file may have at most 256 KiB."),
                Arguments.of("ä".repeat(150_000), 1, 1, "a workflow file may have at most 256 KiB."),
                Arguments.of("title: a\u0001b", 1, 9, "the character U+0001 is not allowed."),
                Arguments.of("", 1, 1, "the file is empty."),
                Arguments.of("# nothing", 1, 1, "the file is empty."),
                Arguments.of("[1]", 1, 1, "the file must be a map, not a list."),
                Arguments.of("hello", 1, 1, "the file must be a map, not text."));
    }

    @ParameterizedTest
    @MethodSource("hostile")
    void a_hostile_file_is_rejected_where_it_turns_hostile(String text, int line, int column, String message) {
        var mistake = DefinitionFixtures.only(text);
        assertEquals(message, mistake.message());
        assertEquals(line + ":" + column, mistake.line() + ":" + mistake.column());
    }

    @Test
    void tabs_do_not_indent() {
        var mistake = DefinitionFixtures.only("semel: 1\ntrigger:\n\thttp: {}\n");
        assertEquals("3:1", mistake.line() + ":" + mistake.column());
        assertTrue(mistake.message().startsWith("the text is not valid YAML: "), mistake.message());
    }

    @Test
    void a_missing_quote_around_an_expression_is_reported() {
        var mistake = DefinitionFixtures.only(
                DefinitionFixtures.with(DefinitionFixtures.STEP + "output: ${ input.a ? 1 : 2 }\n"));
        assertEquals("6:24", mistake.line() + ":" + mistake.column());
        assertTrue(mistake.message().endsWith("Put quotes around an expression that contains ': ', '#' or braces."));
    }

    @Test
    void text_that_a_store_cannot_hold_is_rejected() {
        String message = "text must not contain NUL or half of a surrogate pair.";
        assertEquals(
                message,
                DefinitionFixtures.only(DefinitionFixtures.with("title: \"a\\0b\"\n"))
                        .message());
        assertEquals(
                message,
                DefinitionFixtures.only(DefinitionFixtures.with("title: \"a\\ud800b\"\n"))
                        .message());
    }

    @ParameterizedTest
    @CsvSource({".inf", ".NaN", "1e999999999", "1e99999999999", "-1e401"})
    void a_number_that_json_cannot_carry_is_rejected(String number) {
        assertEquals(
                9,
                DefinitionFixtures.only(DefinitionFixtures.with(DefinitionFixtures.STEP + "output: " + number + "\n"))
                        .column());
    }

    @Test
    void a_very_long_number_is_rejected() {
        String digits = "9".repeat(101);
        assertTrue(
                DefinitionFixtures.only(DefinitionFixtures.with(DefinitionFixtures.STEP + "output: " + digits + "\n"))
                        .message()
                        .contains("100 characters"));
    }
}
