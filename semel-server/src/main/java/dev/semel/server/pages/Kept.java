package dev.semel.server.pages;

import dev.semel.server.http.Request;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A form that was submitted without a valid session. Hidden fields carry it through the log-in page, so that the user
 * can resend it afterwards. The server does not store it.
 *
 * @param path the local path that it is sent to
 * @param back the page that contained it
 * @param whole false if passwords or secrets were left out
 */
public record Kept(String path, String back, List<Field> fields, boolean whole) {
    private static final String PATH = "pending.path";
    private static final String BACK = "pending.back";
    private static final String PARTS = "pending.parts";
    private static final String FIELD = "pending.field.";
    private static final Set<String> NOT_SHOWN = Set.of("key", "base", "eol", "version");
    private static final Set<String> PASSWORDS = Set.of("again", "old", "new", "current");
    private static final int SHORT = 200;

    /** One field of the form; names can repeat. */
    public record Field(String name, String value) {
        /** The name of the hidden field that carries it through the log-in page. */
        public String hidden() {
            return FIELD + name;
        }

        /** Whether the user typed it, unlike technical fields. */
        public boolean isShown() {
            return !NOT_SHOWN.contains(name) && !value.isEmpty();
        }

        public boolean isLong() {
            return value.length() > SHORT || value.indexOf('\n') >= 0;
        }
    }

    /** Takes the fields of a submitted form. */
    static Kept of(Request request, Form form) {
        List<Field> fields = new ArrayList<>();
        boolean whole = true;
        for (Field field : form.fields()) {
            if (isSecret(request.rawPath(), field.name())) {
                whole = false;
            } else if (!field.name().equals("csrf")) {
                fields.add(field);
            }
        }
        return new Kept(Way.of(request), back(request), List.copyOf(fields), whole);
    }

    /** Reads the pending form from a log-in form; null if there is none. */
    static @Nullable Kept in(Form form) {
        if (form.text(PATH).isEmpty()) {
            return null;
        }
        List<Field> fields = form.fields().stream()
                .filter(field -> field.name().startsWith(FIELD))
                .map(field -> new Field(field.name().substring(FIELD.length()), field.value()))
                .toList();
        return new Kept(
                Way.local(form.text(PATH)),
                Way.local(form.text(BACK)),
                fields,
                form.text(PARTS).equals("all"));
    }

    /** The hidden fields that carry the form through the log-in page. */
    public List<Field> hidden() {
        List<Field> all = new ArrayList<>(
                List.of(new Field(PATH, path), new Field(BACK, back), new Field(PARTS, whole ? "all" : "some")));
        fields.forEach(field -> all.add(new Field(field.hidden(), field.value())));
        return all;
    }

    /** Whether a field is secret. A test checks that this includes every password field of the templates. */
    static boolean isSecret(String path, String name) {
        return name.contains("password")
                || name.contains("secret")
                || PASSWORDS.contains(name)
                || path.startsWith("/settings/secrets") && name.equals("value");
    }

    /** The page that contained the form, from the Referer header; only a local path. */
    private static String back(Request request) {
        List<String> lines = request.headerLines("Referer");
        try {
            URI page = URI.create(lines.isEmpty() ? "" : lines.getFirst());
            String path = page.getRawPath() == null ? "" : page.getRawPath();
            return Way.local(page.getRawQuery() == null ? path : path + "?" + page.getRawQuery());
        } catch (IllegalArgumentException e) {
            return Way.HOME;
        }
    }
}
