package dev.semel.trials.files;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.icegreen.greenmail.util.GreenMail;
import com.icegreen.greenmail.util.ServerSetup;
import dev.semel.trials.support.Caller;
import dev.semel.trials.support.LiveServer;
import dev.semel.trials.support.Reply;
import dev.semel.trials.support.StoreKind;
import java.nio.file.Path;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;

/** Key, time and unit of a notification, against a mail server that somebody else wrote. */
class NotificationWindowTest {
    private final GreenMail mail = new GreenMail(new ServerSetup(0, "127.0.0.1", ServerSetup.PROTOCOL_SMTP));
    private final AtomicInteger triggers = new AtomicInteger();

    @TempDir
    Path folder;

    @BeforeEach
    void start() {
        mail.start();
    }

    @AfterEach
    void stop() {
        mail.stop();
    }

    @ParameterizedTest
    @EnumSource(StoreKind.class)
    void inside_the_window_a_second_mail_is_suppressed_with_the_first_ones_result(StoreKind kind) {
        try (LiveServer server = LiveServer.dev(kind.fresh(folder), folder)) {
            Caller caller = prepared(server, welcome("12", "hours", "suppress"));
            JsonNode first = run(caller, "ann@example.com", "pro");
            JsonNode second = run(caller, "ann@example.com", "pro");
            JsonNode changed = run(caller, "ann@example.com", "free");
            JsonNode other = run(caller, "bob@example.com", "pro");
            assertEquals(2, mail.getReceivedMessages().length);
            assertEquals(first.at("/output/message_id"), second.at("/output/message_id"));
            assertEquals(first.at("/output/message_id"), changed.at("/output/message_id"));
            assertEquals("completed", status(caller, first), "the first was sent");
            assertEquals("suppressed", status(caller, second), "the second was not");
            assertEquals("suppressed", status(caller, changed), "another plan is no reason for a second one");
            assertEquals("completed", status(caller, other), "somebody else is counted by themselves");
        }
    }

    @ParameterizedTest
    @EnumSource(StoreKind.class)
    void a_suppressed_message_says_so_and_a_later_step_acts_on_it(StoreKind kind) {
        String told = """
              - id: told
                choose:
                  - when: ${ steps.welcome.suppressed }
                    steps: [{id: note, set: {why: "${ 'sent before by ' + steps.welcome.first_run }"}}]
                  - else: true
                    steps: [{id: fresh, set: {why: sent now}}]
              - id: later
                sleep: 1s
            """;
        try (LiveServer server = LiveServer.dev(kind.fresh(folder), folder)) {
            Caller caller = prepared(server, welcome("12", "hours", "suppress") + told);
            JsonNode first = run(caller, "ann@example.com", "pro");
            JsonNode second = run(caller, "ann@example.com", "pro");
            String by = first.get("run_id").asString();
            assertEquals("false", first.at("/output/suppressed").toString(), first.toString());
            assertTrue(first.at("/output/first_run").isMissingNode(), first.toString());
            assertEquals("true", second.at("/output/suppressed").toString(), second.toString());
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
    }

    private static String why(Caller caller, JsonNode run) {
        JsonNode timeline = caller.get("/v1/runs/" + run.get("run_id").asString() + "/timeline")
                .expect(200)
                .json();
        return timeline.toString().replaceAll(".*\"why\":\"([^\"]*)\".*", "$1");
    }

    @ParameterizedTest
    @EnumSource(StoreKind.class)
    void other_data_are_sent_where_the_file_says_so(StoreKind kind) {
        try (LiveServer server = LiveServer.dev(kind.fresh(folder), folder)) {
            Caller caller = prepared(server, welcome("12", "hours", "send"));
            run(caller, "ann@example.com", "pro");
            run(caller, "ann@example.com", "pro");
            assertEquals(1, mail.getReceivedMessages().length);
            run(caller, "ann@example.com", "free");
            assertEquals(2, mail.getReceivedMessages().length);
        }
    }

    @ParameterizedTest
    @EnumSource(StoreKind.class)
    void other_data_wait_for_a_person_where_the_file_says_so(StoreKind kind) {
        try (LiveServer server = LiveServer.dev(kind.fresh(folder), folder)) {
            Caller caller = prepared(server, welcome("12", "hours", "review"));
            run(caller, "ann@example.com", "pro");
            Reply waiting = trigger(caller, "ann@example.com", "free", "1s");
            String run = waiting.text("run_id");
            assertEquals("waiting", waiting.text("status"), waiting.body());
            assertEquals(1, mail.getReceivedMessages().length);
            String body = "{\"step\":\"welcome.mail\",\"decision\":\"send\",\"note\":\"a better plan\"}";
            Reply decided = caller.post("/v1/runs/" + run + "/decide", body).expect(200);
            assertTrue(decided.json().get("decided").booleanValue(), decided.body());
            ended(caller, run);
            assertEquals(2, mail.getReceivedMessages().length);
        }
    }

    @ParameterizedTest
    @EnumSource(StoreKind.class)
    void after_the_window_it_is_sent_again(StoreKind kind) {
        try (LiveServer server = LiveServer.dev(kind.fresh(folder), folder)) {
            Caller caller = prepared(server, welcome("2", "seconds", "suppress"));
            run(caller, "ann@example.com", "pro");
            for (int asked = 0; asked < 5_000 && mail.getReceivedMessages().length < 2; asked++) {
                run(caller, "ann@example.com", "pro");
            }
            assertEquals(2, mail.getReceivedMessages().length);
        }
    }

    @ParameterizedTest
    @EnumSource(StoreKind.class)
    void what_could_not_be_sent_uses_up_nothing(StoreKind kind) {
        try (LiveServer server = LiveServer.dev(kind.fresh(folder), folder)) {
            Caller caller = prepared(server, welcome("12", "hours", "suppress") + "    retry: {attempts: 1}\n");
            mail.stop();
            JsonNode failed = run(caller, "ann@example.com", "pro");
            assertEquals("failed", failed.get("status").asString(), failed.toString());
            mail.start();
            channel(caller);
            JsonNode sent = run(caller, "ann@example.com", "pro");
            assertEquals("completed", sent.get("status").asString(), sent.toString());
            assertEquals(1, mail.getReceivedMessages().length);
        }
    }

    @ParameterizedTest
    @EnumSource(StoreKind.class)
    void whoever_unsubscribed_gets_nothing_and_the_reason_is_on_record(StoreKind kind) {
        try (LiveServer server = LiveServer.dev(kind.fresh(folder), folder)) {
            Caller caller = prepared(server, welcome("12", "hours", "suppress"));
            caller.put("/v1/profiles/ann", "{\"email\":\"ann@example.com\"}").expect(200);
            caller.put("/v1/profiles/ann/subscriptions/lead.welcome", "{\"subscribed\":false}")
                    .expect(200);
            JsonNode run = run(caller, "ann@example.com", "pro");
            assertEquals("completed", run.get("status").asString(), run.toString());
            assertEquals("false", run.at("/output/sent").toString(), run.toString());
            String reason = run.at("/output/not_sent/0/reason").asString();
            assertTrue(reason.contains("unsubscribed"), run.toString());
            assertEquals(0, mail.getReceivedMessages().length);
        }
    }

    private static String welcome(String time, String unit, String onChange) {
        return """
            semel: 1
            workflow: welcomer
            owner: growth@acme.example
            steps:
              - id: welcome
                event: lead.welcome
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

    private Caller prepared(LiveServer server, String file) {
        Caller caller = server.admin();
        channel(caller);
        caller.put("/v1/templates/welcome", """
            {"channel":"email","subject":"Welcome","text":"Your plan is {{ plan }}."}\
            """).expect(200);
        caller.put("/v1/routes/lead.welcome", """
            {"event":"lead.welcome","channels":[{"channel":"mail","template":"welcome"}]}\
            """).expect(200);
        caller.publish(file + (file.endsWith("\n") ? "" : "\n") + "output: ${ steps.welcome }\n")
                .expect(200);
        return caller;
    }

    private void channel(Caller caller) {
        caller.put("/v1/channels/mail", """
            {"kind":"email","smtp":{"host":"127.0.0.1","port":%d,"security":"none","from":"hello@acme.example"}}\
            """.formatted(mail.getSmtp().getPort())).expect(200);
    }

    private Reply trigger(Caller caller, String email, String plan, String wait) {
        String data = "{\"data\":{\"email\":\"%s\",\"plan\":\"%s\"}}".formatted(email, plan);
        return caller.post(
                        "/v1/workflows/welcomer/trigger?wait=" + wait,
                        data,
                        "Idempotency-Key: k" + triggers.incrementAndGet())
                .expect(200);
    }

    private JsonNode run(Caller caller, String email, String plan) {
        return ended(caller, trigger(caller, email, plan, "60s").text("run_id"));
    }

    private static JsonNode ended(Caller caller, String run) {
        JsonNode row = caller.get("/v1/runs/" + run).expect(200).json();
        for (int asked = 0; row.get("ended_at").isNull() && asked < 20_000; asked++) {
            row = caller.get("/v1/runs/" + run).expect(200).json();
        }
        return row;
    }

    private static String status(Caller caller, JsonNode run) {
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
