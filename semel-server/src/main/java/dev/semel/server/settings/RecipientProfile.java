package dev.semel.server.settings;

import dev.semel.idempotency.JsonFieldPath;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.regex.Pattern;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * A message recipient's profile: addresses, attributes and PII markings. Unsubscriptions are stored separately, so that
 * replacing a profile keeps them.
 *
 * @param email in lower case
 * @param phone in E.164 form such as +49…, without spaces
 * @param attributes free values for templates and conditions
 * @param pii attribute paths that hold personal data; addresses always do
 */
public record RecipientProfile(
        @Nullable String email,
        @Nullable String phone,
        @Nullable String chat,
        JsonNode attributes,
        List<String> pii) {
    static final int LARGEST = 64 << 10;
    private static final Pattern EMAIL =
            Pattern.compile("[^\\s@<>()\\[\\]\\\\,;:\"\\p{Cntrl}]{1,64}@[^\\s@<>()\\[\\]\\\\,;:\"\\p{Cntrl}]{1,253}");
    private static final Pattern PHONE = Pattern.compile("\\+[1-9][0-9]{6,14}");

    private static final int MOST_MARKED = 50;

    public RecipientProfile {
        pii = List.copyOf(pii);
    }

    static RecipientProfile read(JsonNode node) {
        WorkspaceSettingJsonParser document = WorkspaceSettingJsonParser.of(node);
        String email = document.optionalLine("email", 254);
        if (email != null && !EMAIL.matcher(email).matches()) {
            document.addProblem("email", "must be an email address");
        }
        String phone = document.optionalLine("phone", 20);
        if (phone != null && !PHONE.matcher(phone).matches()) {
            document.addProblem("phone", "must be a phone number such as +4930123456, without spaces");
        }
        String chat = document.optionalLine("chat", 500);
        JsonNode attributes = document.any("attributes");
        if (attributes != null && !attributes.isObject()) {
            document.addProblem("attributes", "must be an object");
        }
        List<String> pii = readPii(document);
        return document.finish(
                "profile",
                new RecipientProfile(
                        email == null ? null : lower(email),
                        phone,
                        chat,
                        attributes == null ? JsonNodeFactory.instance.objectNode() : attributes,
                        pii));
    }

    private static List<String> readPii(WorkspaceSettingJsonParser document) {
        JsonNode said = document.any("pii");
        List<String> paths = new ArrayList<>();
        for (JsonNode one : said == null || !said.isArray() ? JsonNodeFactory.instance.arrayNode() : said) {
            paths.add(one.isString() ? one.stringValue() : "");
        }
        boolean wrong = said != null && !said.isArray() || paths.size() > MOST_MARKED;
        if (wrong || !paths.stream().allMatch(RecipientProfile::isPath)) {
            document.addProblem(
                    "pii", "must be a list of up to " + MOST_MARKED + " paths in attributes, such as [\"name\"]");
        }
        return paths;
    }

    private static boolean isPath(String text) {
        try {
            return !text.isEmpty() && attribute(text).toString().endsWith(text);
        } catch (IllegalArgumentException e) {
            return false;
        }
    }

    /** The paths of personal data in the document. */
    public List<JsonFieldPath> piiPaths() {
        return Stream.concat(
                        Stream.of("email", "phone", "chat").map(JsonFieldPath::parse),
                        pii.stream().map(RecipientProfile::attribute))
                .toList();
    }

    private static JsonFieldPath attribute(String path) {
        return JsonFieldPath.parse("attributes." + path);
    }

    static String lower(String email) {
        return email.strip().toLowerCase(Locale.ROOT);
    }

    public ObjectNode toJson() {
        ObjectNode out = JsonNodeFactory.instance.objectNode();
        if (email != null) {
            out.put("email", email);
        }
        if (phone != null) {
            out.put("phone", phone);
        }
        if (chat != null) {
            out.put("chat", chat);
        }
        out.set("attributes", attributes);
        if (!pii.isEmpty()) {
            ArrayNode marked = out.putArray("pii");
            pii.forEach(marked::add);
        }
        return out;
    }
}
