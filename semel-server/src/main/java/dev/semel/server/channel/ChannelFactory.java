package dev.semel.server.channel;

import dev.semel.server.settings.ChannelSetting;
import dev.semel.server.settings.SettingProblem;
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
public final class ChannelFactory {
    private static final String KEY = "Idempotency-Key";
    private static final Duration TIMEOUT = Duration.ofSeconds(30);

    /** Headers that only the channel or the HTTP connection may set. */
    private static final Set<String> RESERVED_HEADERS = Set.of(
            "host",
            "content-length",
            "transfer-encoding",
            "connection",
            "content-type",
            "idempotency-key",
            "webhook-id",
            "webhook-timestamp",
            "webhook-signature");

    private ChannelFactory() {}

    /** The connections that channels send with. */
    public record ChannelServices(SmtpChannel.ConnectionServices connection, ChannelHttpClient httpClient) {}

    public static Medium medium(ChannelSetting setting) {
        return Medium.valueOf(setting.kind().toUpperCase(Locale.ROOT));
    }

    /** Validates what the document's form does not show; called when the channel is stored. */
    public static List<SettingProblem> check(ChannelSetting setting) {
        List<SettingProblem> problems = new ArrayList<>();
        switch (setting) {
            case ChannelSetting.Email(ChannelSetting.Smtp smtp) -> {
                check(smtp.from(), "/smtp/from", problems);
                if (smtp.replyTo() != null) {
                    check(smtp.replyTo(), "/smtp/reply_to", problems);
                }
            }
            case ChannelSetting.Webhook hook -> check(hook.headers(), "/headers", problems);
            case ChannelSetting.Provider provider -> {
                ChannelSetting.ProviderRequest http = provider.http();
                check(http.headers(), "/http/headers", problems);
                if (http.body() != null) {
                    BodyTemplate.of(http.body(), http.form() ? "/http/form" : "/http/body", problems);
                }
                if (http.form() && http.body() != null && hasContainers(http.body())) {
                    problems.add(new SettingProblem("/http/form", "must be an object of plain values"));
                }
            }
        }
        return problems;
    }

    private static void check(String mailbox, String pointer, List<SettingProblem> problems) {
        if (EmailAddress.parseWithName(mailbox).isEmpty()) {
            problems.add(new SettingProblem(pointer, "must be one email address, such as Acme <hello@acme.example>"));
        }
    }

    private static void check(Map<String, String> headers, String pointer, List<SettingProblem> problems) {
        headers.forEach((name, value) -> {
            if (RESERVED_HEADERS.contains(name.toLowerCase(Locale.ROOT))) {
                problems.add(new SettingProblem(pointer, "must not set " + name.toLowerCase(Locale.ROOT)));
            } else if (SecretTemplate.of(value).hasUnknownPlaceholder()
                    || !value.chars().allMatch(c -> c >= 0x20 && c < 0x7f)) {
                problems.add(new SettingProblem(
                        pointer, "must be visible ASCII; only the placeholder" + " ${ secret.NAME } is allowed"));
            }
        });
    }

    private static boolean hasContainers(JsonNode form) {
        return form.properties().stream().anyMatch(member -> member.getValue().isContainer());
    }

    /** @param setting without problems according to {@link #check} */
    public static Channel create(ChannelSetting setting, ChannelServices ports) {
        Medium medium = medium(setting);
        return switch (setting) {
            case ChannelSetting.Email(ChannelSetting.Smtp smtp) -> new SmtpChannel(mail(smtp), ports.connection());
            case ChannelSetting.Webhook hook ->
                new HttpChannel(
                        new HttpChannelConfig(
                                medium,
                                url(hook.address()),
                                "POST",
                                headers(hook.headers()),
                                new HttpChannelConfig.Body(null, false),
                                null,
                                KEY,
                                hook.signingSecret(),
                                hook.protections(),
                                TIMEOUT),
                        ports);
            case ChannelSetting.Provider provider -> new HttpChannel(provider(medium, provider), ports);
        };
    }

    private static HttpChannelConfig provider(Medium medium, ChannelSetting.Provider provider) {
        ChannelSetting.ProviderRequest http = provider.http();
        BodyTemplate body = http.body() == null ? null : BodyTemplate.of(http.body(), "", new ArrayList<>());
        return new HttpChannelConfig(
                medium,
                SecretTemplate.of(http.url()),
                http.method(),
                headers(http.headers()),
                new HttpChannelConfig.Body(body, http.form()),
                provider.messageId() == null ? null : JsonPointer.compile(provider.messageId()),
                http.keyHeader() == null ? KEY : http.keyHeader(),
                null,
                provider.protections(),
                TIMEOUT);
    }

    private static SmtpChannelConfig mail(ChannelSetting.Smtp smtp) {
        SmtpChannelConfig.Login login = smtp.user() == null || smtp.passwordSecret() == null
                ? null
                : new SmtpChannelConfig.Login(smtp.user(), smtp.passwordSecret());
        return new SmtpChannelConfig(
                smtp.host(),
                smtp.port(),
                smtp.security(),
                login,
                mailbox(smtp.from()),
                smtp.replyTo() == null ? null : mailbox(smtp.replyTo()),
                SmtpChannelConfig.Timeouts.DEFAULT);
    }

    private static EmailAddress mailbox(String text) {
        return EmailAddress.parseWithName(text)
                .orElseThrow(() -> MimeMessageWriter.rejection(
                        "the sender address of the channel is not one plain email address"));
    }

    private static SecretTemplate url(ChannelSetting.Address address) {
        @Nullable String secret = address.urlSecret();
        return secret == null ? SecretTemplate.of(String.valueOf(address.url())) : SecretTemplate.ofSecret(secret);
    }

    private static Map<String, SecretTemplate> headers(Map<String, String> headers) {
        Map<String, SecretTemplate> texts = new LinkedHashMap<>();
        headers.forEach((name, value) -> texts.put(name, SecretTemplate.of(value)));
        return texts;
    }
}
