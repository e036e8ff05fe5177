package dev.semel.server.connectors.template;

import java.util.List;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.JsonNodeFactory;

final class NotificationTemplateTokenizer {
    private static final Pattern NAME = Pattern.compile("[A-Za-z_][A-Za-z0-9_]{0,63}");
    private static final Pattern PATH = Pattern.compile(NAME.pattern() + "(\\.(" + NAME.pattern() + "|[0-9]{1,6}))*+");
    private static final Pattern INTEGER = Pattern.compile("-?[0-9]{1,18}");

    private final String tag;
    private int at;

    NotificationTemplateTokenizer(String tag) {
        this.tag = tag;
        skipSpace();
    }

    boolean atEnd() {
        return at == tag.length();
    }

    boolean consume(char c) {
        if (atEnd() || tag.charAt(at) != c) {
            return false;
        }
        at++;
        skipSpace();
        return true;
    }

    /** The next token if it is a plain name, such as a block or filter name. */
    @Nullable
    String name() {
        return match(NAME);
    }

    NotificationTemplateOperand.@Nullable Path path() {
        String path = match(PATH);
        return path == null ? null : new NotificationTemplateOperand.Path(List.of(path.split("\\.")));
    }

    /** A path, a quoted text or an integer. */
    @Nullable
    NotificationTemplateOperand operand() {
        String integer = match(INTEGER);
        if (integer != null) {
            return new NotificationTemplateOperand.Literal(
                    JsonNodeFactory.instance.numberNode(Long.parseLong(integer)));
        }
        String text = quoted();
        return text == null
                ? path()
                : new NotificationTemplateOperand.Literal(JsonNodeFactory.instance.stringNode(text));
    }

    private @Nullable String quoted() {
        if (atEnd() || (tag.charAt(at) != '"' && tag.charAt(at) != '\'')) {
            return null;
        }
        int end = tag.indexOf(tag.charAt(at), at + 1);
        if (end < 0) {
            return null;
        }
        String text = tag.substring(at + 1, end);
        at = end + 1;
        skipSpace();
        return text;
    }

    private @Nullable String match(Pattern pattern) {
        Matcher matcher = pattern.matcher(tag).region(at, tag.length());
        if (!matcher.lookingAt()) {
            return null;
        }
        if (matcher.end() < tag.length() && isWord(tag.charAt(matcher.end()))) {
            return null; // only a prefix of a token
        }
        at = matcher.end();
        skipSpace();
        return matcher.group();
    }

    private static boolean isWord(char c) {
        return Character.isLetterOrDigit(c) || c == '_' || c == '.';
    }

    private void skipSpace() {
        while (at < tag.length() && Character.isWhitespace(tag.charAt(at))) {
            at++;
        }
    }

    /** The offset of the closing braces outside quotes; -1 if another tag begins first. */
    static int end(String text, int from) {
        char quote = 0;
        for (int i = from; i < text.length(); i++) {
            char c = text.charAt(i);
            if (quote != 0) {
                quote = c == quote ? 0 : quote;
            } else if (c == '"' || c == '\'') {
                quote = c;
            } else if (text.startsWith("}}", i)) {
                return i;
            } else if (text.startsWith("{{", i)) {
                return -1;
            }
        }
        return -1;
    }
}
