package dev.semel.server.settings;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * Reads a JSON setting document member by member and collects all validation problems with their JSON pointers. An
 * invalid member yields a harmless default, so that reading can continue.
 */
final class WorkspaceSettingJsonParser {
    private static final int MOST_PROBLEMS = 50;

    private final JsonNode node;
    private final String pointer;
    private final List<WorkspaceSettingValidationProblem> problems;
    private final Set<String> known = new HashSet<>();

    private WorkspaceSettingJsonParser(
            JsonNode node, String pointer, List<WorkspaceSettingValidationProblem> problems) {
        this.node = node;
        this.pointer = pointer;
        this.problems = problems;
    }

    static WorkspaceSettingJsonParser of(JsonNode node) {
        WorkspaceSettingJsonParser document = new WorkspaceSettingJsonParser(node, "", new ArrayList<>());
        if (!node.isObject()) {
            document.problems.add(new WorkspaceSettingValidationProblem("", "must be a JSON object"));
        }
        return document;
    }

    void addProblem(String member, String rule) {
        if (problems.size() < MOST_PROBLEMS) {
            problems.add(new WorkspaceSettingValidationProblem(at(member), rule));
        }
    }

    void addProblem(List<WorkspaceSettingValidationProblem> more) {
        more.stream().limit(MOST_PROBLEMS).forEach(problems::add);
    }

    private String at(String member) {
        return pointer + "/" + member.replace("~", "~0").replace("/", "~1");
    }

    private @Nullable JsonNode member(String name) {
        known.add(name);
        JsonNode value = node.get(name);
        return value == null || value.isNull() ? null : value;
    }

    boolean has(String name) {
        JsonNode value = node.get(name);
        return value != null && !value.isNull();
    }

    /** Required text. */
    String text(String name, int longest) {
        return required(name, optionalText(name, longest));
    }

    @Nullable
    String optionalText(String name, int longest) {
        JsonNode value = member(name);
        if (value == null) {
            return null;
        }
        if (!value.isString()) {
            addProblem(name, "must be text");
            return null;
        }
        String text = value.stringValue();
        if (text.isEmpty() || text.length() > longest || text.indexOf(0) >= 0) {
            addProblem(name, "must have 1 to " + longest + " characters, none of them NUL");
            return null;
        }
        return text;
    }

    /** Optional text without control characters, for values that become headers or addresses. */
    @Nullable
    String optionalLine(String name, int longest) {
        String text = optionalText(name, longest);
        if (text != null && text.chars().anyMatch(Character::isISOControl)) {
            addProblem(name, "must be one line without control characters");
            return null;
        }
        return text;
    }

    String line(String name, int longest) {
        return required(name, optionalLine(name, longest));
    }

    /** Optional name of another setting. */
    @Nullable
    String optionalName(String name) {
        String text = optionalText(name, 64);
        if (text != null && !WorkspaceSettingNameValidator.isValid(text)) {
            addProblem(name, "must be a name: 1 to 64 letters, digits, dots, _ and -, starting with a letter");
            return null;
        }
        return text;
    }

    String name(String name) {
        return required(name, optionalName(name));
    }

    private String required(String name, @Nullable String text) {
        if (text == null && !has(name)) {
            addProblem(name, "is missing");
        }
        return text == null ? "" : text;
    }

    /** One of these words. Default: the first. */
    String choice(String name, List<String> words) {
        JsonNode value = member(name);
        if (value == null) {
            return words.getFirst();
        }
        if (!value.isString() || !words.contains(value.stringValue())) {
            addProblem(name, "must be one of " + String.join(", ", words));
            return words.getFirst();
        }
        return value.stringValue();
    }

    int number(String name, int least, int most) {
        JsonNode value = member(name);
        if (value != null && value.isInt() && value.intValue() >= least && value.intValue() <= most) {
            return value.intValue();
        }
        addProblem(name, value == null ? "is missing" : "must be a whole number from " + least + " to " + most);
        return least;
    }

    /** A boolean. Default: false. */
    boolean flag(String name) {
        JsonNode value = member(name);
        if (value != null && !value.isBoolean()) {
            addProblem(name, "must be true or false");
            return false;
        }
        return value != null && value.booleanValue();
    }

    /** A required nested object; empty if it is missing, which is reported. */
    WorkspaceSettingJsonParser object(String name) {
        JsonNode value = member(name);
        if (value == null || !value.isObject()) {
            addProblem(name, value == null ? "is missing" : "must be an object");
            return new WorkspaceSettingJsonParser(JsonNodeFactory.instance.objectNode(), at(name), new ArrayList<>());
        }
        return new WorkspaceSettingJsonParser(value, at(name), problems);
    }

    List<WorkspaceSettingJsonParser> objects(String name, int most) {
        JsonNode value = member(name);
        List<WorkspaceSettingJsonParser> found = new ArrayList<>();
        if (value == null || !value.isArray() || value.isEmpty() || value.size() > most) {
            addProblem(name, "must be a list of 1 to " + most + " objects");
            return found;
        }
        for (int i = 0; i < value.size(); i++) {
            if (value.get(i).isObject()) {
                found.add(new WorkspaceSettingJsonParser(value.get(i), at(name) + "/" + i, problems));
            } else {
                addProblem(name, "must be a list of objects");
            }
        }
        return found;
    }

    List<String> words(String name, List<String> allowed) {
        JsonNode value = member(name);
        List<String> found = new ArrayList<>();
        if (value == null) {
            return found;
        }
        for (JsonNode one :
                value.isArray() ? value : JsonNodeFactory.instance.arrayNode().addNull()) {
            if (one.isString() && allowed.contains(one.stringValue())) {
                found.add(one.stringValue());
            } else {
                addProblem(name, "must be a list of values from " + String.join(", ", allowed));
            }
        }
        return found;
    }

    /** An object of one-line texts, such as headers. */
    Map<String, String> lines(String name, int most) {
        JsonNode value = member(name);
        Map<String, String> found = new LinkedHashMap<>();
        if (value == null) {
            return found;
        }
        if (!value.isObject() || value.size() > most) {
            addProblem(name, "must be an object with at most " + most + " text values");
            return found;
        }
        WorkspaceSettingJsonParser inside = new WorkspaceSettingJsonParser(value, at(name), problems);
        for (String member : value.propertyNames()) {
            found.put(member, inside.line(member, 4_096));
        }
        return found;
    }

    /** Any value; null if absent. */
    @Nullable
    JsonNode any(String name) {
        return member(name);
    }

    /** Reports unknown members: most are misspelt. */
    void rejectUnknownMembers() {
        for (String member : node.propertyNames()) {
            if (!known.contains(member)) {
                addProblem(
                        member,
                        "is not a known field; known fields: "
                                + String.join(", ", known.stream().sorted().toList()));
            }
        }
    }

    /** Ends reading: returns what was read, or throws if a member is unknown or any problem was found. */
    <T> T finish(String what, T read) {
        rejectUnknownMembers();
        throwIfInvalid(what);
        return read;
    }

    void throwIfInvalid(String what) {
        if (problems.isEmpty()) {
            return;
        }
        List<Map<String, String>> errors = problems.stream()
                .map(problem -> Map.of("pointer", problem.pointer(), "message", problem.message()))
                .toList();
        WorkspaceSettingValidationProblem first = problems.getFirst();
        throw new SemelException(
                        ErrorCode.INVALID_INPUT,
                        "The " + what + " is not valid: " + (first.pointer().isEmpty() ? "it" : first.pointer()) + " "
                                + first.message()
                                + (problems.size() > 1 ? ", and " + (problems.size() - 1) + " more" : "")
                                + ". Nothing was changed.",
                        "Correct the document and send it again.")
                .with("errors", errors);
    }
}
