package dev.semel.server.files.yaml;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.error.SemelException;
import dev.semel.json.StrictJsonCodec;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** Each change touches what it is about, and not one character beside it. */
class FormatPreservingYamlEditorTest {
    private static final String FILE = """
        # A file.
        semel: 1
        steps:
          # the first
          - id: a            # why a
            set: { ok: true }

          # the second
          - id: b
            send:
              to: "x@y"      # quoted
              template: 'w'
            # inside of b
            idempotent:      # the dialog
              key: ${ key("b", input.id) }
              time: 12       # hours
              unit: hours
          - id: c
            set: { ok: false }
            # a thought about c
        output: { a: 1 }
        """;

    private static String set(String text, String path, String json) {
        return YamlTextEdits.set(text, List.of(path.split("\\.")), StrictJsonCodec.parse(json));
    }

    private static String remove(String text, String path) {
        return YamlTextEdits.remove(text, List.of(path.split("\\.")));
    }

    private static JsonNode read(String text) {
        return YamlSourceMap.of(text).root().toJson();
    }

    private static SemelException refused(Runnable edit) {
        return assertThrows(SemelException.class, edit::run);
    }

    @Test
    void a_value_is_replaced_in_place() {
        assertEquals(FILE.replace("time: 12       #", "time: 24       #"), set(FILE, "steps.1.idempotent.time", "24"));
        assertEquals(
                FILE.replace("key: ${ key(\"b\", input.id) }", "key: ${ input.email }"),
                set(FILE, "steps.1.idempotent.key", "\"${ input.email }\""));
    }

    @Test
    void quoting_style_is_kept() {
        assertEquals(FILE.replace("\"x@y\"", "\"a\\\"b\""), set(FILE, "steps.1.send.to", "\"a\\\"b\""));
        assertEquals(FILE.replace("'w'", "'it''s'"), set(FILE, "steps.1.send.template", "\"it's\""));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
        "plain words"      | plain words
        "a: b"             | 'a: b'
        "a #b"             | 'a #b'
        "it's: so"         | 'it''s: so'
        "true"             | 'true'
        "12"               | '12'
        ""                 | ''
        " x"               | ' x'
        "- x"              | '- x'
        "[x"               | '[x'
        "two\\nlines"      | "two\\nlines"
        "tab\\there"       | "tab\\there"
        "${ a ? b : c }"   | '${ a ? b : c }'
        "Größe 😀"          | Größe 😀
        12                 | 12
        2.50               | 2.50
        true               | true
        """)
    void a_value_is_written_in_the_simplest_valid_style(String value, String written) {
        String text = "a: 1 # one\nb: old # two\n";
        assertEquals("a: 1 # one\nb: " + written + " # two\n", set(text, "b", value));
    }

    @Test
    void a_missing_member_is_added_at_the_end_of_its_map() {
        assertEquals(
                FILE.replace("      unit: hours\n", "      unit: hours\n      on_change: suppress\n"),
                set(FILE, "steps.1.idempotent.on_change", "\"suppress\""));
        assertEquals(
                FILE.replace("    set: { ok: false }\n", "    set: { ok: false }\n    retry:\n      attempts: 3\n"),
                set(FILE, "steps.2.retry.attempts", "3"));
        assertEquals(
                FILE.replace("{ ok: true }", "{ ok: true, why: it is }"), set(FILE, "steps.0.set.why", "\"it is\""));
        assertEquals(FILE.replace("{ ok: true }", "{ ok: true, why: '}' }"), set(FILE, "steps.0.set.why", "\"}\""));
    }

    @Test
    void a_new_member_is_added_before_nested_steps() {
        String text = "steps:\n  - id: a\n    choose:\n      - else: true\n        steps:\n          - id: b\n";
        assertEquals(text.replace("- id: a\n", "- id: a\n    title: t\n"), set(text, "steps.0.title", "\"t\""));
    }

    @Test
    void an_empty_member_is_filled() {
        assertEquals("a: { b: 1 } # c\n", set("a: # c\n", "a.b", "1"));
        assertEquals("a: 1\nb: 2\n", set("a:\nb: 2\n", "a", "1"));
        assertEquals("a: { b: 1 }", set("a: {}", "a.b", "1"));
    }

    @Test
    void json_stays_json() {
        String text = "{\"semel\":1,\n \"steps\":[{\"id\":\"a\",\"set\":{\"ok\":true}}]}";
        String after = set(text, "steps.0.title", "\"t\"");
        assertEquals("{\"semel\":1,\n \"steps\":[{\"id\":\"a\",\"set\":{\"ok\":true}, \"title\": \"t\"}]}", after);
        assertEquals(read(after), StrictJsonCodec.parse(after));
        assertEquals(text.replace("\"a\"", "\"b\""), set(text, "steps.0.id", "\"b\""));
    }

    @Test
    void a_text_block_is_replaced_and_comments_and_later_lines_stay() {
        String text = "a: |   # note\n  one\n  two\n\n# behind\nb: 1\n";
        assertEquals("a: three  # note\n\n# behind\nb: 1\n", set(text, "a", "\"three\""));
        assertEquals("a: |   # note\n  one\n  two\nc: 3\n\n# behind\n", set(text.replace("b: 1\n", ""), "c", "3"));
    }

    @Test
    void line_endings_are_kept() {
        String text = FILE.replace("\n", "\r\n");
        String wanted = FILE.replace("      unit: hours\n", "      unit: hours\n      on_change: send\n");
        assertEquals(wanted.replace("\n", "\r\n"), set(text, "steps.1.idempotent.on_change", "\"send\""));
        assertEquals(
                FILE.replace("      time: 12       # hours\n", "").replace("\n", "\r\n"),
                remove(text, "steps.1.idempotent.time"));
        String swapped = YamlTextEdits.swap(text, List.of("steps"), 0);
        assertEquals(YamlTextEdits.swap(FILE, List.of("steps"), 0).replace("\n", "\r\n"), swapped);
    }

    @Test
    void wide_characters_and_a_byte_order_mark_shift_nothing() {
        assertEquals("\uFEFF# 😀😀\na: 2 # 😀\n", set("\uFEFF# 😀😀\na: 1 # 😀\n", "a", "2"));
        assertEquals("a: '😀' # x\nb: 😀\nc: ä\n", set("a: '😀' # x\nb: 😀\n", "c", "\"ä\""));
    }

    @Test
    void a_file_without_a_last_line_break_gets_none() {
        assertEquals("a: 1\nb: 2", set("a: 1", "b", "2"));
        assertEquals("a: 1", remove("a: 1\nb: 2", "b"));
    }

    @Test
    void a_member_is_removed_with_its_line_and_a_map_with_all_its_lines() {
        assertEquals(FILE.replace("      time: 12       # hours\n", ""), remove(FILE, "steps.1.idempotent.time"));
        String without = remove(FILE, "steps.1.idempotent");
        assertTrue(without.contains("    # inside of b\n  - id: c"), without);
        assertEquals(FILE.replace("{ ok: true }", "{  }"), remove(FILE, "steps.0.set.ok"));
        assertEquals("a: { c: 2 }\n", remove("a: { b: 1, c: 2 }\n", "a.b"));
        assertEquals("a: { b: 1 }\n", remove("a: { b: 1, c: 2 }\n", "a.c"));
        assertEquals("- b: 2\n", remove("- a: 1\n  b: 2\n", "0.a"));
        assertEquals(FILE, remove(FILE, "steps.1.retry"), "what is not there");
    }

    @Test
    void steps_are_moved_with_their_comments() {
        String swapped = YamlTextEdits.swap(FILE, List.of("steps"), 0);
        assertEquals("b", read(swapped).at("/steps/0/id").stringValue());
        assertEquals("a", read(swapped).at("/steps/1/id").stringValue());
        assertTrue(swapped.contains("steps:\n  # the second\n  - id: b\n"), swapped);
        assertTrue(swapped.contains("unit: hours\n\n  # the first\n  - id: a            # why a\n"), swapped);
        assertEquals(FILE, YamlTextEdits.swap(swapped, List.of("steps"), 0), "back again");
        String last = YamlTextEdits.swap(FILE, List.of("steps"), 1);
        assertTrue(last.contains("  - id: c\n    set: { ok: false }\n    # a thought about c\n"), last);
    }

    @Test
    void a_step_is_added_after_another_at_its_depth() {
        String item = "- id: n\n  set:\n    ok: true\n";
        assertEquals(
                FILE.replace(
                        "    set: { ok: true }\n", "    set: { ok: true }\n\n  - id: n\n    set:\n      ok: true\n"),
                YamlTextEdits.insertAfter(FILE, List.of("steps"), 0, item));
        assertEquals(
                FILE.replace("about c\n", "about c\n  - id: n\n    set:\n      ok: true\n"),
                YamlTextEdits.insertAfter(FILE, List.of("steps"), 2, item));
    }

    @Test
    void a_step_is_removed_with_its_comments_and_the_others_stay() {
        String without = YamlTextEdits.removeItem(FILE, List.of("steps"), 0);
        assertTrue(without.contains("steps:\n  # the second\n  - id: b\n"), without);
        assertTrue(
                YamlTextEdits.removeItem(FILE, List.of("steps"), 2).endsWith("      unit: hours\noutput: { a: 1 }\n"));
        String apart = "steps:\n  - id: a\n\n  # about nothing\n\n  - id: b\n";
        assertEquals(
                "steps:\n  - id: a\n\n  # about nothing\n\n", YamlTextEdits.removeItem(apart, List.of("steps"), 1));
    }

    @Test
    void an_unsupported_form_edit_is_rejected_with_a_reason() {
        assertTrue(refused(() -> set(FILE, "steps.1.send", "1")).detail().contains("more than one value"));
        assertTrue(refused(() -> set(FILE, "semel.x", "1")).detail().contains("its parent is not a map"));
        assertTrue(refused(() -> set(FILE, "steps.9.x", "1")).detail().contains("its parent is not a map"));
        assertTrue(refused(() -> set("a: &x 1\nb: *x\n", "b", "2")).detail().contains("anchors are not allowed"));
        assertTrue(refused(() -> set("a: [", "b", "2")).detail().contains("not valid YAML"));
        assertTrue(refused(() -> set("", "b", "2")).detail().contains("the file is empty"));
        assertTrue(refused(() -> set("a: 1\na: 2\n", "b", "2")).detail().contains("appears twice"));
        assertTrue(refused(() -> set("a: 1", "b", "{\"c\":1}")).detail().contains("only text"));
        assertTrue(refused(() -> remove("a: { b: 1, # about b\n  c: 2 }", "a.b"))
                .detail()
                .contains("there is a comment beside it"));
        String flow = "steps: [{id: a}, {id: b}]";
        assertEquals("steps: [{id: b}, {id: a}]", YamlTextEdits.swap(flow, List.of("steps"), 0));
        assertTrue(refused(() -> YamlTextEdits.removeItem("steps:\n- id: a\n", List.of("steps"), 0))
                .detail()
                .contains("the only item"));
        assertTrue(refused(() -> YamlTextEdits.swap(FILE, List.of("steps"), 2))
                .detail()
                .contains("no item at that index"));
        assertTrue(refused(() -> set(FILE, "steps.1.send", "1")).detail().contains("The text is unchanged"));
    }
}
