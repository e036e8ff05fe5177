package dev.semel.trials.files;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.icegreen.greenmail.util.GreenMail;
import com.icegreen.greenmail.util.GreenMailUtil;
import com.icegreen.greenmail.util.ServerSetup;
import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.OnDevServers;
import dev.semel.trials.support.ServerFixture;
import jakarta.mail.Address;
import jakarta.mail.MessagingException;
import jakarta.mail.internet.MimeMessage;
import java.util.concurrent.atomic.AtomicInteger;
import java.util.stream.Stream;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** Key, time and unit of a notification, against a mail server that somebody else wrote. */
class NotificationWindowTest extends OnDevServers {
    private static final GreenMail MAIL = new GreenMail(new ServerSetup(0, "127.0.0.1", ServerSetup.PROTOCOL_SMTP));
    private static final AtomicInteger PEOPLE = new AtomicInteger();

    /** Nobody else's messages count for them. */
    private final String ann = "ann" + PEOPLE.incrementAndGet() + "@example.com";

    NotificationWindowTest(ServerFixture stage) {
        super(stage);
    }

    @BeforeAll
    static void start() {
        MAIL.start();
    }

    @AfterAll
    static void stop() {
        MAIL.stop();
    }

    /** How many messages somebody got. */
    private static long mails(String to) {
        return Stream.of(MAIL.getReceivedMessages())
                .filter(message -> to.equals(GreenMailUtil.getAddressList(recipients(message))))
                .count();
    }

    private static Address[] recipients(MimeMessage message) {
        try {
            return message.getAllRecipients();
        } catch (MessagingException e) {
            throw new IllegalStateException(e);
        }
    }

    @Test
    void inside_the_window_a_second_mail_is_suppressed_with_the_first_result() {
        ApiCaller caller = prepared(welcome("12", "hours", "suppress"));
        JsonNode first = run(caller, ann, "pro");
        JsonNode second = run(caller, ann, "pro");
        JsonNode changed = run(caller, ann, "free");
        JsonNode other = run(caller, "bob-" + ann, "pro");
        assertEquals(1, mails(ann));
        assertEquals(1, mails("bob-" + ann));
        assertEquals(first.at("/output/message_id"), second.at("/output/message_id"));
        assertEquals(first.at("/output/message_id"), changed.at("/output/message_id"));
        assertEquals("completed", status(caller, first), "the first was sent");
        assertEquals("suppressed", status(caller, second), "the second was not");
        assertEquals("suppressed", status(caller, changed), "another plan is no reason for a second one");
        assertEquals("completed", status(caller, other), "somebody else is counted by themselves");
    }

    @Test
    void a_suppressed_message_says_so_and_a_later_step_reacts() {
        String branch = """
              - id: branch
                choose:
                  - when: ${ steps.welcome.suppressed }
                    steps: [{id: note, set: {why: "${ 'sent before by ' + steps.welcome.first_run }"}}]
                  - else: true
                    steps: [{id: fresh, set: {why: sent now}}]
              - id: later
                sleep: 1s
            """;
        ApiCaller caller = prepared(welcome("12", "hours", "suppress") + branch);
        JsonNode first = run(caller, ann, "pro");
        JsonNode second = run(caller, ann, "pro");
        String by = first.get("run_id").asString();
        assertEquals("false", first.at("/output/suppressed").toString(), first.toString());
        assertTrue(first.at("/output/first_run").isMissingNode(), first.toString());
        assertEquals("true", second.at("/output/suppressed").toString(), second.toString());
        assertEquals("true", first.at("/output/sent").toString(), first.toString());
        assertEquals("false", second.at("/output/sent").toString(), second.toString());
        assertEquals(by, second.at("/output/first_run").asString(), second.toString());
        assertTrue(
                second.at("/output/first_sent_at")
                                .asString()
                                .compareTo(first.get("ended_at").asString())
                        < 0,
                second.toString());
        assertEquals(by, second.at("/output/deliveries/0/first_run").asString(), second.toString());
        assertEquals("sent now", why(caller, first));
        assertEquals("sent before by " + by, why(caller, second));
    }

    private static String why(ApiCaller caller, JsonNode run) {
        JsonNode timeline = caller.get("/v1/runs/" + run.get("run_id").asString() + "/timeline")
                .expect(200)
                .json();
        return timeline.toString().replaceAll(".*\"why\":\"([^\"]*)\".*", "$1");
    }

    @Test
    void other_data_are_sent_if_declared() {
        ApiCaller caller = prepared(welcome("12", "hours", "send"));
        run(caller, ann, "pro");
        run(caller, ann, "pro");
        assertEquals(1, mails(ann));
        run(caller, ann, "free");
        assertEquals(2, mails(ann));
    }

    @Test
    void other_data_wait_for_a_user_if_declared() {
        ApiCaller caller = prepared(welcome("12", "hours", "review"));
        run(caller, ann, "pro");
        HttpReply waiting = trigger(caller, ann, "free", "1s");
        String run = waiting.text("run_id");
        assertEquals("waiting", waiting.text("status"), waiting.body());
        assertEquals(1, mails(ann));
        String body = "{\"step\":\"welcome.mail\",\"decision\":\"send\",\"note\":\"a better plan\"}";
        HttpReply decided = caller.post("/v1/runs/" + run + "/decide", body).expect(200);
        assertTrue(decided.json().get("decided").booleanValue(), decided.body());
        ended(caller, run);
        assertEquals(2, mails(ann));
    }

    @Test
    void after_the_window_it_is_sent_again() {
        ApiCaller caller = prepared(welcome("2", "seconds", "suppress"));
        run(caller, ann, "pro");
        for (int asked = 0; asked < 5_000 && mails(ann) < 2; asked++) {
            run(caller, ann, "pro");
        }
        assertEquals(2, mails(ann));
    }

    @Test
    void a_failed_send_does_not_use_the_window() {
        ApiCaller caller = prepared(welcome("12", "hours", "suppress") + "    retry: {attempts: 1}\n");
        MAIL.stop();
        JsonNode failed = run(caller, ann, "pro");
        assertEquals("failed", failed.get("status").asString(), failed.toString());
        MAIL.start();
        channel(caller);
        JsonNode sent = run(caller, ann, "pro");
        assertEquals("completed", sent.get("status").asString(), sent.toString());
        assertEquals(1, mails(ann));
    }

    @Test
    void an_unsubscribed_recipient_gets_nothing_and_the_reason_is_recorded() {
        ApiCaller caller = prepared(welcome("12", "hours", "suppress"));
        caller.put("/v1/profiles/quiet", "{\"email\":\"" + ann + "\"}").expect(200);
        caller.put("/v1/profiles/quiet/subscriptions/lead.welcome", "{\"subscribed\":false}")
                .expect(200);
        JsonNode run = run(caller, ann, "pro");
        assertEquals("completed", run.get("status").asString(), run.toString());
        assertEquals("false", run.at("/output/sent").toString(), run.toString());
        String reason = run.at("/output/not_sent/0/reason").asString();
        assertTrue(reason.contains("unsubscribed"), run.toString());
        assertEquals(0, mails(ann));
    }

    private static String welcome(String time, String unit, String onChange) {
        return """
            semel: 1
            workflow: welcomer
            owner: growth@acme.example
            steps:
              - id: welcome
                notify: lead.welcome
                to: ${ input.email }
                data: {plan: "${ input.plan }"}
                idempotent:
                  key: ${ key("welcome", lower(input.email)) }
                  time: TIME
                  unit: UNIT
                  on_change: CHANGE
                protect: at_most_once
            """.replace("TIME", time).replace("UNIT", unit).replace("CHANGE", onChange);
    }

    private ApiCaller prepared(String file) {
        ApiCaller caller = stage.admin();
        channel(caller);
        caller.put("/v1/templates/welcome", """
            {"channel":"email","subject":"Welcome","text":"Your plan is {{ plan }}."}\
            """).expect(200);
        caller.put("/v1/routes/lead.welcome", """
            {"notification":"lead.welcome","channels":[{"channel":"mail","template":"welcome"}]}\
            """).expect(200);
        caller.publish(file + (file.endsWith("\n") ? "" : "\n") + "output: ${ steps.welcome }\n")
                .expect(200);
        return caller;
    }

    private void channel(ApiCaller caller) {
        caller.put("/v1/channels/mail", """
            {"kind":"email","smtp":{"host":"127.0.0.1","port":%d,"security":"none","from":"hello@acme.example"}}\
            """.formatted(MAIL.getSmtp().getPort())).expect(200);
    }

    private HttpReply trigger(ApiCaller caller, String email, String plan, String wait) {
        String data = "{\"data\":{\"email\":\"%s\",\"plan\":\"%s\"}}".formatted(email, plan);
        return caller.post("/v1/workflows/welcomer/trigger?wait=" + wait, data, "Idempotency-Key: " + stage.key())
                .expect(200);
    }

    private JsonNode run(ApiCaller caller, String email, String plan) {
        return ended(caller, trigger(caller, email, plan, "60s").text("run_id"));
    }

    private static JsonNode ended(ApiCaller caller, String run) {
        JsonNode row = caller.get("/v1/runs/" + run).expect(200).json();
        for (int asked = 0; row.get("ended_at").isNull() && asked < 20_000; asked++) {
            row = caller.get("/v1/runs/" + run).expect(200).json();
        }
        return row;
    }

    private static String status(ApiCaller caller, JsonNode run) {
        JsonNode timeline = caller.get("/v1/runs/" + run.get("run_id").asString() + "/timeline")
                .expect(200)
                .json();
        for (JsonNode step : timeline.get("items")) {
            if (step.get("name").asString().equals("welcome.mail")) {
                return step.get("status").asString();
            }
        }
        throw new AssertionError(timeline.toString());
    }
}
