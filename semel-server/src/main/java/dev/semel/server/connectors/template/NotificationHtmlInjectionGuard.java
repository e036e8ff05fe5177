package dev.semel.server.connectors.template;

import java.util.HashSet;
import java.util.Locale;
import java.util.Set;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/**
 * Rejects template values in HTML contexts where escaping does not help: tag names, unquoted attributes, scripts,
 * styles and comments. Between tags and in quoted attributes an escaped value is plain text.
 */
final class NotificationHtmlInjectionGuard {
    private static final Set<String> RAW =
            Set.of("script", "style", "xmp", "iframe", "noscript", "noembed", "noframes", "plaintext", "template");
    private static final Set<String> LINKS = Set.of(
            "href", "src", "action", "formaction", "background", "cite", "data", "poster", "xlink:href", "longdesc");
    private static final Pattern CODE = Pattern.compile("on.*|style|srcdoc|srcset");
    private static final String TAG_NAME_ENDS = " \t\r\n\f/>";

    private final String html;
    private final String lower;
    private final NotificationTemplateParser.Findings findings;
    private final NotificationTemplatePosition.PositionTracker cursor;
    private final Set<Integer> links = new HashSet<>();

    private NotificationHtmlInjectionGuard(String html, NotificationTemplateParser.Findings findings) {
        this.html = html;
        this.lower = html.toLowerCase(Locale.ROOT).length() == html.length() ? html.toLowerCase(Locale.ROOT) : html;
        this.findings = findings;
        this.cursor = new NotificationTemplatePosition.PositionTracker(NotificationTemplatePart.HTML, html);
    }

    /** Reports values in unsafe contexts and returns the offsets of values that begin a link. */
    static Set<Integer> check(String html, NotificationTemplateParser.Findings findings) {
        var htmlContextValidator = new NotificationHtmlInjectionGuard(html, findings);
        htmlContextValidator.text();
        return htmlContextValidator.links;
    }

    private void text() {
        int at = 0;
        while (at < html.length()) {
            if (html.startsWith("{{", at)) {
                at = endOfTag(at);
            } else if (html.startsWith("<!--", at)) {
                at = rejectValues(at, html.indexOf("-->", at), "a comment");
            } else if (html.charAt(at) == '<') {
                at = tag(at);
            } else {
                at++;
            }
        }
    }

    /** Reads from `<` to the end of the tag, or to the end of the element if its content is not text. */
    private int tag(int start) {
        int at = start + 1;
        while (at < html.length() && html.charAt(at) != '>') {
            char c = html.charAt(at);
            if (html.startsWith("{{", at)) {
                if (!hasNoOutput(at)) {
                    problem(at, "a value inside a tag must be in quotes: href=\"{{ link }}\".");
                }
                at = endOfTag(at);
            } else if (c == '"' || c == '\'') {
                at = attribute(start, at);
            } else {
                at++;
            }
        }
        String name = name(start + 1);
        if (!RAW.contains(name)) {
            return at + 1;
        }
        return rejectValues(at, lower.indexOf("</" + name, at), "<%s>".formatted(name));
    }

    private int attribute(int tagStart, int quote) {
        String name = attributeName(tagStart, quote);
        boolean code = name == null || CODE.matcher(name).matches();
        boolean link = name != null && LINKS.contains(name);
        boolean begun = false;
        int at = quote + 1;
        while (at < html.length() && html.charAt(at) != html.charAt(quote)) {
            if (!html.startsWith("{{", at)) {
                begun = true;
                at++;
                continue;
            }
            if (code && !hasNoOutput(at)) {
                problem(at, "an attribute that holds code, style or several links cannot contain a template value.");
            } else if (link && !begun) {
                links.add(at);
            }
            at = endOfTag(at);
        }
        return at + 1;
    }

    /** The attribute name before `="`; null if there is none, so the context is unknown. */
    private @Nullable String attributeName(int tagStart, int quote) {
        int at = backOverSpace(quote, tagStart);
        if (at <= tagStart || html.charAt(at - 1) != '=') {
            return null;
        }
        int end = backOverSpace(at - 1, tagStart);
        int start = end;
        while (start > tagStart + 1 && " \t\r\n\f\"'/=}".indexOf(html.charAt(start - 1)) < 0) {
            start--;
        }
        return start == end ? null : lower.substring(start, end);
    }

    private int backOverSpace(int from, int limit) {
        int at = from;
        while (at > limit && Character.isWhitespace(html.charAt(at - 1))) {
            at--;
        }
        return at;
    }

    private String name(int from) {
        int end = from;
        while (end < html.length() && TAG_NAME_ENDS.indexOf(html.charAt(end)) < 0 && end - from < 16) {
            end++;
        }
        return lower.substring(from, end);
    }

    private boolean hasNoOutput(int tag) {
        String inside = html.substring(tag + 2, Math.max(tag + 2, endOfTag(tag) - 2));
        return NotificationTemplateParser.hasNoOutput(inside);
    }

    /** Reports every value up to the end of a section that must not contain any. */
    private int rejectValues(int from, int end, String where) {
        int to = end < 0 ? html.length() : end;
        for (int at = html.indexOf("{{", from); at >= 0 && at < to; at = html.indexOf("{{", at + 2)) {
            if (!html.startsWith("{{!", at)) {
                problem(
                        at,
                        "%s cannot contain a template value: the value would not be plain text there."
                                .formatted(where));
            }
        }
        return end < 0 ? html.length() : end + 1;
    }

    private int endOfTag(int tag) {
        int end = html.startsWith("{{!", tag)
                ? html.indexOf("}}", tag)
                : NotificationTemplateTokenizer.end(html, tag + 2);
        return end < 0 ? html.length() : end + 2;
    }

    private void problem(int offset, String message) {
        findings.addProblem(cursor.positionOf(offset), message);
    }
}
