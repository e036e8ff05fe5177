package dev.semel.server.connectors.ingress;

import static dev.semel.server.connectors.ingress.InboundEventErrorFactory.of;

import dev.semel.json.StrictJsonCodec;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.Base64;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Reads a CloudEvent in binary mode: `ce-` headers are attributes and the body is the data. Quoted values are unquoted
 * and percent-decoded once; non-ASCII values are rejected.
 */
public final class BinaryCloudEventReader {
    private static final String PREFIX = "ce-";
    private static final Pattern ATTRIBUTE = Pattern.compile("[a-z0-9]{1,64}");

    private BinaryCloudEventReader() {}

    /** @param headers all values of the headers that begin with {@code ce-}, by name in any case */
    public static InboundEvent read(Map<String, List<String>> headers, @Nullable String contentType, byte[] body) {
        ObjectNode attributes = JsonNodeFactory.instance.objectNode();
        headers.forEach((header, lines) -> {
            String name = header.toLowerCase(Locale.ROOT).substring(PREFIX.length());
            attribute(attributes, name, lines);
        });
        JsonNode version = attributes.get("specversion");
        if (version == null || !version.stringValue().equals("1.0")) {
            throw of("specversion", "the header ce-specversion must be 1.0");
        }
        if (contentType != null) {
            attributes.put("datacontenttype", contentType);
        }
        return JsonInboundEventReader.event(attributes, data(contentType, body));
    }

    private static void attribute(ObjectNode attributes, String name, List<String> lines) {
        if (!ATTRIBUTE.matcher(name).matches()) {
            throw of("ce-", "an attribute name must have 1 to 64 letters and digits");
        }
        if (name.equals("datacontenttype")) {
            throw of(name, "ce-datacontenttype must not be sent; binary mode uses Content-Type");
        }
        if (name.equals("data")) {
            throw of(name, "ce-data must not be sent; in binary mode the body is the data");
        }
        if (lines.size() != 1) {
            throw of(name, "the header ce-" + name + " was sent " + lines.size() + " times");
        }
        attributes.put(name, decode(name, unquote(name, lines.getFirst().strip())));
    }

    private static String unquote(String name, String value) {
        if (!value.startsWith("\"")) {
            return value;
        }
        StringBuilder out = new StringBuilder();
        int at = 1;
        while (at < value.length() && value.charAt(at) != '"') {
            if (value.charAt(at) == '\\') {
                at++;
            }
            if (at < value.length()) {
                out.append(value.charAt(at++));
            }
        }
        if (at != value.length() - 1) {
            throw of(name, "the header ce-" + name + " starts with a quote that is not closed at its end");
        }
        return out.toString();
    }

    /** Decodes once: doubly encoded values stay encoded once. */
    private static String decode(String name, String value) {
        ByteBuffer bytes = ByteBuffer.allocate(value.length());
        for (int i = 0; i < value.length(); i++) {
            char c = value.charAt(i);
            if (c < ' ' || c > '~') {
                throw of(name, "the header ce-" + name + " contains non-ASCII characters; percent-encode them");
            }
            if (c == '%') {
                int high = i + 2 < value.length() ? Character.digit(value.charAt(i + 1), 16) : -1;
                int low = i + 2 < value.length() ? Character.digit(value.charAt(i + 2), 16) : -1;
                if (high < 0 || low < 0) {
                    throw of(name, "the header ce-" + name + " has a % without two hexadecimal digits after it");
                }
                bytes.put((byte) (high << 4 | low));
                i += 2;
            } else {
                bytes.put((byte) c);
            }
        }
        try {
            return StandardCharsets.UTF_8.newDecoder().decode(bytes.flip()).toString();
        } catch (CharacterCodingException e) {
            throw of(name, "the header ce-" + name + " is not UTF-8 after decoding");
        }
    }

    /** JSON as JSON, text as text, anything else in Base64. */
    private static @Nullable JsonNode data(@Nullable String contentType, byte[] body) {
        if (body.length == 0) {
            return null;
        }
        if (contentType == null || JsonInboundEventReader.isJson(contentType)) {
            return StrictJsonCodec.parse(body);
        }
        if (contentType.toLowerCase(Locale.ROOT).startsWith("text/")) {
            try {
                return JsonNodeFactory.instance.stringNode(StandardCharsets.UTF_8
                        .newDecoder()
                        .decode(ByteBuffer.wrap(body))
                        .toString());
            } catch (CharacterCodingException e) {
                throw of("data", "data is not UTF-8, but its content type is text");
            }
        }
        return JsonNodeFactory.instance.stringNode(Base64.getEncoder().encodeToString(body));
    }
}
