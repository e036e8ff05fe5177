package dev.semel.trials.files;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import com.icegreen.greenmail.store.FolderException;
import com.icegreen.greenmail.util.GreenMail;
import com.icegreen.greenmail.util.ServerSetup;
import dev.semel.json.StrictJsonCodec;
import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.LiveServer;
import dev.semel.trials.support.OnDevServers;
import dev.semel.trials.support.ServerFixture;
import dev.semel.trials.support.StoreKind;
import java.nio.file.Path;
import java.sql.Connection;
import java.sql.SQLException;
import java.sql.Statement;
import java.util.ArrayList;
import java.util.List;
import java.util.Random;
import org.junit.jupiter.api.AfterAll;
import org.junit.jupiter.api.BeforeAll;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;
import tools.jackson.databind.JsonNode;

/** SQL, people, digests and Java steps in files, on the real server. */
class StepKindsTest extends OnDevServers {
    private static final GreenMail MAIL = new GreenMail(new ServerSetup(0, "127.0.0.1", ServerSetup.PROTOCOL_SMTP));

    StepKindsTest(ServerFixture stage) {
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

    @BeforeEach
    void forget() throws FolderException {
        MAIL.purgeEmailFromAllMailboxes();
        stage.admin()
                .put("/v1/channels/mail", """
                    {"kind":"email","smtp":{"host":"127.0.0.1","port":%d,"security":"none","from":"hello@acme.example"}}\
                    """.formatted(MAIL.getSmtp().getPort()))
                .expect(200);
    }

    @Test
    void rows_commit_with_their_record_and_a_repeat_writes_none(@TempDir Path folder) throws SQLException {
        String store = stage.kind().fresh(folder);
        // Before the server, so on one of its own: it holds the file of SQLite for itself alone.
        sql(store, "CREATE TABLE license (payment_id text PRIMARY KEY, serial text NOT NULL, cents bigint)");
        try (LiveServer server = LiveServer.dev(store, folder)) {
            server.admin().publish("""
                semel: 1
                workflow: licenser
                owner: o
                steps:
                  - id: issue
                    retry: {attempts: 1}
                    tx:
                      sql: >
                        insert into license (payment_id, serial, cents)
                        values (:payment, :serial, :cents) returning serial, cents
                      params:
                        payment: ${ input.payment_id }
                        serial: ${ "LIC-" + short_hash(step.id) }
                        cents: ${ input.cents }
                output: ${ steps.issue }
                """).expect(200);
            String data = "{\"payment_id\":\"p1\",\"cents\":4900}";
            JsonNode first = StrictJsonCodec.parse(output(server.admin(), "licenser", data, "k1"));
            assertTrue(first.get("serial").asString().startsWith("LIC-"), first.toString());
            assertEquals("4900", first.get("cents").toString());
            assertEquals(first.toString(), output(server.admin(), "licenser", data, "k1"));
            HttpReply doubled = run(server.admin(), "licenser", data, "k2");
            assertEquals("failed", doubled.text("status"), doubled.body());
            assertFalse(doubled.json().get("error").toString().contains("p1"), doubled.body());
            assertTrue(doubled.json().get("error").toString().contains("constraint"), doubled.body());
        }
    }

    @Test
    void a_workflow_creates_and_changes_its_own_tables_while_the_server_runs() {
        String tables = """
            semel: 1
            workflow: tables
            owner: o
            steps:
              - id: license
                tx: {sql: "create table own_license (payment_id text primary key, serial text not null)"}
              - id: by_serial
                tx: {sql: "create unique index own_license_serial on own_license (serial)"}
            output: ["${ steps.license.updated }", "${ steps.by_serial.updated }"]
            """;
        stage.admin().publish(tables).expect(200);
        stage.admin().publish("""
            semel: 1
            workflow: own_rows
            owner: o
            steps:
              - id: row
                retry: {attempts: 1}
                tx:
                  sql: "insert into own_license (payment_id, serial) values (:id, :serial) returning serial"
                  params: {id: "${ input.id }", serial: "${ input.serial }"}
            output: ${ steps.row }
            """).expect(200);
        HttpReply first = run(stage.admin(), "tables", "{}", "tables-1");
        assertEquals("completed", first.text("status"), first.body());
        assertEquals("[0,0]", first.json().path("output").toString());
        HttpReply again = run(stage.admin(), "tables", "{}", "tables-1");
        assertEquals(first.runId(), again.runId());
        assertEquals(
                "{\"serial\":\"s1\"}", output(stage.admin(), "own_rows", "{\"id\":\"p1\",\"serial\":\"s1\"}", "o1"));
        HttpReply doubled = run(stage.admin(), "own_rows", "{\"id\":\"p2\",\"serial\":\"s1\"}", "o2");
        assertEquals("failed", doubled.text("status"), doubled.body());
        stage.admin()
                .publish(tables.replaceFirst(
                        "(?s)steps:.*",
                        "steps:\n  - id: cents\n"
                                + "    tx: {sql: \"alter table own_license add column cents bigint\"}\n"
                                + "output: \\${ steps.cents.updated }\n"))
                .expect(200);
        HttpReply changed = run(stage.admin(), "tables", "{}", "tables-2");
        assertEquals("completed", changed.text("status"), changed.body());
        assertEquals("0", changed.json().path("output").toString());
        for (String statement : List.of(
                "create table semel_own (a text)",
                "create table copied as select * from semel_key",
                "alter table own_license rename to \\\"semel_key\\\"",
                "drop table own_license",
                "create trigger t after insert on own_license begin select 1 end",
                "create view v as select 1",
                "create temp table t (a text)",
                "create index concurrently i on own_license (cents)",
                "create table t (a text default :a)")) {
            HttpReply refused = stage.admin()
                    .publish("semel: 1\nworkflow: tables\nowner: o\nsteps: [{id: a, tx: {sql: \"" + statement
                            + "\"}}]\n");
            assertEquals(400, refused.status(), statement + " " + refused.body());
        }
    }

    private static void sql(String store, String statement) throws SQLException {
        try (Connection connection = StoreKind.connect(store);
                Statement one = connection.createStatement()) {
            one.execute(statement);
        }
    }

    @Test
    void profiles_are_found_created_and_added_to_cohorts() {
        stage.admin().put("/v1/cohorts/vip", "{}").expect(200);
        stage.admin().publish("""
            semel: 1
            workflow: greeter
            owner: o
            steps:
              - id: made
                user_profile:
                  find_or_create: ${ lower(trim(input.email)) }
                  set: {attributes: {plan: pro}}
              - {id: join, cohort: {profile: "${ steps.made.id }", name: vip, member: true}}
              - {id: leave, subscription: {profile: "${ steps.made.id }", topic: email, subscribed: false}}
              - {id: again, user_profile: {find: "${ input.email }"}}
              - {id: asked, cohort: {profile: "${ steps.made.id }", name: vip}}
            output:
              id: ${ steps.made.id == steps.again.id }
              added: ${ in_cohort(steps.made.id, "vip") }
              found: ${ in_cohort(steps.again.id, "vip") }
              other: ${ in_cohort(steps.made.id, "staff") }
              member: ${ steps.asked.member }
              subscribed: ["${ steps.made.subscribed }", "${ steps.again.subscribed }"]
              plan: ${ steps.again.attributes.plan }
            """).expect(200);
        assertEquals(
                "{\"id\":true,\"added\":true,\"found\":true,\"other\":false,\"member\":true,\"subscribed\":[true,false],"
                    + "\"plan\":\"pro\"}",
                output(stage.admin(), "greeter", "{\"email\":\"grace@example.com\"}", "k1"));
    }

    @Test
    void a_run_sees_its_own_changes_of_a_cohort() {
        stage.admin().put("/v1/cohorts/vip", "{}").expect(200);
        stage.admin().publish("""
            semel: 1
            workflow: preferences
            owner: o
            steps:
              - {id: before, user_profile: {find_or_create: "ann@example.com"}}
              - {id: add, cohort: {profile: "${ steps.before.id }", name: vip, member: true}}
              - {id: added, set: {vip: '${ in_cohort(steps.before.id, "vip") }'}}
              - id: branch
                choose:
                  - when: ${ in_cohort(steps.before.id, "vip") }
                    steps: [{id: inside, set: {ok: true}}]
                  - else: true
                    steps: [{id: outside, set: {ok: true}}]
              - {id: late, user_profile: {find: "ann@example.com"}}
              - {id: remove, cohort: {profile: "ann@example.com", name: vip, member: false}}
              - {id: removed, set: {vip: '${ in_cohort(steps.late.id, "vip") }'}}
              - {id: last, user_profile: {find: "ann@example.com"}}
              - {id: again, cohort: {profile: "${ steps.before.id }", name: vip, member: true}}
              - {id: other, user_profile: {find_or_create: "bob@example.com"}}
            output:
              - ${ steps.added.vip }
              - ${ steps.removed.vip }
              - ${ in_cohort(steps.last.id, "vip") }
              - ${ in_cohort(steps.other.id, "vip") }
              - ${ default(steps.inside.ok, false) }
            """).expect(200);
        assertEquals("[true,false,true,false,true]", output(stage.admin(), "preferences", "{}", "own cohort"));
    }

    @Test
    void changes_of_a_cohort_inside_a_loop_count_and_other_steps_of_that_shape_do_not() {
        stage.admin().put("/v1/cohorts/vip", "{}").expect(200);
        stage.admin().publish("""
            semel: 1
            workflow: looped
            owner: o
            steps:
              - {id: before, user_profile: {find_or_create: "cyd@example.com"}}
              - {id: shape, set: {profile: "${ steps.before.id }", cohort: staff, member: true}}
              - {id: shaped, set: {staff: '${ in_cohort(steps.before.id, "staff") }'}}
              - id: loop
                for_each: [a, b]
                item_key: ${ item }
                steps:
                  - id: split
                    parallel:
                      left: [{id: add, cohort: {profile: "${ steps.before.id }", name: vip, member: true}}]
                      right: [{id: see, set: {vip: '${ in_cohort(steps.before.id, "vip") }'}}]
                  - {id: inside, set: {vip: '${ in_cohort(steps.before.id, "vip") }'}}
            output:
              - ${ steps.shaped.staff }
              - ${ steps.loop[0].inside.vip }
              - ${ in_cohort(steps.before.id, "vip") }
            """).expect(200);
        assertEquals("[false,true,true]", output(stage.admin(), "looped", "{}", "looped"));
    }

    @Test
    void a_digest_collects_the_items_of_many_runs_into_one_mail() throws Exception {
        ApiCaller caller = stage.admin();
        caller.put("/v1/templates/leads", """
            {"channel":"email","subject":"{{ count }} leads","text":"{{#each items}}{{ this }};{{/each}}"}\
            """).expect(200);
        caller.publish("""
            semel: 1
            workflow: teller
            owner: o
            steps:
              - id: tell
                digest:
                  key: ${ key("sales", input.region) }
                  collect_for: 3s
                  item: ${ input.lead }
                send: {channel: mail, to: sales@acme.example, template: leads}
                protect: at_most_once
            output: ${ default(steps.tell.sent, false) }
            """).expect(200);
        List<String> runs = new ArrayList<>();
        for (int i = 0; i < 5; i++) {
            String data = "{\"data\":{\"region\":\"emea\",\"lead\":\"l" + i + "\"}}";
            runs.add(caller.trigger("teller", "k" + i, data).expect(200).text("run_id"));
            caller.trigger("teller", "k" + i, data).expect(200);
        }
        for (String run : runs) {
            assertEquals("completed", ended(caller, run).get("status").asString());
        }
        assertEquals(1, MAIL.getReceivedMessages().length);
        assertEquals("5 leads", MAIL.getReceivedMessages()[0].getSubject());
        String text = String.valueOf(MAIL.getReceivedMessages()[0].getContent()).strip();
        for (int i = 0; i < 5; i++) {
            assertEquals(text.indexOf("l" + i + ";"), text.lastIndexOf("l" + i + ";"), text);
            assertTrue(text.contains("l" + i + ";"), text);
        }
    }

    @Test
    void a_digest_whose_first_run_was_cancelled_is_sent_on_time_and_once() throws Exception {
        ApiCaller caller = stage.admin();
        caller.put("/v1/templates/leads", "{\"channel\":\"email\",\"subject\":\"{{ count }}\",\"text\":\"x\"}")
                .expect(200);
        for (String name : List.of("first_digest", "second_digest")) {
            caller.publish("""
                semel: 1
                workflow: NAME
                owner: o
                steps:
                  - id: tell
                    digest: {key: "${ input.region }", collect_for: 4s, item: "${ input.lead }"}
                    send: {channel: mail, to: NAME@acme.example, template: leads}
                    protect: at_most_once
                """.replace("NAME", name)).expect(200);
        }
        String data = "{\"data\":{\"region\":\"emea\",\"lead\":\"l\"},\"run_id\":\"chosen-1\"}";
        caller.trigger("first_digest", "a", data).expect(200);
        collected(caller, "chosen-1");
        String next = caller.trigger("first_digest", "b", "{\"data\":{\"region\":\"emea\",\"lead\":\"m\"}}")
                .expect(200)
                .text("run_id");
        String other = caller.trigger("second_digest", "c", "{\"data\":{\"region\":\"emea\",\"lead\":\"n\"}}")
                .expect(200)
                .text("run_id");
        assertEquals("completed", ended(caller, next).get("status").asString());
        // Nothing else comes, and the item of the other run is not lost with the one that was to send it.
        caller.post("/v1/runs/chosen-1/cancel", "{}").expect(200);
        assertEquals("cancelled", ended(caller, "chosen-1").get("status").asString());
        assertEquals("completed", ended(caller, other).get("status").asString());
        assertEquals(2, MAIL.getReceivedMessages().length, "one for each workflow");
        List<String> subjects = new ArrayList<>();
        for (var message : MAIL.getReceivedMessages()) {
            subjects.add(message.getSubject() + " " + message.getAllRecipients()[0]);
        }
        subjects.sort(null);
        assertEquals(List.of("1 second_digest@acme.example", "2 first_digest@acme.example"), subjects);
    }

    private static void collected(ApiCaller caller, String run) {
        JsonNode timeline =
                caller.get("/v1/runs/" + run + "/timeline").expect(200).json();
        for (int asked = 0; !timeline.toString().contains("tell.collect") && asked < 20_000; asked++) {
            timeline = caller.get("/v1/runs/" + run + "/timeline").expect(200).json();
        }
        assertTrue(timeline.toString().contains("tell.collect"), timeline.toString());
    }

    @Test
    void an_unsubscribed_address_without_a_profile_gets_nothing() {
        ApiCaller caller = stage.admin();
        for (String name : List.of("one", "two")) {
            caller.put("/v1/templates/" + name, "{\"channel\":\"email\",\"subject\":\"s\",\"text\":\"x\"}")
                    .expect(200);
        }
        caller.publish("""
            semel: 1
            workflow: writer
            owner: o
            steps:
              - {id: quiet, subscription: {profile: "bob@example.com", topic: all, subscribed: false}}
              - {id: bob, send: {channel: mail, to: "Bob@example.com", template: one}, protect: at_most_once}
              - id: first
                send: {channel: mail, to: "ann@example.com", template: one}
                idempotent: {key: "${ input.k }", time: 1, unit: hours}
                protect: at_most_once
              - id: same
                send: {channel: mail, to: "Ann@Example.com", template: one}
                idempotent: {key: "${ input.k }", time: 1, unit: hours}
                protect: at_most_once
              - id: other
                send: {channel: mail, to: "ann@example.com", template: two}
                idempotent: {key: "${ input.k }", time: 1, unit: hours}
                protect: at_most_once
            output: ["${ steps.bob.sent }", "${ steps.first.sent }"]
            """).expect(200);
        assertEquals("[false,true]", output(caller, "writer", "{\"k\":\"welcome\"}", "k1"));
        assertEquals(2, MAIL.getReceivedMessages().length, "first and other; same is the same, Bob does not want any");
    }

    @Test
    void sent_batches_do_not_count_for_the_digest_limit() {
        ApiCaller caller = stage.admin();
        caller.put("/v1/templates/big", "{\"channel\":\"email\",\"subject\":\"s\",\"text\":\"{{ count }}\"}")
                .expect(200);
        caller.publish("""
            semel: 1
            workflow: gatherer
            owner: o
            steps:
              - id: tell
                digest: {key: "${ input.region }", collect_for: 1s, item: "${ input.lead }"}
                send: {channel: mail, to: sales@acme.example, template: big}
                protect: at_most_once
            """).expect(200);
        String lead = "x".repeat(200_000);
        for (int i = 0; i < 4; i++) {
            HttpReply reply = run(caller, "gatherer", "{\"region\":\"emea\",\"lead\":\"" + lead + "\"}", "g" + i);
            assertEquals(
                    "completed",
                    reply.text("status"),
                    () -> caller.get("/v1/runs/" + reply.text("run_id") + "/timeline")
                            .body());
        }
        assertEquals(4, MAIL.getReceivedMessages().length);
    }

    @Test
    void a_digest_sends_every_item_that_it_accepted_and_rejects_the_rest() throws Exception {
        ApiCaller caller = stage.admin();
        caller.put("/v1/templates/count", "{\"channel\":\"email\",\"subject\":\"{{ count }}\",\"text\":\"x\"}")
                .expect(200);
        caller.publish("""
            semel: 1
            workflow: hoarder
            owner: o
            steps:
              - id: tell
                digest: {key: "${ input.region }", collect_for: 3s, item: "${ input.lead }"}
                send: {channel: mail, to: sales@acme.example, template: count}
                protect: at_most_once
                retry: {attempts: 1}
            """).expect(200);
        String lead = "x".repeat(100_000);
        List<String> runs = new ArrayList<>();
        for (int i = 0; i < 4; i++) {
            runs.add(caller.trigger("hoarder", "h" + i, "{\"data\":{\"region\":\"emea\",\"lead\":\"" + lead + "\"}}")
                    .expect(200)
                    .text("run_id"));
        }
        int completed = 0;
        for (String run : runs) {
            JsonNode ended = ended(caller, run);
            if (ended.get("status").asString().equals("completed")) {
                completed++;
            } else {
                assertEquals("payload-too-large", ended.get("error").get("code").asString());
            }
        }
        assertEquals(1, MAIL.getReceivedMessages().length);
        assertEquals("" + completed, MAIL.getReceivedMessages()[0].getSubject());
        assertEquals(2, completed);
    }

    @Test
    void a_hostile_key_or_object_fails_its_run_and_the_next_run_of_the_entity_continues() {
        ApiCaller caller = stage.admin();
        caller.publish("""
            semel: 1
            workflow: named
            owner: o
            serial_by: ${ input.entity }
            steps:
              - id: loud
                java: shout
                input: {text: hello}
                idempotent: {key: "${ input.key }", time: 1, unit: seconds}
                object: ${ input.object }
                protect: provider_key
                provider_window: 24h
            output: ok
            """).expect(200);
        String hostile = "{\"entity\":\"e\",\"key\":\"%s\",\"object\":\"%s\"}";
        HttpReply key = run(caller, "named", hostile.formatted("k\\u0000", "o"), "n1");
        assertEquals("failed", key.text("status"), key.body());
        HttpReply object = run(caller, "named", hostile.formatted("k", "o\\u0000"), "n2");
        assertEquals("failed", object.text("status"), object.body());
        StringBuilder text = new StringBuilder();
        new Random(7).ints(3_800, 'A', 'z').filter(c -> c != '\\').forEach(text::appendCodePoint);
        assertEquals("\"ok\"", output(caller, "named", hostile.formatted(text, text), "n3"));
    }

    @Test
    void a_step_in_java_is_an_effect_like_any_other() {
        stage.admin().publish("""
            semel: 1
            workflow: shouter
            owner: o
            steps:
              - id: loud
                java: shout
                input: {text: "${ input.text }"}
                protect: provider_key
                provider_window: 24h
              - {id: words, template_search: {prefix: zzz}}
            output: {said: "${ steps.loud.said }", keyed: "${ size(steps.loud.key) > 0 }", found: "${ size(steps.words.items) }"}
            """).expect(200);
        assertEquals(
                "{\"said\":\"HELLO\",\"keyed\":true,\"found\":0}",
                output(stage.admin(), "shouter", "{\"text\":\"hello\"}", "k1"));
    }

    @Test
    void a_protection_that_the_channel_cannot_keep_does_not_publish() {
        HttpReply refused = stage.admin().publish("""
            semel: 1
            workflow: promiser
            owner: o
            steps:
              - id: tell
                send: {channel: mail, to: ann@example.com, template: none_yet}
                protect: provider_key
                provider_window: 24h
            """).expect(400);
        assertTrue(refused.body().contains("line 7, column 14"), refused.body());
        assertTrue(refused.body().contains("channel mail supports only ask, at_most_once"), refused.body());
        HttpReply risky = stage.admin().publish("""
            semel: 1
            workflow: promiser
            owner: o
            steps:
              - {id: pay, java: shout, protect: ask, risk: high}
            """).expect(400);
        assertTrue(risky.body().contains("has risk: high and no approval step before it"), risky.body());
        HttpReply lenient = stage.admin().publish("""
            semel: 1
            workflow: promiser
            owner: o
            steps:
              - {id: ask, approval: {to: "role:ops", title: May I, on_reject: continue}}
              - {id: pay, java: shout, protect: ask, risk: high}
            """).expect(400);
        assertTrue(lenient.body().contains("has risk: high and no approval step before it"), lenient.body());
        stage.admin().publish("""
            semel: 1
            workflow: promiser
            owner: o
            steps:
              - {id: ask, approval: {to: "role:ops", title: May I}}
              - {id: pay, java: shout, protect: ask, risk: high}
            """).expect(200);
    }

    private static HttpReply run(ApiCaller caller, String workflow, String data, String key) {
        return caller.post(
                        "/v1/workflows/" + workflow + "/trigger?wait=60s",
                        "{\"data\":" + data + "}",
                        "Idempotency-Key: " + workflow + key)
                .expect(200);
    }

    private static String output(ApiCaller caller, String workflow, String data, String key) {
        HttpReply reply = run(caller, workflow, data, key);
        assertEquals(
                "completed",
                reply.text("status"),
                () -> caller.get("/v1/runs/" + reply.text("run_id")).body());
        return reply.json().get("output").toString();
    }

    private static JsonNode ended(ApiCaller caller, String run) {
        JsonNode row = caller.get("/v1/runs/" + run).expect(200).json();
        for (int asked = 0; row.get("ended_at").isNull() && asked < 20_000; asked++) {
            row = caller.get("/v1/runs/" + run).expect(200).json();
        }
        return row;
    }
}
