package dev.semel.server.connectors.notification;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.error.ErrorCode;
import dev.semel.error.HttpStatusException;
import dev.semel.error.RequestRejected;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJsonCodec;
import dev.semel.server.connectors.channel.ChannelTestClient;
import dev.semel.server.connectors.channel.NotificationDeliveryReceipt;
import dev.semel.server.connectors.channel.RawMailServer;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.util.List;
import java.util.stream.Collectors;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** Settings, claims, templates and channels together, on a real store. */
class NotificationDispatcherTest {
    private static final String SMS =
            "{\"kind\": \"sms\", \"http\": {\"url\": \"https://sms.example\", \"body\": {\"to\": \"{{ to }}\","
                    + " \"text\": \"{{ text }}\"}}, \"message_id\": \"/id\"}";

    @TempDir
    Path folder;

    private WorkspaceFixture workspace;
    private RawMailServer server;

    @BeforeEach
    void open() throws IOException {
        workspace = new WorkspaceFixture(folder);
        server = new RawMailServer();
        workspace
                .channel("mail", """
                    {"kind": "email", "smtp": {"host": "localhost", "port": %d, "security": "none",
                                               "from": "Acme <hello@acme.example>"}}
                    """.formatted(server.port()))
                .channel("text", SMS)
                .template("hello-v1", "{\"channel\": \"email\", \"subject\": \"Hi\", \"text\": \"Hello {{ name }}\"}")
                .template("hello-sms", "{\"channel\": \"sms\", \"text\": \"Hi {{ name }}\"}")
                .route("lead.welcome", """
                    {"notification": "lead.welcome", "channels": [{"channel": "mail", "template": "hello-v1"},
                     {"channel": "text", "template": "hello-sms", "when": "fallback"}]}
                    """)
                .profile("p1", "{\"email\": \"ann@example.com\", \"phone\": \"+4930123456\"}");
    }

    @AfterEach
    void close() throws IOException {
        server.close();
        workspace.close();
    }

    @Test
    void an_event_follows_its_route_and_is_sent() throws Exception {
        List<List<NotificationDispatcher.PlannedChannel>> plan =
                workspace.outbox().plan("lead.welcome", "p1");
        assertEquals(
                "+mail ann@example.com v1 (the recipient has not unsubscribed), ?text +4930123456 v1 (only if mail"
                        + " fails)",
                written(plan));
        NotificationDeliveryReceipt delivery = workspace
                .outbox()
                .send(ChannelTestClient.STEP, letter(plan.getFirst().getFirst()));
        assertTrue(String.valueOf(delivery.messageId()).endsWith("@acme.example>"), delivery::toString);
        assertEquals(1, server.mails.size());
        assertTrue(server.mails.getFirst().contains("Hello Ann"), server.mails::toString);
        assertTrue(server.mails.getFirst().contains("X-Semel-Run: run_1"), server.mails::toString);
        NotificationDeliveryReceipt text = workspace
                .outbox()
                .send(ChannelTestClient.STEP, letter(plan.getFirst().getLast()));
        assertEquals("m_1", text.messageId());
        assertEquals(
                StrictJsonCodec.parse("{\"to\": \"+4930123456\", \"text\": \"Hi Ann\"}"),
                StrictJsonCodec.parse(new String(workspace.calls.getFirst().body(), StandardCharsets.UTF_8)));
    }

    @Test
    void messages_that_the_recipient_opted_out_of_are_not_planned() {
        workspace.unsubscribed("p1", "email");
        String plan = written(workspace.outbox().plan("lead.welcome", "ann@example.com"));
        assertTrue(plan.startsWith("-mail (the recipient unsubscribed from e-mail on "), plan);
        assertTrue(plan.contains("+text +4930123456 v1"), plan);
        workspace.unsubscribed("p1", "lead.welcome");
        assertEquals(2, written(workspace.outbox().plan("lead.welcome", "p1")).split("unsubscribed from").length - 1);
        String direct = written(workspace.outbox().plan("mail", "hello-v1", "ann@example.com"));
        assertTrue(direct.startsWith("-mail (the recipient unsubscribed from e-mail on "), direct);
    }

    @Test
    void an_opt_out_applies_to_the_address_of_any_profile() {
        workspace.profile("p2", "{\"email\": \"ann@example.com\"}");
        workspace.unsubscribed("p1", "email");
        for (String to : List.of("p1", "p2", "Ann@Example.com")) {
            String plan = written(workspace.outbox().plan("mail", "hello-v1", to));
            assertTrue(plan.startsWith("-mail (the recipient unsubscribed from e-mail on "), to + ": " + plan);
        }
    }

    @Test
    void a_phone_number_can_be_unsubscribed_like_an_address() {
        workspace.unsubscribed("+49 30 123456", "text");
        for (String to : List.of("p1", "+4930123456")) {
            String plan = written(workspace.outbox().plan("text", "hello-sms", to));
            assertTrue(plan.startsWith("-text (the recipient unsubscribed from text on "), to + ": " + plan);
        }
    }

    @Test
    void a_message_may_go_to_an_unknown_address() {
        assertEquals(
                "+mail bob@example.com v1 (the recipient has not unsubscribed)",
                written(workspace.outbox().plan("mail", "hello-v1", "bob@example.com")));
        assertEquals(
                "+mail ann@example.com v1 (the recipient has not unsubscribed)",
                written(workspace.outbox().plan("mail", "hello-v1", "p1")));
        assertTrue(written(workspace.outbox().plan("lead.welcome", "nobody"))
                .startsWith("-mail (the recipient has no address for e-mail)"));
    }

    /** An e-mail address is no telephone number. */
    @Test
    void a_recipient_found_by_one_address_is_reached_at_the_others() {
        assertEquals(
                "+text +4930123456 v1 (the recipient has not unsubscribed)",
                written(workspace.outbox().plan("text", "hello-sms", "ann@example.com")));
    }

    /** S30. */
    @Test
    void the_error_text_of_a_provider_is_not_passed_on() {
        workspace.failure = new HttpStatusException(500, StrictJsonCodec.parse("\"Bearer t0ken\""), null);
        NotificationDispatcher.PlannedChannel leaf =
                workspace.outbox().plan("text", "hello-sms", "p1").getFirst().getFirst();
        HttpStatusException status = assertThrows(
                HttpStatusException.class, () -> workspace.outbox().send(ChannelTestClient.STEP, letter(leaf)));
        assertEquals(500, status.status());
        assertTrue(status.body().isNull());
    }

    @Test
    void a_planned_message_is_sent_with_the_text_of_planning_time() throws Exception {
        NotificationDispatcher.PlannedChannel leaf =
                workspace.outbox().plan("mail", "hello-v1", "p1").getFirst().getFirst();
        workspace.template("hello-v1", "{\"channel\": \"email\", \"subject\": \"Hi\", \"text\": \"Bye {{ name }}\"}");
        workspace.outbox().send(ChannelTestClient.STEP, letter(leaf));
        assertTrue(server.mails.getFirst().contains("Hello Ann"), server.mails::toString);
        assertEquals(
                2,
                workspace
                        .outbox()
                        .plan("mail", "hello-v1", "p1")
                        .getFirst()
                        .getFirst()
                        .version());
    }

    private static NotificationDispatcher.OutgoingMessage outgoing(
            String channel, int version, String data, String overrides) {
        return new NotificationDispatcher.OutgoingMessage(
                channel,
                "hello-v1",
                version,
                "a@b.example",
                StrictJsonCodec.parse(data),
                StrictJsonCodec.parse(overrides),
                "r",
                1,
                "");
    }

    @Test
    void missing_settings_fail_before_sending() {
        for (Runnable plan : List.<Runnable>of(
                () -> workspace.outbox().plan("nope", "p1"),
                () -> workspace.outbox().plan("nope", "hello-v1", "p1"),
                () -> workspace.outbox().plan("mail", "nope", "p1"))) {
            assertEquals(
                    ErrorCode.NOT_FOUND,
                    assertThrows(SemelException.class, plan::run).code());
        }
        workspace.route(
                "broken",
                "{\"notification\": \"broken\", \"channels\": [{\"channel\": \"fax\", \"template\": \"hello-v1\"}]}");
        assertEquals(
                ErrorCode.INVALID_INPUT,
                assertThrows(SemelException.class, () -> workspace.outbox().plan("broken", "p1"))
                        .code());
        var outgoingMessages = List.of(
                outgoing("nope", 1, "{\"name\":\"A\"}", "{}"),
                outgoing("mail", 9, "{\"name\":\"A\"}", "{}"),
                outgoing("mail", 1, "{}", "{}"),
                outgoing("mail", 1, "{\"name\":\"A\"}", "{\"bcc\":\"x\"}"));
        for (NotificationDispatcher.OutgoingMessage outgoingMessage : outgoingMessages) {
            assertThrows(
                    RequestRejected.class,
                    () -> workspace.outbox().send(ChannelTestClient.STEP, outgoingMessage),
                    outgoingMessage::toString);
        }
        assertEquals(List.of(), server.heard);
    }

    @Test
    void a_bad_template_is_rejected_when_it_is_stored() {
        SemelException refused = assertThrows(
                SemelException.class,
                () -> workspace.template(
                        "bad", "{\"channel\": \"email\", \"subject\": \"x\", \"text\": \"a\\n {{ 7*7 }}\"}"));
        assertTrue(refused.detail().contains("/text line 2, column 2: this is not a value"), refused::detail);
    }

    @Test
    void templates_are_found_by_prefix() {
        assertEquals(
                List.of(
                        new NotificationDispatcher.TemplateMatch("hello-sms", 1, "sms"),
                        new NotificationDispatcher.TemplateMatch("hello-v1", 1, "email")),
                workspace.outbox().templates("hello", null));
        assertEquals(
                List.of(new NotificationDispatcher.TemplateMatch("hello-v1", 1, "email")),
                workspace.outbox().templates("hello-v1", "email"));
        assertEquals(List.of(), workspace.outbox().templates("x", null));
    }

    private static NotificationDispatcher.OutgoingMessage letter(NotificationDispatcher.PlannedChannel leaf) {
        String to = switch (leaf.decision()) {
            case NotificationRouter.Selected selected -> selected.to();
            case NotificationRouter.Fallback reserve -> reserve.to();
            case NotificationRouter.Skipped _ -> throw new AssertionError("skipped");
        };
        var hop = leaf.decision().entry();
        return new NotificationDispatcher.OutgoingMessage(
                hop.channel(),
                hop.template(),
                leaf.version(),
                to,
                StrictJsonCodec.parse("{\"name\": \"Ann\"}"),
                StrictJsonCodec.parse("{}"),
                "run_1",
                1,
                leaf.topic());
    }

    private static String written(List<List<NotificationDispatcher.PlannedChannel>> plan) {
        return plan.stream()
                .map(leg ->
                        leg.stream().map(NotificationDispatcherTest::written).collect(Collectors.joining(", ")))
                .collect(Collectors.joining(" | "));
    }

    private static String written(NotificationDispatcher.PlannedChannel leaf) {
        String channel = leaf.decision().entry().channel();
        String reason = " (" + leaf.decision().reason() + ")";
        return switch (leaf.decision()) {
            case NotificationRouter.Selected selected ->
                "+" + channel + " " + selected.to() + " v" + leaf.version() + reason;
            case NotificationRouter.Fallback reserve ->
                "?" + channel + " " + reserve.to() + " v" + leaf.version() + reason;
            case NotificationRouter.Skipped _ -> "-" + channel + reason;
        };
    }
}
