package dev.semel.server.dashboard.page;

import dev.semel.server.http.ServerHttpRequest;
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
 * @param returnUrl the page that contained it
 * @param complete false if passwords or secrets were left out
 */
public record FormSubmissionAwaitingLogin(String path, String returnUrl, List<FormField> fields, boolean complete) {
    private static final String PATH = "pending.path";
    private static final String BACK = "pending.back";
    private static final String PARTS = "pending.parts";
    private static final String FIELD = "pending.field.";
    private static final Set<String> NOT_SHOWN = Set.of("key", "base", "eol", "version");
    private static final Set<String> PASSWORDS = Set.of("again", "old", "new", "current");
    private static final int SHORT = 200;

    /** One field of the form; names can repeat. */
    public record FormField(String name, String value) {
        /** The name of the hidden field that carries it through the log-in page. */
        public String hiddenName() {
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

    public static FormSubmissionAwaitingLogin of(ServerHttpRequest request, SubmittedForm form) {
        List<FormField> fields = new ArrayList<>();
        boolean whole = true;
        for (FormField field : form.fields()) {
            if (isSecret(request.rawPath(), field.name())) {
                whole = false;
            } else if (!field.name().equals("csrf")) {
                fields.add(field);
            }
        }
        return new FormSubmissionAwaitingLogin(
                DashboardRedirectUrlValidator.ofRequest(request), returnUrl(request), List.copyOf(fields), whole);
    }

    /** Reads the pending form from a log-in form; null if there is none. */
    public static @Nullable FormSubmissionAwaitingLogin fromLoginForm(SubmittedForm form) {
        if (form.text(PATH).isEmpty()) {
            return null;
        }
        List<FormField> fields = form.fields().stream()
                .filter(field -> field.name().startsWith(FIELD))
                .map(field -> new FormField(field.name().substring(FIELD.length()), field.value()))
                .toList();
        return new FormSubmissionAwaitingLogin(
                DashboardRedirectUrlValidator.orHome(form.text(PATH)),
                DashboardRedirectUrlValidator.orHome(form.text(BACK)),
                fields,
                form.text(PARTS).equals("all"));
    }

    public List<FormField> hiddenFields() {
        List<FormField> all = new ArrayList<>(List.of(
                new FormField(PATH, path),
                new FormField(BACK, returnUrl),
                new FormField(PARTS, complete ? "all" : "some")));
        fields.forEach(field -> all.add(new FormField(field.hiddenName(), field.value())));
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
    private static String returnUrl(ServerHttpRequest request) {
        List<String> lines = request.headerLines("Referer");
        try {
            URI page = URI.create(lines.isEmpty() ? "" : lines.getFirst());
            String path = page.getRawPath() == null ? "" : page.getRawPath();
            return DashboardRedirectUrlValidator.orHome(
                    page.getRawQuery() == null ? path : path + "?" + page.getRawQuery());
        } catch (IllegalArgumentException e) {
            return DashboardRedirectUrlValidator.HOME;
        }
    }
}
