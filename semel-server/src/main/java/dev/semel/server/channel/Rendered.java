package dev.semel.server.channel;

import org.jspecify.annotations.Nullable;

/** A message with its values filled in; a part that its template does not have is null. */
public record Rendered(
        @Nullable String subject,
        @Nullable String text,
        @Nullable String html) {
    public static Rendered text(String text) {
        return new Rendered(null, text, null);
    }
}
