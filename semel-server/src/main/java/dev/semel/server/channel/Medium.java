package dev.semel.server.channel;

import java.util.Locale;

/** What a channel is made of. People opt out of a medium, whichever provider carries it. */
public enum Medium {
    EMAIL("e-mail"),
    SMS("SMS"),
    WHATSAPP("WhatsApp"),
    CHAT("chat"),
    WEBHOOK("webhook");

    private final String spoken;

    Medium(String spoken) {
        this.spoken = spoken;
    }

    /** As in documents: `email`. */
    public String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    /** As in a sentence: e-mail. */
    public String spoken() {
        return spoken;
    }
}
