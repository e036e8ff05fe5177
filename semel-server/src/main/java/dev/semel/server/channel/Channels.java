package dev.semel.server.channel;

import dev.semel.server.settings.ChannelSetting;
import dev.semel.server.settings.Problem;
import java.time.Duration;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.core.JsonPointer;
import tools.jackson.databind.JsonNode;

/** Creates channels from their stored settings. Credentials stay secret names until a message is sent. */
public final class Channels {
    private static final String KEY = "Idempotency-Key";
    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    /** Headers that only the channel or the HTTP connection may set. */
    private static final Set<String> OURS = Set.of(
            "host",
            "content-length",
            "transfer-encoding",
            "connection",
            "content-type",
            "idempotency-key",
            "webhook-id",
            "webhook-timestamp",
            "webhook-signature");

    private Channels() {}

    /** The connections that channels send with. */
    public record Ports(Mail.Line line, Calls calls) {}

    public static Medium medium(ChannelSetting setting) {
        return Medium.valueOf(setting.kind().toUpperCase(Locale.ROOT));
    }

    /** Validates what the document's form does not show; called when the channel is stored. */
    public static List<Problem> check(ChannelSetting setting) {
        List<Problem> problems = new ArrayList<>();
        switch (setting) {
            case ChannelSetting.Email(ChannelSetting.Smtp smtp) -> {
                check(smtp.from(), "/smtp/from", problems);
                if (smtp.replyTo() != null) {
                    check(smtp.replyTo(), "/smtp/reply_to", problems);
                }
            }
            case ChannelSetting.Webhook hook -> check(hook.headers(), "/headers", problems);
            case ChannelSetting.Provider provider -> {
                ChannelSetting.Call http = provider.http();
                check(http.headers(), "/http/headers", problems);
                if (http.body() != null) {
                    BodyTemplate.of(http.body(), http.form() ? "/http/form" : "/http/body", problems);
                }
                if (http.form() && http.body() != null && hasContainers(http.body())) {
                    problems.add(new Problem("/http/form", "must be an object of plain values"));
                }
            }
        }
        return problems;
    }

    private static void check(String mailbox, String pointer, List<Problem> problems) {
        if (Mailbox.named(mailbox).isEmpty()) {
            problems.add(new Problem(pointer, "must be one email address, such as Acme <hello@acme.example>"));
        }
    }

    private static void check(Map<String, String> headers, String pointer, List<Problem> problems) {
        headers.forEach((name, value) -> {
            if (OURS.contains(name.toLowerCase(Locale.ROOT))) {
                problems.add(new Problem(pointer, "must not set " + name.toLowerCase(Locale.ROOT)));
            } else if (SecretText.of(value).hasOther() || !value.chars().allMatch(c -> c >= 0x20 && c < 0x7f)) {
                problems.add(
                        new Problem(pointer, "must be visible ASCII; only the placeholder"
                                + " ${ secret.NAME } is allowed"));
            }
        });
    }

    private static boolean hasContainers(JsonNode form) {
        return form.properties().stream().anyMatch(member -> member.getValue().isContainer());
    }

    /** @param setting without problems according to {@link #check} */
    public static Channel of(ChannelSetting setting, Ports ports) {
        Medium medium = medium(setting);
        return switch (setting) {
            case ChannelSetting.Email(ChannelSetting.Smtp smtp) -> new Mail(mail(smtp), ports.line());
            case ChannelSetting.Webhook hook ->
                new HttpChannel(
                        new HttpSettings(
                                medium,
                                url(hook.address()),
                                "POST",
                                headers(hook.headers()),
                                new HttpSettings.Body(null, false),
                                null,
                                KEY,
                                hook.signingSecret(),
                                hook.honours(),
                                TIMEOUT),
                        ports);
            case ChannelSetting.Provider provider -> new HttpChannel(provider(medium, provider), ports);
        };
    }

    private static HttpSettings provider(Medium medium, ChannelSetting.Provider provider) {
        ChannelSetting.Call http = provider.http();
        BodyTemplate body = http.body() == null ? null : BodyTemplate.of(http.body(), "", new ArrayList<>());
        return new HttpSettings(
                medium,
                SecretText.of(http.url()),
                http.method(),
                headers(http.headers()),
                new HttpSettings.Body(body, http.form()),
                provider.messageId() == null ? null : JsonPointer.compile(provider.messageId()),
                http.keyHeader() == null ? KEY : http.keyHeader(),
                null,
                provider.honours(),
                TIMEOUT);
    }

    private static MailSettings mail(ChannelSetting.Smtp smtp) {
        MailSettings.Login login = smtp.user() == null || smtp.passwordSecret() == null
                ? null
                : new MailSettings.Login(smtp.user(), smtp.passwordSecret());
        return new MailSettings(
                smtp.host(),
                smtp.port(),
                smtp.security(),
                login,
                mailbox(smtp.from()),
                smtp.replyTo() == null ? null : mailbox(smtp.replyTo()),
                MailSettings.Limits.USUAL);
    }

    private static Mailbox mailbox(String text) {
        return Mailbox.named(text)
                .orElseThrow(() -> Letter.refused("the sender address of the channel is not one plain email address"));
    }

    private static SecretText url(ChannelSetting.Address address) {
        @Nullable String secret = address.urlSecret();
        return secret == null ? SecretText.of(String.valueOf(address.url())) : SecretText.only(secret);
    }

    private static Map<String, SecretText> headers(Map<String, String> headers) {
        Map<String, SecretText> texts = new LinkedHashMap<>();
        headers.forEach((name, value) -> texts.put(name, SecretText.of(value)));
        return texts;
    }
}
