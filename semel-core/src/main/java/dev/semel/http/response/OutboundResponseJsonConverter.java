package dev.semel.http.response;

import dev.semel.error.SemelException;
import dev.semel.json.StrictJsonCodec;
import java.net.http.HttpHeaders;
import java.nio.charset.Charset;
import java.nio.charset.IllegalCharsetNameException;
import java.nio.charset.StandardCharsets;
import java.nio.charset.UnsupportedCharsetException;
import java.util.Locale;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** JSON by content type, otherwise text, or null if empty. */
public final class OutboundResponseJsonConverter {
    public static final JsonNode EMPTY = JsonNodeFactory.instance.nullNode();

    private static final Pattern JSON = Pattern.compile("application/(.+\\+)?json\\b.*");
    private static final Pattern CHARSET = Pattern.compile("charset\\s*=\\s*\"?([\\w.:-]+)", Pattern.CASE_INSENSITIVE);

    private OutboundResponseJsonConverter() {}

    public static JsonNode read(HttpHeaders headers, byte[] body) {
        if (body.length == 0) {
            return EMPTY;
        }
        String type = headers.firstValue("Content-Type").orElse("").toLowerCase(Locale.ROOT);
        if (JSON.matcher(type).matches()) {
            try {
                return StrictJsonCodec.parse(body);
            } catch (SemelException _) {
                // Not the JSON that it claims to be. The effect has happened anyway, so record the body as text.
            }
        }
        return JsonNodeFactory.instance.stringNode(new String(body, charset(type)));
    }

    private static Charset charset(String type) {
        Matcher named = CHARSET.matcher(type);
        try {
            return named.find() ? Charset.forName(named.group(1)) : StandardCharsets.UTF_8;
        } catch (IllegalCharsetNameException | UnsupportedCharsetException _) {
            return StandardCharsets.UTF_8;
        }
    }
}
