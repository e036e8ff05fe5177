package dev.semel.server.connectors.template;

import org.jspecify.annotations.Nullable;

/** A message text after template rendering; parts that the template lacks are null. */
public record RenderedMessage(
        @Nullable String subject,
        @Nullable String text,
        @Nullable String html) {}
