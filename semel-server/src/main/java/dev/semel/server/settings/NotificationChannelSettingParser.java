package dev.semel.server.settings;

import dev.semel.server.files.yaml.DurationFormat;
import java.net.URI;
import java.net.URISyntaxException;
import java.time.Duration;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.function.Function;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

final class NotificationChannelSettingParser {
    static final List<String> KINDS = List.of("email", "chat", "webhook", "sms", "whatsapp");

    private static final List<String> METHODS = List.of("POST", "PUT");
    private static final List<String> DECLARED = List.of("at_most_once", "ask", "provider_key");
    private static final Set<String> CREDENTIALS =
            Set.of("authorization", "proxy-authorization", "cookie", "x-api-key", "api-key", "x-auth-token");
    private static final Pattern HEADER = Pattern.compile("[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}");
    private static final Pattern SECRET = Pattern.compile("\\$\\{\\s*secret\\.[a-z][a-z0-9._-]*\\s*\\}");
    private static final Duration SHORTEST_WINDOW = Duration.ofSeconds(1);
    private static final Duration LONGEST_WINDOW = Duration.ofDays(365);
    private static final int MOST_HEADERS = 50;
    private static final int LONGEST_URL = 2_048;

    private NotificationChannelSettingParser() {}

    /** @param check further validation of the parsed channel */
    static NotificationChannelSetting read(
            JsonNode node, Function<NotificationChannelSetting, List<WorkspaceSettingValidationProblem>> check) {
        WorkspaceSettingJsonParser document = WorkspaceSettingJsonParser.of(node);
        if (!document.has("kind")) {
            document.addProblem("kind", "is missing; it must be one of " + String.join(", ", KINDS));
        }
        String kind = document.choice("kind", KINDS);
        NotificationChannelSetting channel = switch (kind) {
            case "email" -> new NotificationChannelSetting.Email(smtp(document.object("smtp")));
            case "chat", "webhook" -> webhook(kind, document);
            default -> provider(kind, document);
        };
        document.rejectUnknownMembers();
        document.throwIfInvalid("channel");
        document.addProblem(check.apply(channel));
        document.throwIfInvalid("channel");
        return channel;
    }

    private static NotificationChannelSetting.Smtp smtp(WorkspaceSettingJsonParser smtp) {
        String security = smtp.choice("security", List.of("starttls", "tls", "none"));
        var read = new NotificationChannelSetting.Smtp(
                smtp.line("host", 253),
                smtp.number("port", 1, 65_535),
                NotificationChannelSetting.Security.valueOf(security.toUpperCase(Locale.ROOT)),
                smtp.optionalLine("user", 320),
                smtp.optionalName("password_secret"),
                smtp.line("from", 320),
                smtp.optionalLine("reply_to", 320));
        if ((read.user() == null) != (read.passwordSecret() == null)) {
            smtp.addProblem("password_secret", "must be set together with user");
        }
        if (read.passwordSecret() != null && read.security() == NotificationChannelSetting.Security.NONE) {
            smtp.addProblem("security", "must not be `none` with a password: the password would be sent unencrypted");
        }
        if (smtp.has("password")) {
            smtp.any("password");
            smtp.addProblem(
                    "password",
                    "must not be in the document: store it with `semel secret set NAME` and name it in"
                            + " password_secret");
        }
        smtp.rejectUnknownMembers();
        return read;
    }

    private static NotificationChannelSetting webhook(String kind, WorkspaceSettingJsonParser document) {
        String url = document.has("url") ? url(document) : null;
        String secret = document.optionalName("url_secret");
        if (document.has("url") == document.has("url_secret")) {
            document.addProblem("url", "must be set, or url_secret instead, but not both");
        }
        return new NotificationChannelSetting.Webhook(
                kind,
                new NotificationChannelSetting.Address(url, secret),
                headers(document),
                document.optionalName("signing_secret"),
                honours(document));
    }

    private static NotificationChannelSetting provider(String kind, WorkspaceSettingJsonParser document) {
        WorkspaceSettingJsonParser http = document.object("http");
        JsonNode form = http.any("form");
        JsonNode body = http.any("body");
        if (form != null && body != null) {
            http.addProblem("form", "must not be set together with body");
        }
        if ((form != null && !form.isObject()) || (form == null && (body == null || !body.isObject()))) {
            http.addProblem(form == null ? "body" : "form", "must be an object, such as {\"to\": \"{{ to }}\"}");
        }
        String keyHeader = http.optionalLine("key_header", 100);
        if (keyHeader != null && !HEADER.matcher(keyHeader).matches()) {
            http.addProblem("key_header", "is not a valid header name");
        }
        var call = new NotificationChannelSetting.ProviderRequest(
                url(http),
                http.choice("method", METHODS),
                headers(http),
                form == null ? body : form,
                form != null,
                keyHeader);
        http.rejectUnknownMembers();
        String messageId = document.optionalLine("message_id", 500);
        if (messageId != null && !messageId.startsWith("/")) {
            document.addProblem("message_id", "must be a JSON pointer such as /message/id");
        }
        return new NotificationChannelSetting.Provider(kind, call, messageId, honours(document));
    }

    private static String url(WorkspaceSettingJsonParser document) {
        String text = document.line("url", LONGEST_URL);
        if (text.isEmpty()) {
            return text;
        }
        try {
            URI uri = new URI(text);
            boolean web = "https".equalsIgnoreCase(uri.getScheme()) || "http".equalsIgnoreCase(uri.getScheme());
            if (!web || uri.getHost() == null) {
                document.addProblem("url", "must start with https:// or http:// and contain a host");
            } else if (uri.getRawUserInfo() != null) {
                document.addProblem("url", "must not contain a user or password: store them as a secret");
            }
        } catch (URISyntaxException e) {
            document.addProblem("url", "is not a URL");
        }
        return text;
    }

    /** Reads headers with valid names and without plain credentials, which every reader could see. */
    private static Map<String, String> headers(WorkspaceSettingJsonParser document) {
        Map<String, String> headers = document.lines("headers", MOST_HEADERS);
        headers.forEach((name, value) -> {
            if (!HEADER.matcher(name).matches()) {
                document.addProblem("headers", "contains an invalid header name");
            } else if (CREDENTIALS.contains(name.toLowerCase(Locale.ROOT))
                    && !SECRET.matcher(value).find()) {
                document.addProblem(
                        "headers",
                        "contains a credential in " + name.toLowerCase(Locale.ROOT)
                                + ": store it with `semel secret set NAME`, and write ${ secret.NAME } here");
            }
        });
        return headers;
    }

    private static NotificationChannelSetting.SupportedProtections honours(WorkspaceSettingJsonParser document) {
        List<String> declared = document.words("honours", DECLARED);
        Duration window = window(document);
        if (declared.contains("provider_key") != document.has("provider_window")) {
            document.addProblem(
                    "provider_window",
                    "must be set together with provider_key in honours; it says how long the provider remembers a key");
        }
        Set<String> words = new HashSet<>(NotificationChannelSetting.SupportedProtections.LEAST.names());
        words.addAll(declared);
        return new NotificationChannelSetting.SupportedProtections(Set.copyOf(words), window);
    }

    private static @Nullable Duration window(WorkspaceSettingJsonParser document) {
        String text = document.optionalText("provider_window", 20);
        if (text == null) {
            return null;
        }
        Duration window = DurationFormat.parse(text).orElse(Duration.ZERO);
        if (window.compareTo(SHORTEST_WINDOW) >= 0 && window.compareTo(LONGEST_WINDOW) <= 0) {
            return window;
        }
        document.addProblem("provider_window", "must be a duration from 1s to 365d, such as 24h");
        return null;
    }
}
