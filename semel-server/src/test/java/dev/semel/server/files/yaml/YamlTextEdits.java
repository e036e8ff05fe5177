package dev.semel.server.files.yaml;

import java.util.List;
import tools.jackson.databind.JsonNode;

/** The edits of {@link FormatPreservingYamlEditor} from text to text. */
final class YamlTextEdits {
    private YamlTextEdits() {}

    static String set(String text, List<String> path, JsonNode value) {
        return FormatPreservingYamlEditor.of(text).set(path, value).text();
    }

    static String remove(String text, List<String> path) {
        return FormatPreservingYamlEditor.of(text).remove(path).text();
    }

    static String insertAfter(String text, List<String> list, int index, String item) {
        return FormatPreservingYamlEditor.of(text)
                .insertAfter(list, index, item)
                .text();
    }

    static String swap(String text, List<String> list, int index) {
        return FormatPreservingYamlEditor.of(text).swap(list, index).text();
    }

    static String removeItem(String text, List<String> list, int index) {
        return FormatPreservingYamlEditor.of(text).removeItem(list, index).text();
    }
}
