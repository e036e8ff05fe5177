package dev.semel.server.channel;

import java.util.Locale;

/**
 * The kind of a message channel: email, chat, webhook, SMS or WhatsApp. Recipients opt out of a medium whatever the
 * provider.
 */
public enum Medium {
    EMAIL("e-mail"),
    SMS("SMS"),
    WHATSAPP("WhatsApp"),
    CHAT("chat"),
    WEBHOOK("webhook");

    private final String displayName;

    Medium(String spoken) {
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
