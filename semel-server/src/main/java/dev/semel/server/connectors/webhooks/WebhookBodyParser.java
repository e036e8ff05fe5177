package dev.semel.server.connectors.webhooks;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJsonCodec;
import java.net.URLDecoder;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.SortedMap;
import java.util.TreeMap;
import tools.jackson.databind.JsonNode;
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
        formFields(body).forEach((name, values) -> {
            if (values.size() == 1) {
                form.put(name, values.getFirst());
            } else {
                values.forEach(form.putArray(name)::add);
            }
        });
        return form;
    }

    /** The decoded fields of a form in the order of their names, each with its values in the order of the form. */
    static SortedMap<String, List<String>> formFields(byte[] body) {
        SortedMap<String, List<String>> form = new TreeMap<>();
        String text = utf8(body);
        List<String> fields = text.isEmpty() ? List.of() : List.of(text.split("&", MOST_FIELDS + 1));
        if (fields.size() > MOST_FIELDS) {
            throw malformed("has more than " + MOST_FIELDS + " fields");
        }
        for (String field : fields) {
            int equals = field.indexOf('=');
            String name = decode(equals < 0 ? field : field.substring(0, equals));
            String value = equals < 0 ? "" : decode(field.substring(equals + 1));
            form.computeIfAbsent(name, _ -> new ArrayList<>()).add(value);
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
