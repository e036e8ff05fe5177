package dev.semel.server.settings;

import java.time.Duration;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Credentials are names of secrets. */
public sealed interface NotificationChannelSetting {
    /** `email`, `chat`, `webhook`, `sms` or `whatsapp`. */
    String kind();

    /** The protections that a step using this channel may state. */
    SupportedProtections protections();

    /**
     * @param names protection names as in workflow files
     * @param providerWindow how long the provider remembers a key; null if it does not support keys
     */
    record SupportedProtections(Set<String> names, @Nullable Duration providerWindow) {
        /** The protections that need no support from the provider. */
        public static final SupportedProtections LEAST = new SupportedProtections(Set.of("at_most_once", "ask"), null);
    }

    /** An email channel. SMTP has no idempotency key, so it supports only basic protections. */
    record Email(Smtp smtp) implements NotificationChannelSetting {
        @Override
        public String kind() {
            return "email";
        }

        @Override
        public SupportedProtections protections() {
            return SupportedProtections.LEAST;
        }
    }

    enum Security {
        STARTTLS,
        TLS,
        NONE
    }

    /** @param replyTo address for replies; null: the sender */
    record Smtp(
            String host,
            int port,
            Security security,
            @Nullable String user,
            @Nullable String passwordSecret,
            String from,
            @Nullable String replyTo) {}

    /** @param signingSecret name of the secret that signs the body; null: no signature */
    record Webhook(
            String kind,
            Address address,
            Map<String, String> headers,
            @Nullable String signingSecret,
            SupportedProtections protections)
            implements NotificationChannelSetting {}

    /** The target: a plain URL, or the name of a secret that holds it, since some URLs are credentials. */
    record Address(@Nullable String url, @Nullable String urlSecret) {}

    /** @param messageId JSON pointer to the message id in the response; null: none */
    record Provider(
            String kind, ProviderRequest http, @Nullable String messageId, SupportedProtections protections)
            implements NotificationChannelSetting {}

    /**
     * The HTTP request to a provider; its body may contain placeholders.
     *
     * @param form whether the body is sent as a form instead of JSON
     * @param keyHeader the header for the effect key; null: Idempotency-Key
     */
    record ProviderRequest(
            String url,
            String method,
            Map<String, String> headers,
            @Nullable JsonNode body,
            boolean form,
            @Nullable String keyHeader) {}
}
