package dev.semel.server.pages;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.http.Request;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** What a form on a page sent. Nothing but a form can send this type, so nothing else is read. */
final class Form {
    private static final int MOST_FIELDS = 300;

    private final Map<String, List<String>> fields;

    private Form(Map<String, List<String>> fields) {
        this.fields = fields;
    }

    static Form of(Request request) {
        String type = request.header("Content-Type");
        if (type == null || !type.split(";", 2)[0].strip().equalsIgnoreCase("application/x-www-form-urlencoded")) {
            throw new SemelException(
                    ErrorCode.UNSUPPORTED_MEDIA_TYPE,
                    "This is not what a form of these pages sends. Nothing was done.",
                    "Use the page, or the API under /v1.");
        }
        Map<String, List<String>> fields = new LinkedHashMap<>();
        String body = new String(request.body(), StandardCharsets.UTF_8);
        for (String pair : body.isEmpty() ? new String[0] : body.split("&", MOST_FIELDS)) {
            int equals = pair.indexOf('=');
            String name = equals < 0 ? pair : pair.substring(0, equals);
            fields.computeIfAbsent(decoded(name), _ -> new ArrayList<>())
                    .add(equals < 0 ? "" : decoded(pair.substring(equals + 1)));
        }
        return new Form(fields);
    }

    private static String decoded(String text) {
        try {
            return URLDecoder.decode(text, StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            throw new SemelException(
                    ErrorCode.INVALID_INPUT,
                    "The form is not encoded as a form is. Nothing was done.",
                    "Send it again.");
        }
    }

    /** The fields whose names begin so, by the rest of their names, in the order of the page. */
    Map<String, String> under(String prefix) {
        Map<String, String> found = new LinkedHashMap<>();
        fields.forEach((name, values) -> {
            if (name.startsWith(prefix)) {
                found.put(name.substring(prefix.length()), values.getLast());
            }
        });
        return found;
    }

    /** Every field, in the order of the page. */
    List<Kept.Field> fields() {
        List<Kept.Field> all = new ArrayList<>();
        fields.forEach((name, values) -> values.forEach(value -> all.add(new Kept.Field(name, value))));
        return all;
    }

    /** Empty where there is no such field. */
    String text(String name) {
        List<String> values = all(name);
        return values.isEmpty() ? "" : values.getLast();
    }

    /** Every value of a field that may be ticked more than once. */
    List<String> all(String name) {
        return fields.getOrDefault(name, List.of());
    }

    /** Whether a box was ticked. */
    boolean ticked(String name) {
        return fields.containsKey(name);
    }
}
