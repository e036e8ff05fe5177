package dev.semel.server.settings;

import java.time.Duration;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeSet;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * What is to be known of a channel without sending by it. What its provider needs is the business of {@link Checks};
 * that no credential stands in it for everybody to read is looked after here.
 *
 * @param kind `email`, `chat`, `webhook`, `sms` or `whatsapp`
 * @param honours which protections a step that sends by it may state, as workflow files spell them
 * @param providerWindow how long the provider remembers a key; null where it does not
 * @param secrets names of the secrets that it uses
 */
public record ChannelSetting(
        String kind,
        Set<String> honours,
        @Nullable Duration providerWindow,
        Set<String> secrets) {
    static final List<String> KINDS = List.of("email", "chat", "webhook", "sms", "whatsapp");
    static final int LARGEST = 64 << 10;

    /** What needs nothing of the other side. SMTP has no key that a server would know a second delivery by. */
    private static final List<String> LEAST = List.of("at_most_once", "ask");

    private static final List<String> MOST = List.of("at_most_once", "ask", "provider_key");
    private static final Set<String> CREDENTIALS =
            Set.of("authorization", "proxy-authorization", "cookie", "x-api-key", "api-key", "x-auth-token");
    private static final Set<String> FREE_TEXT = Set.of("body", "form", "description");
    private static final Pattern USER_IN_URL = Pattern.compile("[A-Za-z]+://[^/?#]*@.*");
    private static final Pattern SECRET = Pattern.compile("\\$\\{\\s*secret\\.([A-Za-z][A-Za-z0-9._-]{0,63})\\s*\\}");
    private static final Pattern TIME = Pattern.compile("([1-9][0-9]{0,5})(s|m|h|d)");

    static ChannelSetting read(JsonNode node) {
        Document document = Document.of(node);
        if (!document.has("kind")) {
            document.wrong("kind", "is missing; it is one of " + String.join(", ", KINDS));
        }
        String kind = document.choice("kind", KINDS);
        List<String> honours = document.words("honours", kind.equals("email") ? LEAST : MOST);
        Set<String> secrets = new TreeSet<>();
        new Walk(document, secrets).members("", node);
        Duration window = window(document.maybeText("provider_window", 20));
        if (honours.contains("provider_key") && window == null) {
            document.wrong("provider_window", "must say for how long the provider remembers a key, such as 24h");
        }
        document.refuseWhatIsWrong("channel");
        return new ChannelSetting(kind, Set.copyOf(honours.isEmpty() ? LEAST : honours), window, Set.copyOf(secrets));
    }

    private static @Nullable Duration window(@Nullable String text) {
        Matcher time = TIME.matcher(text == null ? "" : text);
        if (!time.matches()) {
            return null;
        }
        long count = Long.parseLong(time.group(1));
        return switch (time.group(2)) {
            case "s" -> Duration.ofSeconds(count);
            case "m" -> Duration.ofMinutes(count);
            case "h" -> Duration.ofHours(count);
            default -> Duration.ofDays(count);
        };
    }

    /** Goes through all members: gathers the names of secrets, and finds credentials that are none. */
    private record Walk(Document document, Set<String> secrets) {
        void members(String pointer, JsonNode node) {
            for (Map.Entry<String, JsonNode> member : node.properties()) {
                look(pointer, member.getKey(), member.getValue());
            }
        }

        private void look(String pointer, String name, JsonNode value) {
            String place = pointer + "/" + name.replace("~", "~0").replace("/", "~1");
            if (value.isObject()) {
                members(place, value);
            }
            for (JsonNode one : value.isArray() ? value : List.<JsonNode>of()) {
                look(place, name, one);
            }
            if (value.isString()) {
                text(place, name, value.stringValue());
            }
        }

        private void text(String place, String name, String text) {
            Matcher named = SECRET.matcher(text);
            boolean found = false;
            while (named.find()) {
                found = true;
                secrets.add(named.group(1));
            }
            if (name.endsWith("_secret") || name.endsWith("_secrets")) {
                secrets.add(text);
            }
            String member = name.toLowerCase(Locale.ROOT);
            boolean free = FREE_TEXT.stream().anyMatch(one -> place.contains("/" + one));
            if (!free && text.chars().anyMatch(Character::isISOControl)) {
                document.wrongAt(place, "must be one line without control characters");
            } else if (member.equals("url") && USER_IN_URL.matcher(text).matches()) {
                document.wrongAt(place, "must hold no user and password: put them into a secret");
            } else if (!found && !free && (member.equals("password") || CREDENTIALS.contains(member))) {
                document.wrongAt(
                        place,
                        "is a credential that everybody could read here: store it with `semel secret set NAME`, and name"
                                + " that secret");
            }
        }
    }
}
