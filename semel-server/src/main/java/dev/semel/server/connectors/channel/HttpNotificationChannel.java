package dev.semel.server.connectors.channel;

import dev.semel.error.RequestRejected;
import dev.semel.json.StrictJsonCodec;
import dev.semel.server.connectors.outbound.OutboundRequestHeader;
import dev.semel.server.connectors.outbound.OutboundRequestUrl;
import dev.semel.server.connectors.template.JsonRequestBodyTemplate;
import dev.semel.server.connectors.template.NotificationMedium;
import dev.semel.server.connectors.template.NotificationTemplateRenderer;
import dev.semel.server.connectors.template.RenderedMessage;
import dev.semel.workflow.Step;
import java.io.IOException;
import java.net.URLEncoder;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.UnaryOperator;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Channel that sends chat, webhook, SMS and WhatsApp messages as one HTTP request with the effect key. */
final class HttpNotificationChannel implements NotificationChannel {
    private static final String OVERRIDE = "override.";

    private final HttpNotificationChannelConfig settings;
    private final NotificationHttpClient calls;
    private final SmtpNotificationChannel.ConnectionServices line;

    HttpNotificationChannel(HttpNotificationChannelConfig settings, NotificationChannelFactory.ChannelServices ports) {
        this.settings = settings;
        this.calls = ports.httpClient();
        this.line = ports.connection();
    }

    @Override
    public Set<String> protections() {
        return settings.protections().names();
    }

    @Override
    public Optional<Duration> providerWindow() {
        return Optional.ofNullable(settings.protections().providerWindow());
    }

    /** The names that the body template reads as `override.NAME`. */
    @Override
    public Set<String> overrides() {
        JsonRequestBodyTemplate template = settings.body().template();
        return template == null
                ? Set.of()
                : template.referencedPaths().stream()
                        .filter(path -> path.startsWith(OVERRIDE))
                        .map(path -> path.substring(OVERRIDE.length()))
                        .collect(Collectors.toUnmodifiableSet());
    }

    @Override
    public NotificationDeliveryReceipt send(Step step, NotificationMessage message)
            throws IOException, InterruptedException {
        JsonNode answer = calls.send(step, NotificationPreSendFailureTranslator.run(() -> call(step, message)));
        return new NotificationDeliveryReceipt(id(answer), "accepted by the provider");
    }

    private NotificationHttpClient.Call call(Step step, NotificationMessage message) {
        byte[] body = serialize(body(step, message));
        // The URL may itself be a secret, so its host is known only now.
        OutboundRequestUrl target = OutboundRequestUrl.parse(
                settings.url().reveal(name -> line.secrets().reveal(name, null, 0)));
        UnaryOperator<String> secrets = name -> line.secrets().reveal(name, target.host(), target.port());
        String url = settings.url().reveal(secrets);
        List<NotificationHttpClient.Header> headers = new ArrayList<>();
        String type = settings.body().form() ? "application/x-www-form-urlencoded" : "application/json";
        headers.add(new NotificationHttpClient.Header("Content-Type", type, false));
        headers.add(new NotificationHttpClient.Header(settings.keyHeader(), step.key(), false));
        settings.headers()
                .forEach((name, value) ->
                        headers.add(new NotificationHttpClient.Header(name, value.reveal(secrets), value.isSecret())));
        message.headers().forEach((name, value) -> headers.add(customHeader(name, value)));
        if (message.depth() > 0) {
            // A receiver that starts a run continues this count, so workflows that start each other reach the limit.
            headers.add(new NotificationHttpClient.Header(
                    OutboundRequestHeader.DEPTH, Integer.toString(message.depth()), false));
        }
        if (settings.signingSecret() != null) {
            // During rotation the secret holds both values, and both sign.
            List<String> signing =
                    List.of(secrets.apply(settings.signingSecret()).strip().split("\\s+"));
            headers.addAll(
                    OutboundWebhookSigner.headers(step.key(), line.clock().instant(), body, signing));
        }
        return new NotificationHttpClient.Call(settings.method(), url, headers, body, settings.timeout());
    }

    /** Steps may set X- headers only; the channel alone sets sender and target. */
    private static NotificationHttpClient.Header customHeader(String name, String value) {
        boolean open = name.toLowerCase(Locale.ROOT).startsWith("x-")
                && name.chars().allMatch(c -> c == '-' || (c < 0x7f && Character.isLetterOrDigit(c)));
        if (!open) {
            throw new RequestRejected(
                    "the message sets a header that does not begin with X-. A message may set only X- headers."
                            + " Nothing was sent.");
        }
        if (value.length() > 900 || !value.chars().allMatch(c -> c >= 0x20 && c < 0x7f)) {
            throw new RequestRejected("the header " + name + " is not visible ASCII or is too long. Nothing was sent.");
        }
        return new NotificationHttpClient.Header(name, value, false);
    }

    private JsonNode body(Step step, NotificationMessage message) {
        ObjectNode data = JsonNodeFactory.instance.objectNode();
        RenderedMessage rendered = message.rendered();
        data.put("to", message.to()).put("key", step.key());
        put(data, "subject", rendered.subject());
        put(data, "text", rendered.text());
        put(data, "html", rendered.html());
        JsonRequestBodyTemplate template = settings.body().template();
        if (template == null) {
            return defaultBody(data);
        }
        ObjectNode overrides = data.putObject("override");
        message.overrides().forEach(overrides::put);
        try {
            return template.fill(data);
        } catch (NotificationTemplateRenderer.RenderFailure unfilled) {
            throw new RequestRejected(
                    "the channel could not render its request body: " + unfilled.getMessage() + ". Nothing was sent.");
        }
    }

    /** The default body: channel and text for a chat, all message fields for other receivers. */
    private JsonNode defaultBody(ObjectNode data) {
        if (settings.medium() != NotificationMedium.CHAT) {
            data.set("id", data.remove("key"));
            return data;
        }
        ObjectNode chat = JsonNodeFactory.instance.objectNode();
        if (!data.path("to").asString("").isBlank()) {
            chat.set("channel", data.get("to"));
        }
        JsonNode text = data.get("text");
        if (text == null) {
            throw new RequestRejected("the message has no text, which a chat channel requires. Nothing was sent.");
        }
        chat.set("text", text);
        return chat;
    }

    private static void put(ObjectNode data, String name, @Nullable String value) {
        if (value != null) {
            data.put(name, value);
        }
    }

    private byte[] serialize(JsonNode body) {
        if (!settings.body().form()) {
            return StrictJsonCodec.write(body).getBytes(StandardCharsets.UTF_8);
        }
        return body.properties().stream()
                .map(HttpNotificationChannel::formField)
                .collect(Collectors.joining("&"))
                .getBytes(StandardCharsets.UTF_8);
    }

    private static String formField(Map.Entry<String, JsonNode> member) {
        JsonNode value = member.getValue();
        String text = value.isString() ? value.stringValue() : StrictJsonCodec.write(value);
        return URLEncoder.encode(member.getKey(), StandardCharsets.UTF_8)
                + "="
                + URLEncoder.encode(text, StandardCharsets.UTF_8);
    }

    private @Nullable String id(JsonNode answer) {
        JsonNode id = settings.messageId() == null ? null : answer.at(settings.messageId());
        return id == null || id.isMissingNode() || id.isNull() || id.isContainer() ? null : id.asString();
    }
}
