package dev.semel.server.settings;

import java.util.Locale;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * A person who gets messages. What they unsubscribed from is kept apart, so that whoever writes a profile anew does not
 * take it back.
 *
 * @param email in lower case
 * @param phone as +49…, without spaces
 * @param attributes whatever templates and conditions read
 */
public record Profile(
        @Nullable String email,
        @Nullable String phone,
        @Nullable String chat,
        JsonNode attributes) {
    static final int LARGEST = 64 << 10;
    private static final Pattern EMAIL =
            Pattern.compile("[^\\s@<>()\\[\\]\\\\,;:\"\\p{Cntrl}]{1,64}@[^\\s@<>()\\[\\]\\\\,;:\"\\p{Cntrl}]{1,253}");
    private static final Pattern PHONE = Pattern.compile("\\+[1-9][0-9]{6,14}");

    static Profile read(JsonNode node) {
        Document document = Document.of(node);
        String email = document.maybeLine("email", 254);
        if (email != null && !EMAIL.matcher(email).matches()) {
            document.wrong("email", "is not an e-mail address");
        }
        String phone = document.maybeLine("phone", 20);
        if (phone != null && !PHONE.matcher(phone).matches()) {
            document.wrong("phone", "must be a number such as +4930123456, without spaces");
        }
        String chat = document.maybeLine("chat", 500);
        JsonNode attributes = document.any("attributes");
        if (attributes != null && !attributes.isObject()) {
            document.wrong("attributes", "must be an object");
        }
        document.end();
        document.refuseWhatIsWrong("profile");
        return new Profile(
                email == null ? null : lower(email),
                phone,
                chat,
                attributes == null ? JsonNodeFactory.instance.objectNode() : attributes);
    }

    static String lower(String email) {
        return email.strip().toLowerCase(Locale.ROOT);
    }

    /** As it is kept. */
    ObjectNode document() {
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
        return out;
    }
}
