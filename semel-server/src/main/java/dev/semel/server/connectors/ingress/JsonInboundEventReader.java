package dev.semel.server.connectors.ingress;

import static dev.semel.server.connectors.ingress.InboundEventErrorFactory.of;

import dev.semel.json.StrictJsonCodec;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.DateTimeException;
import java.time.OffsetDateTime;
import java.util.Base64;
import java.util.function.Predicate;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Reads events from JSON: CloudEvents 1.0 in structured mode, or plain events without {@code specversion}. Every error
 * is a 400 that names the attribute.
 */
public final class JsonInboundEventReader {
    private static final int LONGEST_NAME = 1_024;
    private static final int LONGEST_TYPE = 255;
    private static final Pattern TIME =
            Pattern.compile("\\d{4}-\\d\\d-\\d\\d[Tt]\\d\\d:\\d\\d:\\d\\d(\\.\\d+)?([Zz]|[+-]\\d\\d:\\d\\d)");
    /** RFC 2045: type, subtype and parameters with a token or a quoted text as value. */
    private static final Pattern MEDIA_TYPE = Pattern.compile(
            "[!#$%&'*+.^_`|~\\w-]+/[!#$%&'*+.^_`|~\\w-]+(\\s*;\\s*[!#$%&'*+.^_`|~\\w-]+=([!#$%&'*+.^_`|~\\w-]+|\"[^\"]*\"))*\\s*;?\\s*");

    private static final Pattern ATTRIBUTE = Pattern.compile("[a-z0-9]{1,64}");

    private JsonInboundEventReader() {}

    /** @param cloud whether {@code specversion: "1.0"} is required */
    public static InboundEvent read(JsonNode json, boolean cloud) {
        if (!json.isObject()) {
            throw of("", "an event must be a JSON object with id, source and type");
        }
        checkVersion(json, cloud);
        ObjectNode whole = JsonNodeFactory.instance.objectNode();
        for (String name : json.propertyNames()) {
            if (!name.equals("data") && !name.equals("data_base64")) {
                attribute(whole, name, json.path(name));
            }
        }
        return event(whole, data(json));
    }

    private static void checkVersion(JsonNode json, boolean cloud) {
        JsonNode version = json.get("specversion");
        if (version == null && !cloud) {
            return;
        }
        if (version == null || !version.isString() || !version.stringValue().equals("1.0")) {
            throw of("specversion", "specversion must be \"1.0\"");
        }
    }

    private static void attribute(ObjectNode whole, String name, JsonNode value) {
        if (!ATTRIBUTE.matcher(name).matches()) {
            throw of(
                    shorten(name),
                    "an attribute name must have 1 to 64 lower-case letters and digits; put the payload into data");
        }
        if (value.isNull()) {
            return; // the CloudEvents JSON format treats null as absent
        }
        if (value.isContainer()) {
            throw of(name, name + " must be text, a number, true or false");
        }
        whole.set(name, value);
    }

    private static String shorten(String name) {
        StringBuilder out = new StringBuilder();
        name.codePoints().limit(64).forEach(c -> out.appendCodePoint(c < ' ' || c > '~' ? '?' : c));
        return out.toString();
    }

    private static @Nullable JsonNode data(JsonNode json) {
        JsonNode data = json.get("data");
        JsonNode encoded = json.get("data_base64");
        if (encoded == null || encoded.isNull()) {
            return data == null || data.isNull() ? null : data;
        }
        if (data != null && !data.isNull()) {
            throw of("data_base64", "send either data or data_base64, not both");
        }
        if (!encoded.isString()) {
            throw of("data_base64", "data_base64 must be text");
        }
        byte[] bytes;
        try {
            bytes = Base64.getDecoder().decode(encoded.stringValue());
        } catch (IllegalArgumentException e) {
            throw of("data_base64", "data_base64 is not Base64");
        }
        JsonNode type = json.get("datacontenttype");
        return type != null && type.isString() && isJson(type.stringValue()) ? StrictJsonCodec.parse(bytes) : encoded;
    }

    /** Creates the event from attributes that are already well-formed. Absent data stay absent. */
    static InboundEvent event(ObjectNode attributes, @Nullable JsonNode data) {
        required(attributes, "id", LONGEST_NAME);
        required(attributes, "source", LONGEST_NAME);
        required(attributes, "type", LONGEST_TYPE);
        check(attributes, "subject", text -> !text.isEmpty(), "subject must not be empty; leave it out instead");
        check(
                attributes,
                "time",
                JsonInboundEventReader::isTime,
                "time must be an RFC 3339 time such as 2026-11-15T09:00:00Z");
        check(
                attributes,
                "datacontenttype",
                text -> MEDIA_TYPE.matcher(text).matches(),
                "the content type of the data must be a media type such as application/json");
        check(
                attributes,
                "dataschema",
                JsonInboundEventReader::isAbsoluteUri,
                "dataschema must be an absolute URI such as https://acme.example/schema");
        if (data != null) {
            attributes.set("data", data);
        }
        return InboundEvent.of(attributes);
    }

    private static void check(ObjectNode attributes, String name, Predicate<String> rule, String otherwise) {
        String text = optional(attributes, name);
        if (text != null && !rule.test(text)) {
            throw of(name, otherwise);
        }
    }

    private static void required(ObjectNode attributes, String name, int longest) {
        String value = optional(attributes, name);
        if (value == null) {
            throw of(name, name + " is missing");
        }
        if (value.isBlank()) {
            throw of(name, name + " is empty");
        }
        if (value.length() > longest) {
            throw of(name, name + " is longer than " + longest + " characters");
        }
        if (value.chars().anyMatch(Character::isISOControl)) {
            throw of(name, name + " contains control characters");
        }
    }

    private static @Nullable String optional(ObjectNode attributes, String name) {
        JsonNode value = attributes.get(name);
        if (value == null) {
            return null;
        }
        if (!value.isString()) {
            throw of(name, name + " must be text");
        }
        return value.stringValue();
    }

    private static boolean isTime(String text) {
        if (!TIME.matcher(text).matches()) { // java.time also accepts times without seconds
            return false;
        }
        try {
            OffsetDateTime.parse(text);
            return true;
        } catch (DateTimeException e) {
            return false;
        }
    }

    private static boolean isAbsoluteUri(String text) {
        try {
            return new URI(text).isAbsolute();
        } catch (URISyntaxException e) {
            return false;
        }
    }

    static boolean isJson(String mediaType) {
        int end = mediaType.indexOf(';');
        String type =
                (end < 0 ? mediaType : mediaType.substring(0, end)).strip().toLowerCase(java.util.Locale.ROOT);
        return type.equals("application/json") || type.equals("text/json") || type.endsWith("+json");
    }
}
