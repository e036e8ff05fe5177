package dev.semel.server.files.yaml;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.error.SemelException;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import java.util.stream.Collectors;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Files and changes from seeds: what is read afterwards is the change that was meant, and no other line has moved. */
class YamlEditSeedsTest {
    private static final int SEEDS = 1_000;
    private static final List<String> WORDS = List.of(
            "plain",
            "two words",
            "a: b",
            "x # y",
            "it's",
            "say \"so\"",
            "${ key(\"a\", input.id) }",
            "${ a ? b : c }",
            "true",
            "007",
            "",
            "ä😀",
            "- dash",
            "{brace}",
            "a, b",
            "line\nbreak",
            "50%",
            "@at",
            "null",
            "~");

    /** Writes a file as somebody might have. */
    private static final class Author {
        private final Random random;
        private final StringBuilder out = new StringBuilder();

        Author(Random random) {
            this.random = random;
        }

        String file() {
            comment(0);
            line(0, "semel: 1" + aside());
            line(0, "steps:" + aside());
            int steps = 1 + random.nextInt(4);
            for (int i = 0; i < steps; i++) {
                step(2, "s" + i, 0);
            }
            if (random.nextBoolean()) {
                line(0, "output: { a: 1 }" + aside());
            }
            String text = out.toString();
            text = random.nextInt(4) == 0 ? text.stripTrailing() : text;
            return random.nextInt(4) == 0 ? text.replace("\n", "\r\n") : text;
        }

        private void step(int indent, String id, int depth) {
            if (random.nextInt(3) == 0) {
                out.append('\n');
            }
            comment(indent);
            if (random.nextInt(6) == 0) {
                line(indent, "- { id: " + id + ", time: 1, why: " + quoted("w") + " }" + aside());
                return;
            }
            line(indent, "- id: " + id + aside());
            if (random.nextBoolean()) {
                line(indent + 2, "why: " + quoted(WORDS.get(random.nextInt(WORDS.size()))) + aside());
            }
            comment(indent + 2);
            switch (random.nextInt(5)) {
                case 0 -> {
                    line(indent + 2, "once:" + aside());
                    line(indent + 4, "key: " + quoted("k") + aside());
                    comment(indent + 4);
                    line(indent + 4, "time: 12" + aside());
                }
                case 1 -> line(indent + 2, "once: { key: " + quoted("k") + ", time: 12 }" + aside());
                case 2 -> {
                    line(indent + 2, "sql: |" + aside());
                    line(indent + 4, "SELECT 1");
                    line(indent + 4, "  FROM x # no comment");
                }
                case 3 -> line(indent + 2, "once:" + aside());
                default -> {}
            }
            if (depth < 2 && random.nextInt(4) == 0) {
                line(indent + 2, "steps:" + aside());
                step(indent + 4, id + "x", depth + 1);
                step(indent + 4, id + "y", depth + 1);
            }
        }

        private String quoted(String word) {
            return switch (random.nextInt(3)) {
                case 0 -> "'" + word.replace("'", "''").replace("\n", " ") + "'";
                case 1 ->
                    "\"" + word.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n") + "\"";
                default ->
                    word.matches("[a-z]+( [a-z]+)?")
                            ? word
                            : "'" + word.replace("'", "''").replace("\n", " ") + "'";
            };
        }

        private String aside() {
            return random.nextInt(3) == 0 ? "   # note " + random.nextInt(1_000_000) : "";
        }

        private void comment(int indent) {
            if (random.nextInt(4) == 0) {
                line(indent, "# remark " + random.nextInt(1_000_000));
            }
        }

        private void line(int indent, String text) {
            out.append(" ".repeat(indent)).append(text).append('\n');
        }
    }

    private static JsonNode read(String text) {
        return YamlSourceMap.of(text).root().toJson();
    }

    private static List<String> lines(String text) {
        return text.lines().toList();
    }

    /** Whether all but so many lines of one text stand before and behind the one place where the other differs. */
    private static boolean keeps(List<String> before, List<String> after, int lost) {
        int shorter = Math.min(before.size(), after.size());
        int head = 0;
        while (head < shorter && before.get(head).equals(after.get(head))) {
            head++;
        }
        int tail = 0;
        while (tail < shorter - head
                && before.get(before.size() - 1 - tail).equals(after.get(after.size() - 1 - tail))) {
            tail++;
        }
        return before.size() - head - tail <= lost;
    }

    private static JsonNode word(Random random) {
        return random.nextInt(4) == 0
                ? JsonNodeFactory.instance.numberNode(random.nextInt(100))
                : JsonNodeFactory.instance.stringNode(WORDS.get(random.nextInt(WORDS.size())));
    }

    @Test
    void a_written_field_is_read_back_and_no_other_line_changes() {
        for (int seed = 0; seed < SEEDS; seed++) {
            Random random = new Random(seed);
            String text = new Author(random).file();
            JsonNode before = read(text);
            int step = random.nextInt(before.path("steps").size());
            String field = List.of("why", "time", "once.key", "once.time", "once.unit", "id", "deep.er.still")
                    .get(random.nextInt(7));
            JsonNode value = word(random);
            List<String> path = new ArrayList<>(List.of("steps", String.valueOf(step)));
            path.addAll(List.of(field.split("\\.")));
            JsonNode wanted = before.deepCopy();
            JsonNode at = wanted.path("steps").path(step);
            for (String name : path.subList(2, path.size() - 1)) {
                at = at.get(name) instanceof ObjectNode map ? map : ((ObjectNode) at).putObject(name);
            }
            ((ObjectNode) at).set(path.getLast(), value);
            String after = YamlTextEdits.set(text, path, value);
            assertEquals(wanted, read(after), () -> text + "\n---\n" + after);
            assertTrue(keeps(lines(text), lines(after), 1), () -> text + "\n---\n" + after);
            assertEquals(text.contains("\r\n"), after.contains("\r\n"));
            assertEquals(notes(text), notes(after), "comments");
        }
    }

    private static List<String> notes(String text) {
        return Stream.of(text.split("(?=# (?:note|remark))"))
                .filter(part -> part.startsWith("# "))
                .map(part -> part.replaceAll("(?s)(# [a-z]+ [0-9]+).*", "$1"))
                .collect(Collectors.toList());
    }

    @Test
    void a_removed_field_is_gone_and_other_lines_stay() {
        int refused = 0;
        for (int seed = 0; seed < SEEDS; seed++) {
            Random random = new Random(seed);
            String text = new Author(random).file();
            JsonNode wanted = read(text).deepCopy();
            int step = random.nextInt(wanted.path("steps").size());
            String field = List.of("why", "once", "sql", "time").get(random.nextInt(4));
            ((ObjectNode) wanted.path("steps").path(step)).remove(field);
            try {
                String after = YamlTextEdits.remove(text, List.of("steps", String.valueOf(step), field));
                assertEquals(wanted, read(after), () -> text + "\n---\n" + after);
                assertTrue(keeps(lines(after), lines(text), 1), () -> text + "\n---\n" + after);
            } catch (SemelException e) {
                refused++;
            }
        }
        assertTrue(refused < SEEDS / 100, refused + " of " + SEEDS + " were refused");
    }

    @Test
    void steps_are_moved_added_and_removed_without_changing_other_lines() {
        for (int seed = 0; seed < SEEDS; seed++) {
            Random random = new Random(seed);
            String text = new Author(random).file();
            JsonNode wanted = read(text).deepCopy();
            ArrayNode steps = (ArrayNode) wanted.path("steps");
            int step = random.nextInt(steps.size());
            List<String> list = List.of("steps");
            String after;
            if (random.nextBoolean() && step + 1 < steps.size()) {
                after = YamlTextEdits.swap(text, list, step);
                steps.insert(step, steps.remove(step + 1));
                assertEquals(
                        lines(text).stream().sorted().toList(),
                        lines(after).stream().sorted().toList());
                assertEquals(text, YamlTextEdits.swap(after, list, step), "back again");
            } else if (random.nextBoolean() && steps.size() > 1) {
                after = YamlTextEdits.removeItem(text, list, step);
                steps.remove(step);
                assertTrue(keeps(lines(after), lines(text), 0), () -> text + "\n---\n" + after);
            } else {
                after = YamlTextEdits.insertAfter(text, list, step, "- id: fresh\n  set:\n    ok: true\n");
                steps.insertObject(step + 1).put("id", "fresh").putObject("set").put("ok", true);
                assertTrue(keeps(lines(text), lines(after), 0), () -> text + "\n---\n" + after);
            }
            assertEquals(wanted, read(after), () -> text + "\n---\n" + after);
        }
    }
}
