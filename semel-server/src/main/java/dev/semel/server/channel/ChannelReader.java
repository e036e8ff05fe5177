package dev.semel.server.channel;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.TreeSet;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonPointer;
import tools.jackson.databind.JsonNode;

/** Makes a channel of its stored document. Credentials are names of secrets, and stay names until a message leaves. */
public final class ChannelReader {
    private static final Duration LONGEST_TIMEOUT = Duration.ofMinutes(10);
    private static final Duration LONGEST_WINDOW = Duration.ofDays(365);
    private static final Set<String> PROTECTIONS = Set.of("provider_key", "at_most_once", "ask");
    private static final Set<String> HTTP = Set.of(
            "url", "url_secret", "method", "headers", "body", "form", "message_id", "key_header", "sign_secrets",
            "timeout");
    private static final Set<String> AROUND = Set.of("kind", "title", "description", "honours", "provider_window");

    /** Headers that are written by the channel or by the connection. */
    private static final Set<String> OURS = Set.of(
            "host", "content-length", "transfer-encoding", "connection", "content-type", "webhook-id",
            "webhook-timestamp", "webhook-signature", "idempotency-key");

    /** What channels send with. */
    public record Ports(Mail.Line line, Calls calls) {}

    private final List<String> problems = new ArrayList<>();

    private ChannelReader() {}

    /** @throws SemelException with every problem and where it stands */
    public static Channel read(String name, JsonNode document, Ports ports) {
        var reader = new ChannelReader();
        Optional<Channel> channel = reader.read(new Doc(document, "", reader.problems), ports);
        if (channel.isEmpty() || !reader.problems.isEmpty()) {
            String count = reader.problems.size() == 1 ? "" : reader.problems.size() + " errors, the first: ";
            throw new SemelException(
                            ErrorCode.INVALID_INPUT,
                            "Channel '%s' cannot be used: %s%s. Nothing was changed or sent."
                                    .formatted(name, count, reader.problems.getFirst()),
                            "Correct the document of the channel.")
                    .with("errors", List.copyOf(reader.problems));
        }
        return channel.get();
    }

    private Optional<Channel> read(Doc document, Ports ports) {
        Set<String> kinds = new TreeSet<>();
        for (Medium medium : Medium.values()) {
            kinds.add(medium.word());
        }
        String kind = document.required("kind");
        if (!kinds.contains(kind)) {
            document.problem("kind", "is not one of " + String.join(", ", kinds));
            return Optional.empty();
        }
        Medium medium = Medium.valueOf(kind.toUpperCase(Locale.ROOT));
        return medium == Medium.EMAIL
                ? mail(document, ports.line())
                : http(document, medium)
                        .map(settings -> new HttpChannel(
                                settings,
                                ports.calls(),
                                ports.line().secrets(),
                                ports.line().clock()));
    }

    private Optional<Channel> mail(Doc document, Mail.Line line) {
        document.only(Set.of("kind", "title", "description", "smtp", "honours"));
        if (!Set.of("at_most_once", "ask").containsAll(document.texts("honours"))) {
            document.problem("honours", "has more than at_most_once and ask, and SMTP can keep no other");
        }
        Doc smtp = document.object("smtp");
        smtp.only(Set.of(
                "host", "port", "security", "user", "password_secret", "from", "reply_to", "connect_timeout",
                "answer_timeout", "timeout"));
        String security = smtp.oneOf("security", Set.of("starttls", "tls", "none"), "starttls");
        int port = smtp.port(
                switch (security) {
                    case "tls" -> 465;
                    case "none" -> 25;
                    default -> 587;
                });
        String user = smtp.text("user");
        String password = smtp.text("password_secret");
        if ((user == null) != (password == null)) {
            smtp.problem("user", "and password_secret come together or not at all");
        }
        if (user != null && security.equals("none")) {
            smtp.problem("security", "is none, and a password would go over the line for everybody to read");
        }
        String host = smtp.required("host");
        Mailbox from = mailbox(smtp, "from", smtp.required("from"));
        String replyTo = smtp.text("reply_to");
        Mailbox answers = replyTo == null ? null : mailbox(smtp, "reply_to", replyTo);
        MailSettings.Limits limits = limits(smtp);
        if (!problems.isEmpty() || from == null) {
            return Optional.empty();
        }
        MailSettings.Login login = user == null || password == null ? null : new MailSettings.Login(user, password);
        var settings = new MailSettings(
                host,
                port,
                MailSettings.Security.valueOf(security.toUpperCase(Locale.ROOT)),
                login,
                from,
                answers,
                limits);
        return Optional.of(new Mail(settings, line));
    }

    private static @Nullable Mailbox mailbox(Doc smtp, String name, String text) {
        Optional<Mailbox> mailbox = Mailbox.named(text);
        if (mailbox.isEmpty() && !text.isEmpty()) {
            smtp.problem(name, "is not one mail address, such as Acme <hello@acme.example>");
        }
        return mailbox.orElse(null);
    }

    private static MailSettings.Limits limits(Doc smtp) {
        MailSettings.Limits usual = MailSettings.Limits.USUAL;
        return new MailSettings.Limits(
                or(smtp.duration("connect_timeout", LONGEST_TIMEOUT), usual.connect()),
                or(smtp.duration("answer_timeout", LONGEST_TIMEOUT), usual.answer()),
                or(smtp.duration("timeout", LONGEST_TIMEOUT), usual.total()));
    }

    private static Duration or(@Nullable Duration value, Duration otherwise) {
        return value == null ? otherwise : value;
    }

    /** The members of `http` may stand in the document itself, where there are few of them. */
    private Optional<HttpSettings> http(Doc document, Medium medium) {
        boolean inside = document.has("http");
        Set<String> outer = new TreeSet<>(AROUND);
        outer.addAll(inside ? Set.of("http") : HTTP);
        document.only(outer);
        Doc http = inside ? document.object("http") : document;
        if (inside) {
            http.only(HTTP);
        }
        Map<String, SecretText> headers = headers(http);
        boolean form = http.has("form");
        BodyTemplate body = body(http, form);
        if (body == null && (medium == Medium.SMS || medium == Medium.WHATSAPP)) {
            http.problem("body", "is missing; it says what the provider wants, such as {\"to\": \"{{ to }}\"}");
        }
        SecretText url = url(http);
        String pointer = http.text("message_id");
        if (pointer != null && !pointer.startsWith("/")) {
            http.problem("message_id", "is not a JSON Pointer, such as /messages/0/id");
        }
        String keyHeader = or(http.text("key_header"), "Idempotency-Key");
        Set<String> honours = honours(document);
        Duration window = document.duration("provider_window", LONGEST_WINDOW);
        boolean keyLeaves = !keyHeader.equals("none") || (body != null && body.reads().contains("key"));
        if (honours.contains("provider_key") && (window == null || !keyLeaves)) {
            document.problem(
                    "honours",
                    "has provider_key; that needs provider_window, and the key in a header or in the body as {{ key }}");
        }
        Duration timeout = or(http.duration("timeout", LONGEST_TIMEOUT), Duration.ofSeconds(30));
        String method = http.oneOf("method", Set.of("POST", "PUT"), "POST");
        return problems.isEmpty()
                ? Optional.of(new HttpSettings(
                        medium,
                        url,
                        method,
                        headers,
                        body,
                        form,
                        pointer == null ? null : JsonPointer.compile(pointer),
                        keyHeader.equals("none") ? null : keyHeader,
                        http.texts("sign_secrets"),
                        honours,
                        window,
                        timeout))
                : Optional.empty();
    }

    private static String or(@Nullable String value, String otherwise) {
        return value == null ? otherwise : value;
    }

    private static SecretText url(Doc http) {
        String secret = http.text("url_secret");
        String plain = http.text("url");
        if ((secret == null) == (plain == null)) {
            http.problem("url", "or url_secret is needed, and not both");
        }
        if (secret != null) {
            return SecretText.only(secret);
        }
        SecretText url = SecretText.of(plain == null ? "" : plain);
        boolean web = plain == null || plain.startsWith("https://") || plain.startsWith("http://");
        if (!web || url.hasOther()) {
            http.problem("url", "does not begin with https://, or has an expression in it that is not a secret");
        }
        return url;
    }

    private static Map<String, SecretText> headers(Doc http) {
        Map<String, SecretText> headers = new LinkedHashMap<>();
        http.textMembers("headers").forEach((name, value) -> {
            SecretText text = SecretText.of(value);
            boolean plain = value.chars().allMatch(c -> c >= 0x20 && c < 0x7f);
            if (OURS.contains(name.toLowerCase(Locale.ROOT)) || !name.matches("[A-Za-z0-9-]{1,64}")) {
                http.problem("headers", "sets a header that is not for a channel to set");
            } else if (!plain || text.hasOther()) {
                http.problem("headers", "has a value that is not visible ASCII, with ${ secret.NAME } at most");
            }
            headers.put(name, text);
        });
        return headers;
    }

    private @Nullable BodyTemplate body(Doc http, boolean form) {
        if (form && http.has("body")) {
            http.problem("form", "and body cannot both be there");
        }
        String name = form ? "form" : "body";
        JsonNode body = http.raw(name);
        if (body.isMissingNode()) {
            return null;
        }
        if (!body.isObject() || (form && body.properties().stream().anyMatch(m -> m.getValue().isContainer()))) {
            http.problem(name, form ? "is not an object of plain values" : "is not an object");
        }
        return BodyTemplate.of(body, http.at(name), problems);
    }

    private static Set<String> honours(Doc document) {
        Set<String> honours = new TreeSet<>(document.texts("honours"));
        if (!PROTECTIONS.containsAll(honours)) {
            document.problem("honours", "is not made of provider_key, at_most_once and ask");
        }
        return document.has("honours") ? honours : Set.of("at_most_once", "ask");
    }
}
