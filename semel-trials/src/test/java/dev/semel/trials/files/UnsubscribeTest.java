package dev.semel.trials.files;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.icegreen.greenmail.util.GreenMail;
import com.icegreen.greenmail.util.ServerSetup;
import dev.semel.server.cli.server.ServerOptions;
import dev.semel.server.http.TrustedProxies;
import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.LiveServer;
import dev.semel.trials.support.ProblemResponseChecks;
import dev.semel.trials.support.StoreKind;
import dev.semel.trials.support.TestServerOptions;
import jakarta.mail.MessagingException;
import jakarta.mail.internet.MimeMessage;
import java.nio.file.Path;
import java.util.List;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;

/** The unsubscribe link of a mail (RFC 8058), and the opt-out that it stores. */
class UnsubscribeTest {
    @TempDir
    Path folder;

    private static void prepare(ApiCaller admin, int port) {
        admin.put("/v1/channels/mail", """
            {"kind":"email","smtp":{"host":"127.0.0.1","port":%d,"security":"none","from":"hello@acme.example"}}\
            """.formatted(port)).expect(200);
        admin.put("/v1/templates/hello", "{\"channel\":\"email\",\"subject\":\"Hi\",\"text\":\"Hello.\"}")
                .expect(200);
        for (String route : List.of("lead.news", "lead.receipt")) {
            admin.put("/v1/routes/" + route, """
                {"notification":"%s","essential":%s,"channels":[{"channel":"mail","template":"hello"}]}\
                """.formatted(route, route.equals("lead.receipt")))
                    .expect(200);
        }
        for (String step : List.of("notify: lead.news", "notify: lead.receipt")) {
            admin.publish("""
                semel: 1
                workflow: %s
                owner: o
                steps:
                  - {id: hello, %s, to: "${ input.to }", protect: at_most_once}
                output: ${ steps.hello }
                """.formatted(step.substring("notify: lead.".length()), step))
                    .expect(200);
        }
    }

    private static JsonNode run(ApiCaller admin, String workflow, String to) {
        return admin.post("/v1/workflows/" + workflow + "/trigger?wait=60s", "{\"data\":{\"to\":\"" + to + "\"}}")
                .expect(200)
                .json();
    }

    @ParameterizedTest
    @EnumSource(StoreKind.class)
    void one_click_stores_an_opt_out_and_the_next_mail_is_not_sent(StoreKind kind) throws MessagingException {
        GreenMail mail = new GreenMail(new ServerSetup(0, "127.0.0.1", ServerSetup.PROTOCOL_SMTP));
        mail.start();
        ServerOptions base = new ServerOptions(false, false, "127.0.0.1", 0, folder, kind.fresh(folder), null);
        var front = new ServerOptions.ProxySettings(TrustedProxies.of(List.of()), "https://semel.example.com");
        try (LiveServer server = LiveServer.first(
                new TestServerOptions(base)
                        .proxySettings(front)
                        .allowHosts(List.of("127.0.0.1"))
                        .build(),
                _ -> {})) {
            ApiCaller admin = server.admin();
            prepare(admin, mail.getSmtp().getPort());
            assertEquals(
                    "true",
                    run(admin, "news", "Ann@Example.com").at("/output/sent").toString());
            MimeMessage received = mail.getReceivedMessages()[0];
            assertEquals("List-Unsubscribe=One-Click", received.getHeader("List-Unsubscribe-Post", null));
            String header = received.getHeader("List-Unsubscribe", null);
            assertNotNull(header);
            assertTrue(header.startsWith("<https://semel.example.com/v1/unsubscribe/"), header);
            String path = header.substring("<https://semel.example.com".length(), header.length() - 1);
            ApiCaller recipient = new ApiCaller(admin.port(), "", _ -> {});
            HttpReply page = recipient.get(path).expect(200);
            assertTrue(page.body().contains("<form method=\"post\">"), page.body());
            assertEquals(
                    "true",
                    run(admin, "news", "ann@example.com").at("/output/sent").toString(),
                    "a GET is no choice");
            for (int click = 0; click < 2; click++) {
                recipient
                        .send(
                                "POST",
                                path,
                                "List-Unsubscribe=One-Click",
                                "Content-Type: application/x-www-form-urlencoded")
                        .expect(200);
            }
            JsonNode denied = run(admin, "news", "ann@example.com");
            assertEquals("false", denied.at("/output/sent").toString(), denied.toString());
            assertTrue(denied.at("/output/not_sent/0/reason").asString().contains("unsubscribed from lead.news"));
            assertEquals(
                    "true",
                    run(admin, "news", "bob@example.com").at("/output/sent").toString());
            assertEquals(
                    "true",
                    run(admin, "receipt", "ann@example.com").at("/output/sent").toString());
            int linked = 0;
            for (MimeMessage one : mail.getReceivedMessages()) {
                linked += one.getHeader("List-Unsubscribe", null) == null ? 0 : 1;
            }
            assertEquals(mail.getReceivedMessages().length - 1, linked, "an essential message has no link");
            ProblemResponseChecks.expect(recipient.post(path + "x", ""), 404, "not-found");
            ProblemResponseChecks.expect(recipient.get("/v1/unsubscribe/1-" + "A".repeat(60)), 404, "not-found");
        } finally {
            mail.stop();
        }
    }
}
