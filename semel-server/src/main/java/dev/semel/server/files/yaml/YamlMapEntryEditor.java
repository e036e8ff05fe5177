package dev.semel.server.files.yaml;

import dev.semel.json.StrictJsonCodec;
import dev.semel.server.files.yaml.YamlScalarWriter.QuotingStyle;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** Writes or removes one entry of a YAML map; each result is the whole text of the file. */
record YamlMapEntryEditor(YamlSourceMap yaml, List<String> path) {
    private static final Pattern PLAIN_NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_]*");
    private static final int STEP_IN = 2;

    /** Candidate texts with the value written, the best first. */
    List<String> candidatesWith(JsonNode value) {
        YamlNode there = yaml.find(path);
        if (there instanceof YamlNode.ScalarNode scalar) {
            return replaced(scalar, value);
        }
        if (there != null) {
            throw FormatPreservingYamlEditor.editRejected(path, "it holds more than one value");
        }
        int depth = path.size() - 1;
        while (yaml.find(path.subList(0, depth)) == null) {
            depth--;
        }
        YamlNode yamlNode = yaml.find(path.subList(0, depth));
        List<String> missing = path.subList(depth, path.size());
        if (yamlNode instanceof YamlNode.MapNode map) {
            return yaml.isFlow(map) ? addedInBrackets(map, missing, value) : addedBelow(map, missing, value);
        }
        if (yamlNode instanceof YamlNode.ScalarNode nothing && nothing.value().isNull()) {
            return filled(nothing, missing, value);
        }
        throw FormatPreservingYamlEditor.editRejected(path, "its parent is not a map");
    }

    private List<String> replaced(YamlNode.ScalarNode scalar, JsonNode value) {
        int start = yaml.start(scalar);
        int end = yaml.end(scalar);
        String before = yaml.between(start, end);
        QuotingStyle style = QuotingStyle.of(before);
        // The header of a block scalar may have a comment, which is not part of the text.
        int mark = style == QuotingStyle.BLOCK
                ? before.lines().findFirst().orElse("").indexOf(" #")
                : -1;
        String comment =
                mark < 0 ? "" : " " + before.lines().findFirst().orElse("").substring(mark);
        return YamlScalarWriter.candidates(value, style).stream()
                .map(way -> yaml.replace(start, end, (before.isEmpty() ? gap(start) : "") + way + comment))
                .toList();
    }

    private String gap(int at) {
        return at > 0 && Character.isWhitespace(yaml.text().charAt(at - 1)) ? "" : " ";
    }

    /** A name without a value gets a small map in brackets. */
    private List<String> filled(YamlNode nothing, List<String> missing, JsonNode value) {
        int start = yaml.start(nothing);
        int end = yaml.end(nothing);
        return YamlScalarWriter.candidates(value, QuotingStyle.PLAIN).stream()
                .map(way -> yaml.replace(start, end, gap(start) + "{ " + inBrackets(missing, way, false) + " }"))
                .toList();
    }

    private List<String> addedInBrackets(YamlNode.MapNode map, List<String> missing, JsonNode value) {
        YamlNode.MapEntry last = last(map);
        int at = last == null ? yaml.start(map) + 1 : yaml.end(last.value());
        boolean json = last != null
                && yaml.text().charAt(yaml.charOffset(last.nameRange().start())) == '"';
        return YamlScalarWriter.candidates(value, json ? QuotingStyle.DOUBLE : QuotingStyle.PLAIN).stream()
                .map(way -> yaml.replace(
                        at,
                        at,
                        last == null
                                ? " " + inBrackets(missing, way, json) + " "
                                : ", " + inBrackets(missing, way, json)))
                .toList();
    }

    private static String inBrackets(List<String> names, String way, boolean json) {
        String written = way;
        for (int i = names.size() - 1; i >= 0; i--) {
            String name = name(names.get(i), json);
            written = name + ": " + (i == names.size() - 1 ? written : "{ " + written + " }");
        }
        return written;
    }

    private static String name(String name, boolean json) {
        return !json && PLAIN_NAME.matcher(name).matches()
                ? name
                : StrictJsonCodec.write(JsonNodeFactory.instance.stringNode(name));
    }

    /** On new lines after the last entry, but before nested steps, which may be long. */
    private List<String> addedBelow(YamlNode.MapNode map, List<String> missing, JsonNode value) {
        List<YamlNode.MapEntry> members = List.copyOf(map.members().values());
        int behind = members.size() - 1;
        while (behind > 0 && members.get(behind).value() instanceof YamlNode.ListNode items && !yaml.isFlow(items)) {
            behind--;
        }
        int at = yaml.lineEnd(yaml.end(members.get(behind).value()));
        int indent = yaml.column(yaml.start(map));
        return YamlScalarWriter.candidates(value, QuotingStyle.PLAIN).stream()
                .map(way -> yaml.replace(at, at, below(missing, way, indent)))
                .toList();
    }

    private String below(List<String> names, String way, int indent) {
        StringBuilder lines = new StringBuilder();
        for (int i = 0; i < names.size(); i++) {
            lines.append(yaml.newline())
                    .append(" ".repeat(indent + STEP_IN * i))
                    .append(name(names.get(i), false))
                    .append(i == names.size() - 1 ? ": " + way : ":");
        }
        return lines.toString();
    }

    List<String> candidatesWithout() {
        if (!(yaml.find(path.subList(0, path.size() - 1)) instanceof YamlNode.MapNode map)) {
            throw FormatPreservingYamlEditor.editRejected(path, "its parent is not a map");
        }
        List<Map.Entry<String, YamlNode.MapEntry>> members =
                new ArrayList<>(map.members().entrySet());
        int index = 0;
        while (!members.get(index).getKey().equals(path.getLast())) {
            index++;
        }
        YamlNode.MapEntry previous = index == 0 ? null : members.get(index - 1).getValue();
        YamlNode.MapEntry next =
                index == members.size() - 1 ? null : members.get(index + 1).getValue();
        YamlNode.MapEntry one = members.get(index).getValue();
        return List.of(yaml.isFlow(map) ? withoutInBrackets(previous, one, next) : withoutLines(one, next));
    }

    private String withoutInBrackets(
            YamlNode.@Nullable MapEntry previous, YamlNode.MapEntry one, YamlNode.@Nullable MapEntry next) {
        int start = yaml.charOffset(one.nameRange().start());
        int end = yaml.end(one.value());
        if (next != null) {
            int nextStart = yaml.charOffset(next.nameRange().start());
            rejectComment(end, nextStart);
            return yaml.replace(start, nextStart, "");
        }
        if (previous == null) {
            return yaml.replace(start, end, "");
        }
        int before = yaml.end(previous.value());
        rejectComment(before, start);
        return yaml.replace(before, end, "");
    }

    /** Only commas and spaces may separate the entries: the owner of a comment there would be unclear. */
    private void rejectComment(int from, int to) {
        if (yaml.between(from, to).contains("#")) {
            throw FormatPreservingYamlEditor.editRejected(path, "there is a comment beside it");
        }
    }

    private String withoutLines(YamlNode.MapEntry one, YamlNode.@Nullable MapEntry next) {
        int start = yaml.charOffset(one.nameRange().start());
        int end = yaml.end(one.value());
        int line = yaml.lineStart(start);
        if (yaml.isBlank(line, start)) {
            int lineEnd = yaml.lineEnd(end);
            boolean last = lineEnd == yaml.text().length();
            int above = yaml.lineEndAbove(line);
            return last && above >= 0
                    ? yaml.replace(above, lineEnd, "")
                    : yaml.replace(line, yaml.afterBreak(lineEnd), "");
        }
        if (next == null) {
            throw FormatPreservingYamlEditor.editRejected(path, "it is the only field of a list item");
        }
        int nextStart = yaml.charOffset(next.nameRange().start());
        rejectComment(end, nextStart);
        return yaml.replace(start, nextStart, "");
    }

    private static YamlNode.@Nullable MapEntry last(YamlNode.MapNode map) {
        YamlNode.MapEntry last = null;
        for (YamlNode.MapEntry member : map.members().values()) {
            last = member;
        }
        return last;
    }
}
