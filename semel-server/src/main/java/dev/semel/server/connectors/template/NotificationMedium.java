package dev.semel.server.connectors.template;

import java.util.Locale;

/** Recipients opt out of a medium whatever the provider. */
public enum NotificationMedium {
    EMAIL("e-mail"),
    SMS("SMS"),
    WHATSAPP("WhatsApp"),
    CHAT("chat"),
    WEBHOOK("webhook");

    private final String displayName;

    NotificationMedium(String spoken) {
        this.displayName = spoken;
    }

    /** As spelled in JSON: `email`. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** As written in a sentence: e-mail. */
    public String displayName() {
        return displayName;
    }
}
