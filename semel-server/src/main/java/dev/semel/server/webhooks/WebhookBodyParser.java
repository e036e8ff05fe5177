package dev.semel.server.webhooks;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJsonCodec;
import java.net.URLDecoder;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.List;
import java.util.Locale;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Parses the body of a verified webhook delivery to JSON, from JSON or form encoding. */
final class WebhookBodyParser {
    private static final String FORM = "application/x-www-form-urlencoded";
    private static final int MOST_FIELDS = 1_000;
    /** The form field in which GitHub and Slack send a JSON document. */
    private static final String WRAPPED = "payload";

    private WebhookBodyParser() {}

    /**
     * The Content-Type header is not signed. So it applies only for providers that send forms, and a body that looks
     * like JSON is always parsed as JSON.
     */
    static JsonNode parse(InboundWebhookRequest webhookRequest, boolean forms) {
        String type = webhookRequest.header("Content-Type");
        boolean form = forms && type != null && type.toLowerCase(Locale.ROOT).startsWith(FORM);
        if (!form || looksLikeJson(webhookRequest.body())) {
            return StrictJsonCodec.parse(webhookRequest.body());
        }
        ObjectNode fields = form(webhookRequest.body());
        JsonNode wrapped = fields.get(WRAPPED);
        return fields.size() == 1 && wrapped != null && wrapped.isString()
                ? StrictJsonCodec.parse(wrapped.stringValue())
                : fields;
    }

    private static boolean looksLikeJson(byte[] body) {
        for (byte one : body) {
            if (one != ' ' && one != '\t' && one != '\r' && one != '\n') {
                return one == '{' || one == '[';
            }
        }
        return false;
    }

    private static ObjectNode form(byte[] body) {
        ObjectNode form = JsonNodeFactory.instance.objectNode();
        String text = utf8(body);
        List<String> fields = text.isEmpty() ? List.of() : List.of(text.split("&", MOST_FIELDS + 1));
        if (fields.size() > MOST_FIELDS) {
            throw malformed("has more than " + MOST_FIELDS + " fields");
        }
        for (String field : fields) {
            int equals = field.indexOf('=');
            String name = decode(equals < 0 ? field : field.substring(0, equals));
            String value = equals < 0 ? "" : decode(field.substring(equals + 1));
            JsonNode before = form.get(name);
            switch (before) {
                case null -> form.put(name, value);
                case ArrayNode list -> list.add(value);
                default -> form.putArray(name).add(before).add(value);
            }
        }
        return form;
    }

    private static String utf8(byte[] body) {
        try {
            return StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(body))
                    .toString();
        } catch (CharacterCodingException e) {
            throw malformed("is not UTF-8");
        }
    }

    private static String decode(String text) {
        String decoded;
        try {
            decoded = URLDecoder.decode(text, StandardCharsets.UTF_8);
        } catch (IllegalArgumentException e) {
            throw malformed("has a percent sign without two hex digits after it");
        }
        if (decoded.indexOf('\uFFFD') >= 0 && text.indexOf('\uFFFD') < 0 && !text.contains("%EF%BF%BD")) {
            throw malformed("has percent-encoded bytes that are not UTF-8");
        }
        return decoded;
    }

    private static SemelException malformed(String rule) {
        return new SemelException(
                ErrorCode.INVALID_INPUT,
                "The form body of the delivery " + rule + ". No run was started.",
                "Send the body as application/x-www-form-urlencoded in UTF-8, or as JSON.");
    }
}
