package dev.semel.server.pages;

import dev.semel.server.http.Request;
import java.net.URI;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;

/**
 * A form that came without a session, or with that of another one. Nothing of it is done, and nothing of it is lost: it
 * goes along in the page of the log-in, and can be sent behind it. No server keeps it, so there is nothing to forget.
 *
 * @param path where it is to be sent, a path of this server
 * @param back the page that it stood on
 * @param whole false where something was left out that no page may carry: a password or a secret
 */
public record Kept(String path, String back, List<Field> fields, boolean whole) {
    private static final String PATH = "kept.path";
    private static final String BACK = "kept.back";
    private static final String PARTS = "kept.parts";
    private static final String FIELD = "kept.field.";
    private static final Set<String> NOT_SHOWN = Set.of("key", "base", "eol", "version");
    private static final Set<String> PASSWORDS = Set.of("again", "old", "new", "current");
    private static final int SHORT = 200;

    /** One field of the form; a name may come more than once. */
    public record Field(String name, String value) {
        /** As a hidden field that goes through the log-in. */
        public String hidden() {
            return FIELD + name;
        }

        /** Whether it is what people typed, and not what a form carries for itself. */
        public boolean isShown() {
            return !NOT_SHOWN.contains(name) && !value.isEmpty();
        }

        public boolean isLong() {
            return value.length() > SHORT || value.indexOf('\n') >= 0;
        }
    }

    /** What was sent, to be kept. */
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

    /** What a page of the log-in carried along; null where it carried nothing. */
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

    /** The hidden fields that carry it. */
    public List<Field> hidden() {
        List<Field> all = new ArrayList<>(
                List.of(new Field(PATH, path), new Field(BACK, back), new Field(PARTS, whole ? "all" : "some")));
        fields.forEach(field -> all.add(new Field(field.hidden(), field.value())));
        return all;
    }

    /** Every field of type password is one: a test reads the templates for that. */
    static boolean isSecret(String path, String name) {
        return name.contains("password")
                || name.contains("secret")
                || PASSWORDS.contains(name)
                || path.startsWith("/settings/secrets") && name.equals("value");
    }

    /** Our own pages say where they stand; no other site learns it, and none is gone back to. */
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
