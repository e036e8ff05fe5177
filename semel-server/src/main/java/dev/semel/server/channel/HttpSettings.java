package dev.semel.server.channel;

import dev.semel.server.settings.ChannelSetting;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonPointer;

/**
 * How a channel calls its provider.
 *
 * @param messageId where the id of the message stands in the answer; null where there is none
 * @param keyHeader the header that carries the key of the effect
 * @param signingSecret name of the secret that signs; null where nothing is signed
 */
record HttpSettings(
        Medium medium,
        SecretText url,
        String method,
        Map<String, SecretText> headers,
        Body body,
        @Nullable JsonPointer messageId,
        String keyHeader,
        @Nullable String signingSecret,
        ChannelSetting.Honours honours,
        Duration timeout) {
    HttpSettings {
        headers = Collections.unmodifiableMap(new LinkedHashMap<>(headers));
    }

    /**
     * @param template null for the usual one of the medium
     * @param form whether it is sent as a form and not as JSON
     */
    record Body(@Nullable BodyTemplate template, boolean form) {}
}
