package dev.semel.server.files.yaml;

import dev.semel.error.SemelException;
import tools.jackson.databind.JsonNode;

/** A text with its parsed content, so that a series of edits parses each text once. */
public final class EditableYaml {
    private static final String BYTE_ORDER_MARK = "\uFEFF";

    private final String mark;
    private final YamlSourceMap positions;
    private final JsonNode content;

    private EditableYaml(String mark, YamlSourceMap positions) {
        this.mark = mark;
        this.positions = positions;
        this.content = positions.root().toJson();
    }

    /** @throws SemelException if the text is not valid YAML, with the position */
    public static EditableYaml of(String text) {
        String mark = text.startsWith(BYTE_ORDER_MARK) ? BYTE_ORDER_MARK : "";
        return new EditableYaml(mark, YamlSourceMap.of(text.substring(mark.length())));
    }

    /** Another text with the same byte order mark. */
    EditableYaml withText(String bare) {
        return new EditableYaml(mark, YamlSourceMap.of(bare));
    }

    public String text() {
        return mark + positions.text();
    }

    public YamlNode root() {
        return positions.root();
    }

    public YamlSourceText source() {
        return positions.source();
    }

    YamlSourceMap positions() {
        return positions;
    }

    /** Do not change it. */
    JsonNode content() {
        return content;
    }
}
