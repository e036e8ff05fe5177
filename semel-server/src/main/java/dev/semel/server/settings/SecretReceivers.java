package dev.semel.server.settings;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import java.util.List;
import java.util.Locale;
import java.util.TreeSet;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * The hosts that may receive a secret.
 *
 * @param hosts each is `host`, which allows every port, or `host:port`; empty: every host
 */
public record SecretReceivers(List<String> hosts) {
    public static final SecretReceivers ANY = new SecretReceivers(List.of());

    private static final int MOST = 20;
    private static final Pattern ENTRY =
            Pattern.compile("([a-z0-9_]([a-z0-9._-]{0,251}[a-z0-9_])?|\\[[0-9a-f:.]{2,45}])(:[1-9][0-9]{0,4})?");

    public SecretReceivers {
        hosts = List.copyOf(hosts);
    }

    /** Parses the member `hosts` of a request; null if the request does not have it. */
    public static @Nullable SecretReceivers parse(JsonNode list) {
        if (list.isMissingNode()) {
            return null;
        }
        TreeSet<String> hosts = new TreeSet<>();
        if (!list.isArray() || list.size() > MOST) {
            throw invalid("it must be a list of at most " + MOST + " hosts");
        }
        for (JsonNode one : list) {
            String host = one.isString() ? one.stringValue().toLowerCase(Locale.ROOT) : "";
            if (!ENTRY.matcher(host).matches()) {
                throw invalid("each entry must be a host name, or a host name, a colon and a port; no scheme, path or"
                        + " wildcard");
            }
            hosts.add(host);
        }
        return new SecretReceivers(List.copyOf(hosts));
    }

    static SecretReceivers ofStored(JsonNode list) {
        return new SecretReceivers(list.valueStream().map(JsonNode::asString).toList());
    }

    private static SemelException invalid(String rule) {
        return new SemelException(
                ErrorCode.INVALID_INPUT,
                "The member `hosts` is not valid: " + rule + ". Nothing was stored.",
                "Send, for example, \"hosts\": [\"api.stripe.com\"].");
    }

    /** @param host in lower case, without brackets, as in a parsed URL */
    public boolean allow(String host, int port) {
        String written = host.contains(":") ? "[" + host + "]" : host;
        return hosts.isEmpty() || hosts.contains(written) || hosts.contains(written + ":" + port);
    }

    /** Why a host may not receive the secret; the text continues a sentence or stands alone. */
    public String rejection(String secret, String host) {
        return "the secret " + secret + " may be sent only to " + String.join(", ", hosts) + ", not to " + host;
    }
}
