package dev.semel.server.connectors.channel;

import dev.semel.server.connectors.template.JsonRequestBodyTemplate;
import dev.semel.server.connectors.template.NotificationMedium;
import dev.semel.server.settings.NotificationChannelSetting;
import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonPointer;

/**
 * Configuration of an HTTP channel: URL, headers, body template, key header and signing secret.
 *
 * @param messageId where the response holds the message id; null if it has none
 * @param keyHeader the header for the effect key
 * @param signingSecret name of the secret that signs the body; null for no signature
 */
record HttpNotificationChannelConfig(
        NotificationMedium medium,
        SecretPlaceholderTemplate url,
        String method,
        Map<String, SecretPlaceholderTemplate> headers,
        Body body,
        @Nullable JsonPointer messageId,
        String keyHeader,
        @Nullable String signingSecret,
        NotificationChannelSetting.SupportedProtections protections,
        Duration timeout) {
    HttpNotificationChannelConfig {
        headers = Collections.unmodifiableMap(new LinkedHashMap<>(headers));
    }

    /**
     * @param template null for the default body of the medium
     * @param form whether the body is sent as a form instead of JSON
     */
    record Body(@Nullable JsonRequestBodyTemplate template, boolean form) {}
}
