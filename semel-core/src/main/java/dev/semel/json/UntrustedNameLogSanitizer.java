package dev.semel.json;

/** Makes a name from a payload safe to print in a message or a log line: printable and short. */
public final class UntrustedNameLogSanitizer {
    private UntrustedNameLogSanitizer() {}

    /** Characters that do not print or change the text direction are shown as escapes. */
    public static String of(String name, int max) {
        if (name.length() <= max && isPlain(name)) {
            return name;
        }
        StringBuilder shown = new StringBuilder(max);
        int at = 0;
        while (at < name.length()) {
            int codePoint = name.codePointAt(at);
            String part = prints(codePoint) ? Character.toString(codePoint) : "\\u%04x".formatted(codePoint);
            at += Character.charCount(codePoint);
            // One character stays free for the ellipsis, except at the end.
            if (shown.length() + part.length() > (at == name.length() ? max : max - 1)) {
                return shown.append('…').toString();
            }
            shown.append(part);
        }
        return shown.toString();
    }

    private static boolean isPlain(String name) {
        int codePoint;
        for (int at = 0; at < name.length(); at += Character.charCount(codePoint)) {
            codePoint = name.codePointAt(at);
            if (!prints(codePoint)) {
                return false;
            }
        }
        return true;
    }

    private static boolean prints(int codePoint) {
        return switch (Character.getType(codePoint)) {
            case Character.CONTROL,
                    Character.FORMAT,
                    Character.LINE_SEPARATOR,
                    Character.PARAGRAPH_SEPARATOR,
                    Character.SURROGATE,
                    Character.PRIVATE_USE,
                    Character.UNASSIGNED -> false;
            default -> true;
        };
    }
}
