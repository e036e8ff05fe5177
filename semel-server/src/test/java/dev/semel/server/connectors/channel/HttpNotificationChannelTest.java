package dev.semel.server.connectors.channel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.error.ErrorCode;
import dev.semel.error.RequestNotSent;
import dev.semel.error.RequestRejected;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJsonCodec;
import dev.semel.server.connectors.notification.WorkspaceFixture;
import dev.semel.server.connectors.template.RenderedMessage;
import dev.semel.server.settings.NotificationChannelSetting;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class HttpNotificationChannelTest {
    private static final RenderedMessage TEXT = new RenderedMessage(null, "5 € for \"you\" & me", null);

    @TempDir
    static Path folder;

    private static WorkspaceFixture workspace;

    private final ChannelTestClient client = new ChannelTestClient();
    private final List<NotificationHttpClient.Call> calls = new ArrayList<>();
    private final List<String> receivers = new ArrayList<>();
    private String boundSecret = "";
    private String answer = "{}";

    @BeforeAll
    static void open() {
        workspace = new WorkspaceFixture(folder);
    }

    @AfterAll
    static void shut() throws IOException {
        workspace.close();
    }

    @AfterEach
    void close() throws IOException {
        client.close();
    }

    @Test
    void a_chat_message_has_text_channel_and_key() throws Exception {
        NotificationChannel chat = channel("{\"kind\": \"chat\", \"url_secret\": \"chat_url\"}");
        assertNull(chat.send(ChannelTestClient.STEP, NotificationMessage.of("#leads", TEXT))
                .messageId());
        chat.send(ChannelTestClient.STEP, NotificationMessage.of("", TEXT));
        assertEquals("https://chat.example/hook/s3cret", calls.getFirst().url());
        assertEquals("POST", calls.getFirst().method());
        assertEquals(
                StrictJsonCodec.parse("{\"channel\": \"#leads\", \"text\": \"5 € for \\\"you\\\" & me\"}"), body(0));
        assertEquals(StrictJsonCodec.parse("{\"text\": \"5 € for \\\"you\\\" & me\"}"), body(1));
        assertEquals(Map.of("Content-Type", "application/json", "Idempotency-Key", "effect-key-1"), headers(0));
        assertEquals(Set.of("at_most_once", "ask"), chat.protections());
        assertThrows(
                RequestRejected.class,
                () -> chat.send(
                        ChannelTestClient.STEP,
                        NotificationMessage.of("#leads", new RenderedMessage("s", null, "<p>x</p>"))));
        assertEquals(2, calls.size());
    }

    @Test
    void a_webhook_gets_the_full_message_and_is_signed() throws Exception {
        NotificationChannel channel = channel("""
            {"kind": "webhook", "url": "https://a.example/in", "signing_secret": "sign",
             "headers": {"Authorization": "Bearer ${ secret.token }", "X-A": "b"}}
            """);
        channel.send(
                ChannelTestClient.STEP,
                new NotificationMessage(
                        "order-7",
                        new RenderedMessage("s", "t", "<p>h</p>"),
                        Map.of(),
                        Map.of("X-Semel-Run", "run_1"),
                        3));
        assertEquals("3", headers(0).get("Semel-Depth"), "a circle of servers comes to an end");
        assertEquals(
                StrictJsonCodec.parse(
                        "{\"to\":\"order-7\",\"subject\":\"s\",\"text\":\"t\",\"html\":\"<p>h</p>\",\"id\":\"effect-key-1\"}"),
                body(0));
        Map<String, String> headers = headers(0);
        assertEquals("effect-key-1", headers.get("webhook-id"));
        assertEquals(Long.toString(ChannelTestClient.NOW.getEpochSecond()), headers.get("webhook-timestamp"));
        assertTrue(String.valueOf(headers.get("webhook-signature")).matches("v1,\\S+ v1,\\S+"), headers::toString);
        assertEquals("Bearer t0ken", headers.get("Authorization"));
        assertEquals("run_1", headers.get("X-Semel-Run"));
        assertEquals("effect-key-1", headers.get("Idempotency-Key"));
        NotificationHttpClient.Header secret = calls.getFirst().headers().stream()
                .filter(header -> header.name().equals("Authorization"))
                .findFirst()
                .orElseThrow();
        assertTrue(secret.secret());
        assertFalse(calls.getFirst().headers().toString().contains("t0ken"));
    }

    /** The example of the specification of Standard Webhooks. */
    @Test
    void a_signature_matches_an_independent_implementation() {
        List<NotificationHttpClient.Header> headers = OutboundWebhookSigner.headers(
                "msg_p5jXN8AQM9LWM0D4loKWxJek",
                Instant.ofEpochSecond(1_614_265_330),
                "{\"test\": 2432232314}".getBytes(StandardCharsets.UTF_8),
                List.of("whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw"));
        assertEquals(
                "v1,g0hM9SsE+OTPJTGt/tmIKtSyZlE3uFJELVlNIOLJ1OE=",
                headers.getLast().value());
    }

    @Test
    void a_provider_gets_its_configured_body_and_its_message_id_is_stored() throws Exception {
        NotificationChannel sms = channel("""
            {"kind": "sms", "honours": ["provider_key", "ask"], "provider_window": "24h", "message_id": "/messages/0/id",
             "http": {"url": "https://sms.example/v1/messages", "key_header": "X-Request-Id",
                      "headers": {"Authorization": "Bearer ${ secret.token }"},
                      "body": {"from": "{{ override.sender | default: \\"Acme\\" }}", "max": 1,
                               "messages": [{"to": "{{ to }}", "text": "{{ text }}", "ref": "{{ key }}"}]}}}
            """);
        answer = "{\"messages\": [{\"id\": \"sm_1\"}]}";
        NotificationDeliveryReceipt delivery = sms.send(
                ChannelTestClient.STEP,
                new NotificationMessage("+49\",\"x\":\"", TEXT, Map.of("sender", "Shop"), Map.of()));
        assertEquals("sm_1", delivery.messageId());
        assertEquals(
                StrictJsonCodec.parse("{\"from\":\"Shop\",\"max\":1,\"messages\":[{\"to\":\"+49\\\",\\\"x\\\":\\\"\","
                        + "\"text\":\"5 € for \\\"you\\\" & me\",\"ref\":\"effect-key-1\"}]}"),
                body(0));
        assertEquals("effect-key-1", headers(0).get("X-Request-Id"));
        assertEquals(Set.of("provider_key", "at_most_once", "ask"), sms.protections());
        assertEquals(Optional.of(Duration.ofHours(24)), sms.providerWindow());
        assertEquals(Set.of("sender"), sms.overrides());
        for (String without : List.of("{}", "[]", "\"taken\"", "null", "{\"messages\": [{\"id\": {}}]}")) {
            answer = without;
            assertNull(
                    sms.send(ChannelTestClient.STEP, NotificationMessage.of("+49", TEXT))
                            .messageId(),
                    without);
        }
    }

    @Test
    void form_encoding_prevents_values_from_becoming_fields() throws Exception {
        NotificationChannel sms = channel("""
            {"kind": "whatsapp", "http": {"url": "https://api.example/Messages.json",
             "form": {"To": "whatsapp:{{ to }}", "Body": "{{ text }}"}}}
            """);
        sms.send(ChannelTestClient.STEP, NotificationMessage.of("+49&Body=x", TEXT));
        assertEquals(
                "To=whatsapp%3A%2B49%26Body%3Dx&Body=5+%E2%82%AC+for+%22you%22+%26+me",
                new String(calls.getFirst().body(), StandardCharsets.UTF_8));
        assertEquals("application/x-www-form-urlencoded", headers(0).get("Content-Type"));
    }

    @Test
    void a_body_with_missing_values_is_not_sent() throws Exception {
        NotificationChannel sms = channel("""
            {"kind": "sms", "http": {"url": "https://sms.example", "body": {"t": "{{ subject }}"}}}
            """);
        assertThrows(
                RequestRejected.class, () -> sms.send(ChannelTestClient.STEP, NotificationMessage.of("+49", TEXT)));
        assertEquals(List.of(), calls);
    }

    /** S12. */
    @ParameterizedTest
    @ValueSource(strings = {"Host", "Content-Length", "Authorization", "Idempotency-Key", "X: y\r\nZ", "X-É", "Cookie"})
    void a_message_cannot_set_foreign_headers(String name) throws Exception {
        NotificationChannel chat = channel("{\"kind\": \"chat\", \"url\": \"https://a.example\"}");
        assertThrows(
                RequestRejected.class,
                () -> chat.send(
                        ChannelTestClient.STEP, new NotificationMessage("#a", TEXT, Map.of(), Map.of(name, "v"))));
        for (String value : List.of("a\r\nX-Admin: 1", "a\nb", "\u0000", "é", "\t")) {
            assertThrows(
                    RequestRejected.class,
                    () -> chat.send(
                            ChannelTestClient.STEP,
                            new NotificationMessage("#a", TEXT, Map.of(), Map.of("X-A", value))));
        }
        assertEquals(List.of(), calls);
    }

    /** To the effect around a send any other failure would mean that nobody knows. */
    @Test
    void a_message_with_a_missing_secret_is_not_sent() {
        NotificationChannel chat = channel("{\"kind\": \"chat\", \"url_secret\": \"nope\"}");
        assertThrows(
                RequestRejected.class, () -> chat.send(ChannelTestClient.STEP, NotificationMessage.of("#a", TEXT)));
        assertEquals(List.of(), calls);
    }

    @Test
    void failure_details_of_the_http_call_are_passed_on() throws Exception {
        for (Exception failure : List.of(new RequestNotSent("x", null), new IOException("reset"))) {
            var ports = new NotificationChannelFactory.ChannelServices(line(), (step, call) -> {
                if (failure instanceof IOException unknown) {
                    throw unknown;
                }
                throw (RuntimeException) failure;
            });
            NotificationChannel chat = NotificationChannelFactory.create(
                    kept("{\"kind\": \"chat\", \"url\": \"https://a.example\"}"), ports);
            assertEquals(
                    failure,
                    assertThrows(
                            failure.getClass(),
                            () -> chat.send(ChannelTestClient.STEP, NotificationMessage.of("#a", TEXT))));
        }
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '~',
            quoteCharacter = '\u0001',
            value = {
                "{'kind':'email','smtp':{'host':'h','port':25,'from':'a, b'}} ~ /smtp/from must be one email address",
                "{'kind':'email','smtp':{'host':'h','port':25,'from':'a@b.example','reply_to':'x'}} ~ /smtp/reply_to"
                        + " must be",
                "{'kind':'chat','url':'https://a.example','headers':{'Host':'b'}} ~ /headers must not set host",
                "{'kind':'chat','url':'https://a.example','headers':{'Idempotency-Key':'b'}} ~ /headers must not set"
                        + " idempotency-key",
                "{'kind':'chat','url':'https://a.example','headers':{'X-A':'${ input.x }'}} ~ /headers must be visible"
                        + " ASCII",
                "{'kind':'sms','http':{'url':'https://a.example','body':{'a':[{'b':'x {{ 7*7 }}'}]}}} ~"
                        + " /http/body/a/0/b line 1, column 3: this is not a value",
                "{'kind':'sms','http':{'url':'https://a.example','form':{'a':{}}}} ~ /http/form must be an object of"
                        + " plain values",
                "{'kind':'sms','http':{'url':'https://a.example','form':{'a':'b'},'body':{}}} ~ /http/form must not"
                        + " be set together with body",
                "{'kind':'sms','http':{'url':'https://a.example'}} ~ /http/body must be an object",
                "{'kind':'sms','http':{'url':'https://a.example','body':{},'key_header':'a b'}} ~ /http/key_header is"
                        + " not a valid header name",
            })
    void an_invalid_channel_setting_is_reported_with_a_json_pointer(String document, String expected) {
        List<String> said = new ArrayList<>();
        try {
            NotificationChannelFactory.check(kept(document.strip().replace('\'', '"')))
                    .forEach(problem -> said.add(problem.pointer() + " " + problem.message()));
        } catch (SemelException refused) {
            said.add(refused.detail());
        }
        assertTrue(said.toString().contains(expected.strip()), said::toString);
    }

    @Test
    void a_secret_is_revealed_only_for_the_host_of_the_url() throws Exception {
        NotificationChannel chat = channel("""
            {"kind":"chat","url_secret":"chat_url"}\
            """);
        chat.send(ChannelTestClient.STEP, NotificationMessage.of("#leads", TEXT));
        assertEquals(List.of("chat_url null", "chat_url chat.example"), receivers);
        for (String secret : List.of("chat_url", "token", "sign")) {
            boundSecret = secret;
            calls.clear();
            NotificationChannel other = secret.equals("chat_url") ? chat : channel("""
                {"kind":"webhook","url":"https://hooks.example/x","headers":{"Authorization":"Bearer ${ secret.token }"},
                 "signing_secret":"sign"}\
                """);
            assertThrows(
                    RequestRejected.class,
                    () -> other.send(ChannelTestClient.STEP, NotificationMessage.of("order-7", TEXT)),
                    secret);
            assertEquals(List.of(), calls, secret);
        }
    }

    private NotificationChannel channel(String document) {
        NotificationChannelSetting setting = kept(document);
        assertEquals(List.of(), NotificationChannelFactory.check(setting));
        return NotificationChannelFactory.create(
                setting, new NotificationChannelFactory.ChannelServices(line(), (step, call) -> {
                    calls.add(call);
                    return StrictJsonCodec.parse(answer);
                }));
    }

    /** As it comes out of the store. */
    private static NotificationChannelSetting kept(String document) {
        return workspace.settings.channels().parse(StrictJsonCodec.parse(document));
    }

    private SmtpNotificationChannel.ConnectionServices line() {
        SmtpNotificationChannel.ConnectionServices line = client.line();
        Map<String, String> secrets = Map.of(
                "chat_url", "https://chat.example/hook/s3cret",
                "token", "t0ken",
                "sign", "whsec_MfKQ9r8GKYqrTwjUPD8ILPZIo2LaLaSw whsec_AAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA");
        return new SmtpNotificationChannel.ConnectionServices(
                (name, host, _) -> {
                    receivers.add(name + " " + host);
                    if (name.equals(boundSecret) && host != null && !host.equals("bound.example")) {
                        throw new RequestRejected("the secret may be sent only to bound.example. Nothing was sent.");
                    }
                    return Optional.ofNullable(secrets.get(name))
                            .orElseThrow(() -> new SemelException(ErrorCode.NOT_FOUND, "No secret.", "Store it."));
                },
                line.resolver(),
                line.tls(),
                line.timer(),
                line.clock());
    }

    private tools.jackson.databind.JsonNode body(int call) {
        return StrictJsonCodec.parse(calls.get(call).body());
    }

    private Map<String, String> headers(int call) {
        return calls.get(call).headers().stream()
                .collect(Collectors.toMap(NotificationHttpClient.Header::name, NotificationHttpClient.Header::value));
    }
}
