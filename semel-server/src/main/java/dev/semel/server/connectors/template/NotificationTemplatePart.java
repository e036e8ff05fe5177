package dev.semel.server.connectors.template;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** A part of a message template and its escaping rule: subject, text, chat or html. */
enum NotificationTemplatePart {
    SUBJECT,
    TEXT,
    /** Text for a chat, where angle brackets create links and mentions. */
    CHAT,
    HTML;

    String memberName() {
        return this == CHAT ? "text" : name().toLowerCase(Locale.ROOT);
    }

    /** The escape sequence for a character; null if it needs none. */
    @Nullable
    String escape(char c) {
        return switch (this) {
            case SUBJECT, TEXT -> null;
            case CHAT ->
                switch (c) {
                    case '&' -> "&amp;";
                    case '<' -> "&lt;";
                    case '>' -> "&gt;";
                    default -> null;
                };
            case HTML ->
                switch (c) {
                    case '&' -> "&amp;";
                    case '<' -> "&lt;";
                    case '>' -> "&gt;";
                    case '"' -> "&quot;";
                    case '\'' -> "&#39;";
                    default -> null;
                };
        };
    }
}
