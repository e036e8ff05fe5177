package dev.semel.server.connectors.channel;

import dev.semel.server.connectors.template.JsonRequestBodyTemplate;
import dev.semel.server.connectors.template.NotificationMedium;
import dev.semel.server.settings.NotificationChannelSetting;
import dev.semel.server.settings.WorkspaceSettingValidationProblem;
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
public final class NotificationChannelFactory {
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
            "semel-depth",
            "webhook-id",
            "webhook-timestamp",
            "webhook-signature");

    private NotificationChannelFactory() {}

    /** The connections that channels send with. */
    public record ChannelServices(
            SmtpNotificationChannel.ConnectionServices connection, NotificationHttpClient httpClient) {}

    public static NotificationMedium medium(NotificationChannelSetting setting) {
        return NotificationMedium.valueOf(setting.kind().toUpperCase(Locale.ROOT));
    }

    /** Validates what the document's form does not show; called when the channel is stored. */
    public static List<WorkspaceSettingValidationProblem> check(NotificationChannelSetting setting) {
        List<WorkspaceSettingValidationProblem> problems = new ArrayList<>();
        switch (setting) {
            case NotificationChannelSetting.Email(NotificationChannelSetting.Smtp smtp) -> {
                check(smtp.from(), "/smtp/from", problems);
                if (smtp.replyTo() != null) {
                    check(smtp.replyTo(), "/smtp/reply_to", problems);
                }
            }
            case NotificationChannelSetting.Webhook webhook -> check(webhook.headers(), "/headers", problems);
            case NotificationChannelSetting.Provider provider -> {
                NotificationChannelSetting.ProviderRequest http = provider.http();
                check(http.headers(), "/http/headers", problems);
                if (http.body() != null) {
                    JsonRequestBodyTemplate.of(http.body(), http.form() ? "/http/form" : "/http/body", problems);
                }
                if (http.form() && http.body() != null && hasContainers(http.body())) {
                    problems.add(
                            new WorkspaceSettingValidationProblem("/http/form", "must be an object of plain values"));
                }
            }
        }
        return problems;
    }

    private static void check(String mailbox, String pointer, List<WorkspaceSettingValidationProblem> problems) {
        if (EmailAddress.parseWithName(mailbox).isEmpty()) {
            problems.add(new WorkspaceSettingValidationProblem(
                    pointer, "must be one email address, such as Acme <hello@acme.example>"));
        }
    }

    private static void check(
            Map<String, String> headers, String pointer, List<WorkspaceSettingValidationProblem> problems) {
        headers.forEach((name, value) -> {
            if (RESERVED_HEADERS.contains(name.toLowerCase(Locale.ROOT))) {
                problems.add(new WorkspaceSettingValidationProblem(
                        pointer, "must not set " + name.toLowerCase(Locale.ROOT)));
            } else if (SecretPlaceholderTemplate.of(value).hasUnknownPlaceholder()
                    || !value.chars().allMatch(c -> c >= 0x20 && c < 0x7f)) {
                problems.add(new WorkspaceSettingValidationProblem(
                        pointer, "must be visible ASCII; only the placeholder ${ secret.NAME } is allowed"));
            }
        });
    }

    private static boolean hasContainers(JsonNode form) {
        return form.properties().stream().anyMatch(member -> member.getValue().isContainer());
    }

    /** @param setting without problems according to {@link #check} */
    public static NotificationChannel create(NotificationChannelSetting setting, ChannelServices ports) {
        NotificationMedium medium = medium(setting);
        return switch (setting) {
            case NotificationChannelSetting.Email(NotificationChannelSetting.Smtp smtp) ->
                new SmtpNotificationChannel(mail(smtp), ports.connection());
            case NotificationChannelSetting.Webhook webhook ->
                new HttpNotificationChannel(
                        new HttpNotificationChannelConfig(
                                medium,
                                url(webhook.address()),
                                "POST",
                                headers(webhook.headers()),
                                new HttpNotificationChannelConfig.Body(null, false),
                                null,
                                KEY,
                                webhook.signingSecret(),
                                webhook.protections(),
                                TIMEOUT),
                        ports);
            case NotificationChannelSetting.Provider provider ->
                new HttpNotificationChannel(provider(medium, provider), ports);
        };
    }

    private static HttpNotificationChannelConfig provider(
            NotificationMedium medium, NotificationChannelSetting.Provider provider) {
        NotificationChannelSetting.ProviderRequest http = provider.http();
        JsonRequestBodyTemplate body =
                http.body() == null ? null : JsonRequestBodyTemplate.of(http.body(), "", new ArrayList<>());
        return new HttpNotificationChannelConfig(
                medium,
                SecretPlaceholderTemplate.of(http.url()),
                http.method(),
                headers(http.headers()),
                new HttpNotificationChannelConfig.Body(body, http.form()),
                provider.messageId() == null ? null : JsonPointer.compile(provider.messageId()),
                http.keyHeader() == null ? KEY : http.keyHeader(),
                null,
                provider.protections(),
                TIMEOUT);
    }

    private static SmtpNotificationChannelConfig mail(NotificationChannelSetting.Smtp smtp) {
        SmtpNotificationChannelConfig.Login login = smtp.user() == null || smtp.passwordSecret() == null
                ? null
                : new SmtpNotificationChannelConfig.Login(smtp.user(), smtp.passwordSecret());
        return new SmtpNotificationChannelConfig(
                smtp.host(),
                smtp.port(),
                smtp.security(),
                login,
                mailbox(smtp.from()),
                smtp.replyTo() == null ? null : mailbox(smtp.replyTo()),
                SmtpNotificationChannelConfig.Timeouts.DEFAULT);
    }

    private static EmailAddress mailbox(String text) {
        return EmailAddress.parseWithName(text)
                .orElseThrow(() -> MimeMessageWriter.rejection(
                        "the sender address of the channel is not one plain email address"));
    }

    private static SecretPlaceholderTemplate url(NotificationChannelSetting.Address address) {
        @Nullable String secret = address.urlSecret();
        return secret == null
                ? SecretPlaceholderTemplate.of(String.valueOf(address.url()))
                : SecretPlaceholderTemplate.ofSecret(secret);
    }

    private static Map<String, SecretPlaceholderTemplate> headers(Map<String, String> headers) {
        Map<String, SecretPlaceholderTemplate> texts = new LinkedHashMap<>();
        headers.forEach((name, value) -> texts.put(name, SecretPlaceholderTemplate.of(value)));
        return texts;
    }
}
