package dev.semel.server.channel;

import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** An object of a stored document, read member by member. What is wrong is gathered, each with its JSON Pointer. */
final class Doc {
    private static final Pattern DURATION = Pattern.compile("([0-9]{1,6})([smhd])");

    private final JsonNode node;
    private final String pointer;
    private final List<String> problems;

    Doc(JsonNode node, String pointer, List<String> problems) {
        this.node = node;
        this.pointer = pointer;
        this.problems = problems;
        if (!node.isObject()) {
            problems.add((pointer.isEmpty() ? "the document" : pointer) + " is not an object");
        }
    }

    boolean has(String name) {
        return node.has(name);
    }

    String at(String name) {
        return pointer + "/" + name;
    }

    void problem(String name, String what) {
        problems.add(at(name) + " " + what);
    }

    List<String> problems() {
        return problems;
    }

    JsonNode raw(String name) {
        return node.path(name);
    }

    Doc object(String name) {
        return new Doc(node.path(name), at(name), problems);
    }

    @Nullable
    String text(String name) {
        JsonNode value = node.path(name);
        if (value.isMissingNode() || value.isNull()) {
            return null;
        }
        if (!value.isString() || value.stringValue().isBlank()) {
            problem(name, "is not a text");
            return null;
        }
        return value.stringValue();
    }

    String required(String name) {
        String text = text(name);
        if (text == null && !has(name)) {
            problem(name, "is missing");
        }
        return text == null ? "" : text;
    }

    String oneOf(String name, Set<String> words, String otherwise) {
        String word = text(name);
        if (word != null && !words.contains(word)) {
            problem(
                    name,
                    "is not one of " + String.join(", ", words.stream().sorted().toList()));
            return otherwise;
        }
        return word == null ? otherwise : word;
    }

    int port(int otherwise) {
        JsonNode value = node.path("port");
        if (value.isMissingNode()) {
            return otherwise;
        }
        boolean fits = value.isIntegralNumber() && value.canConvertToInt();
        if (!fits || value.intValue() < 1 || value.intValue() > 65_535) {
            problem("port", "is not a number between 1 and 65535");
            return otherwise;
        }
        return value.intValue();
    }

    /** `30s`, `15m`, `24h`, `7d`. */
    @Nullable
    Duration duration(String name, Duration longest) {
        String text = text(name);
        if (text == null) {
            return null;
        }
        Matcher form = DURATION.matcher(text);
        if (form.matches()) {
            long count = Long.parseLong(String.valueOf(form.group(1)));
            Duration value = switch (String.valueOf(form.group(2))) {
                case "s" -> Duration.ofSeconds(count);
                case "m" -> Duration.ofMinutes(count);
                case "h" -> Duration.ofHours(count);
                default -> Duration.ofDays(count);
            };
            if (!value.isZero() && value.compareTo(longest) <= 0) {
                return value;
            }
        }
        problem(name, "is not a duration such as 30s or 24h, or too long");
        return null;
    }

    List<String> texts(String name) {
        JsonNode value = node.path(name);
        List<String> texts = new ArrayList<>();
        if (value.isMissingNode()) {
            return texts;
        }
        for (JsonNode item : value) {
            if (item.isString() && value.isArray()) {
                texts.add(item.stringValue());
            }
        }
        if (!value.isArray() || texts.size() != value.size()) {
            problem(name, "is not a list of texts");
        }
        return texts;
    }

    Map<String, String> textMembers(String name) {
        Map<String, String> members = new LinkedHashMap<>();
        if (has(name)) {
            Doc object = object(name);
            object.node.properties().forEach(member -> members.put(member.getKey(), object.required(member.getKey())));
        }
        return members;
    }

    void only(Set<String> names) {
        node.properties().stream()
                .map(Map.Entry::getKey)
                .filter(name -> !names.contains(name))
                .forEach(name -> problem(
                        name.length() > 40 ? name.substring(0, 40) + "…" : name,
                        "is not known here; there are "
                                + String.join(", ", names.stream().sorted().toList())));
    }
}
