package dev.semel.server.connectors.channel;

import java.util.ArrayList;
import java.util.List;
import java.util.function.UnaryOperator;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/** Configuration text with `${ secret.NAME }` placeholders, which are resolved only when a request is sent. */
final class SecretPlaceholderTemplate {
    private static final Pattern SECRET = Pattern.compile("\\$\\{\\s*secret\\.([A-Za-z][A-Za-z0-9._-]{0,63})\\s*}");

    /** Alternating plain text and secret names; the first is plain text. */
    private final List<String> parts = new ArrayList<>();

    private SecretPlaceholderTemplate() {}

    static SecretPlaceholderTemplate of(String text) {
        var result = new SecretPlaceholderTemplate();
        Matcher secret = SECRET.matcher(text);
        int at = 0;
        while (secret.find()) {
            result.parts.add(text.substring(at, secret.start()));
            result.parts.add(String.valueOf(secret.group(1)));
            at = secret.end();
        }
        result.parts.add(text.substring(at));
        return result;
    }

    static SecretPlaceholderTemplate ofSecret(String secret) {
        var result = new SecretPlaceholderTemplate();
        result.parts.addAll(List.of("", secret, ""));
        return result;
    }

    boolean isSecret() {
        return parts.size() > 1;
    }

    /** Whether it contains a `${` that is not a secret placeholder. */
    boolean hasUnknownPlaceholder() {
        for (int i = 0; i < parts.size(); i += 2) {
            if (parts.get(i).contains("${")) {
                return true;
            }
        }
        return false;
    }

    String reveal(UnaryOperator<String> secrets) {
        var text = new StringBuilder();
        for (int i = 0; i < parts.size(); i++) {
            text.append(i % 2 == 0 ? parts.get(i) : secrets.apply(parts.get(i)));
        }
        return text.toString();
    }

    /** Shows secret names, never values. */
    @Override
    public String toString() {
        var text = new StringBuilder();
        for (int i = 0; i < parts.size(); i++) {
            text.append(i % 2 == 0 ? parts.get(i) : "${ secret." + parts.get(i) + " }");
        }
        return text.toString();
    }
}
