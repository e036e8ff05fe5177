package dev.semel.server.dashboard.page;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.http.ServerHttpRequest;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/** The fields of a submitted HTML form. Accepts only the URL-encoded form media type. */
public final class SubmittedForm {
    private static final int MOST_FIELDS = 300;

    private final Map<String, List<String>> fields;

    private SubmittedForm(Map<String, List<String>> fields) {
        this.fields = fields;
    }

    public static SubmittedForm of(ServerHttpRequest request) {
        String type = request.header("Content-Type");
        if (type == null || !type.split(";", 2)[0].strip().equalsIgnoreCase("application/x-www-form-urlencoded")) {
            throw new SemelException(
                    ErrorCode.UNSUPPORTED_MEDIA_TYPE,
                    "The request is not a URL-encoded form. Nothing was changed.",
                    "Use the dashboard, or the API under /v1.");
        }
        Map<String, List<String>> fields = new LinkedHashMap<>();
        String body = new String(request.body(), StandardCharsets.UTF_8);
        for (String pair : body.isEmpty() ? new String[0] : body.split("&", MOST_FIELDS)) {
            int equals = pair.indexOf('=');
            String name = equals < 0 ? pair : pair.substring(0, equals);
            fields.computeIfAbsent(decoded(name), _ -> new ArrayList<>())
                    .add(equals < 0 ? "" : decoded(pair.substring(equals + 1)));
        }
        return new SubmittedForm(fields);
    }

    private static String decoded(String text) {
        try {
            return URLDecoder.decode(text, StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            throw new SemelException(
                    ErrorCode.INVALID_INPUT,
                    "The form is not correctly URL-encoded. Nothing was changed.",
                    "Send the form again.");
        }
    }

    /** The fields whose names have this prefix, by the rest of the name, in page order. */
    public Map<String, String> withPrefix(String prefix) {
        Map<String, String> found = new LinkedHashMap<>();
        fields.forEach((name, values) -> {
            if (name.startsWith(prefix)) {
                found.put(name.substring(prefix.length()), values.getLast());
            }
        });
        return found;
    }

    /** All fields, in page order. */
    List<FormSubmissionAwaitingLogin.FormField> fields() {
        List<FormSubmissionAwaitingLogin.FormField> all = new ArrayList<>();
        fields.forEach((name, values) ->
                values.forEach(value -> all.add(new FormSubmissionAwaitingLogin.FormField(name, value))));
        return all;
    }

    /** The last value of a field; empty if missing. */
    public String text(String name) {
        List<String> values = values(name);
        return values.isEmpty() ? "" : values.getLast();
    }

    /** The version of a document or question that the page showed; 0 if the form has none. */
    public int version() {
        return text("version").matches("[1-9][0-9]{0,8}") ? Integer.parseInt(text("version")) : 0;
    }

    public List<String> values(String name) {
        return fields.getOrDefault(name, List.of());
    }

    public boolean isChecked(String name) {
        return fields.containsKey(name);
    }
}
