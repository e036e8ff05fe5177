package dev.semel.server.channel;

import java.util.Locale;
import org.jspecify.annotations.Nullable;

/** A part of a message, and how a value has to be written to be nothing but text in it. */
enum Part {
    SUBJECT,
    TEXT,
    /** Text for a chat, where angle brackets make links and call everybody. */
    CHAT,
    HTML;

    /** As people call it in a document: the member of a template. */
    String word() {
        return this == CHAT ? "text" : name().toLowerCase(Locale.ROOT);
    }

    /** What stands for this character in this part; null where it stands for itself. */
    @Nullable
    String escaped(char c) {
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
