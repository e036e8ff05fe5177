package dev.semel.server.settings;

import java.time.Duration;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** How a channel reaches people, and what it can promise. Credentials stand in secrets; here are only their names. */
public sealed interface ChannelSetting {
    /** `email`, `chat`, `webhook`, `sms` or `whatsapp`. */
    String kind();

    /** Which protections a step that sends by it may state. */
    Honours honours();

    /**
     * @param words as workflow files spell them
     * @param providerWindow how long the provider remembers a key; null where it honours none
     */
    record Honours(Set<String> words, @Nullable Duration providerWindow) {
        /** What needs nothing of the other side. */
        public static final Honours LEAST = new Honours(Set.of("at_most_once", "ask"), null);
    }

    /** SMTP has no key that a server would know a second delivery by. */
    record Email(Smtp smtp) implements ChannelSetting {
        @Override
        public String kind() {
            return "email";
        }

        @Override
        public Honours honours() {
            return Honours.LEAST;
        }
    }

    enum Security {
        STARTTLS,
        TLS,
        NONE
    }

    /** @param replyTo where answers go; null: to the sender */
    record Smtp(
            String host,
            int port,
            Security security,
            @Nullable String user,
            @Nullable String passwordSecret,
            String from,
            @Nullable String replyTo) {}

    /**
     * A JSON document posted to an address: a chat room, or any receiver of webhooks.
     *
     * @param signingSecret the secret that signs what is sent; null: nothing is signed
     */
    record Webhook(
            String kind,
            Address address,
            Map<String, String> headers,
            @Nullable String signingSecret,
            Honours honours) implements ChannelSetting {}

    /** Where to: a URL that anybody may see, or the secret that holds it, since some URLs are credentials. */
    record Address(@Nullable String url, @Nullable String urlSecret) {}

    /**
     * A provider of messages with an HTTP interface of its own.
     *
     * @param messageId where its answer tells the id of the message, as a JSON pointer; null: nowhere
     */
    record Provider(String kind, Call http, @Nullable String messageId, Honours honours) implements ChannelSetting {}

    /**
     * The request to a provider; texts in its body may hold placeholders.
     *
     * @param form whether the body goes out as a form and not as JSON
     * @param keyHeader the header that carries the key; null: Idempotency-Key
     */
    record Call(
            String url,
            String method,
            Map<String, String> headers,
            @Nullable JsonNode body,
            boolean form,
            @Nullable String keyHeader) {}
}
