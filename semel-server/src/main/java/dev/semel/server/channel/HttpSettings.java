package dev.semel.server.channel;

import java.time.Duration;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonPointer;

/**
 * How a channel calls its provider.
 *
 * @param body null for the usual one of the medium
 * @param form whether the body is sent as a form and not as JSON
 * @param messageId where the id of the message stands in the answer; null where there is none
 * @param keyHeader the header that carries the key of the effect; null for none
 * @param signing names of the secrets that sign
 * @param providerWindow how long the provider remembers a key; null where it does not say
 */
record HttpSettings(
        Medium medium,
        SecretText url,
        String method,
        Map<String, SecretText> headers,
        @Nullable BodyTemplate body,
        boolean form,
        @Nullable JsonPointer messageId,
        @Nullable String keyHeader,
        List<String> signing,
        Set<String> honours,
        @Nullable Duration providerWindow,
        Duration timeout) {
    HttpSettings {
        headers = Collections.unmodifiableMap(new LinkedHashMap<>(headers));
        signing = List.copyOf(signing);
        honours = Set.copyOf(honours);
    }
}
