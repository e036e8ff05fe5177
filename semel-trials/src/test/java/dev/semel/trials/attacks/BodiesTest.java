package dev.semel.trials.attacks;

import static dev.semel.trials.support.SampleWorkflows.data;
import static dev.semel.trials.support.SampleWorkflows.flow;
import static dev.semel.trials.support.SampleWorkflows.keyed;
import static dev.semel.trials.support.TriggerResponseChecks.conflict;
import static dev.semel.trials.support.TriggerResponseChecks.replay;
import static dev.semel.trials.support.TriggerResponseChecks.started;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.OnBothStores;
import dev.semel.trials.support.ProblemResponseChecks;
import dev.semel.trials.support.RawConnection;
import dev.semel.trials.support.ServerFixture;
import java.io.ByteArrayOutputStream;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.Arrays;
import java.util.zip.GZIPOutputStream;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;

/** Bodies that are too large, too deep, too clever, or two things at once. */
class BodiesTest extends OnBothStores {
    private static final String PATH = "/v1/workflows/plain/trigger";
    private static final String JSON = "Content-Type: application/json";

    BodiesTest(ServerFixture stage) {
        super(stage);
    }

    @BeforeEach
    void publish() {
        stage.admin().publish(flow("plain")).expect(200);
    }

    @Test
    void s20_a_declared_oversized_body_is_413_before_it_is_read() {
        String before = stage.rows();
        for (String length : new String[] {"1048577", "10737418240", "999999999999999"}) {
            try (RawConnection wire = stage.server().wire()) {
                wire.send(admin().head("POST", PATH, JSON, key(), "Content-Length: " + length) + "\r\n");
                ProblemResponseChecks.expect(wire.reply(), 413, "payload-too-large");
                assertEquals("", wire.untilClosed());
            }
        }
        assertEquals(before, stage.rows());
        admin().get("/v1/runs?limit=1").expect(200);
    }

    @Test
    void s20_a_large_body_that_is_really_sent_gets_its_413() {
        byte[] large = new byte[8 << 20];
        Arrays.fill(large, (byte) ' ');
        for (int i = 0; i < 5; i++) {
            ProblemResponseChecks.expect(admin().send("POST", PATH, large, JSON, key()), 413, "payload-too-large");
        }
    }

    @Test
    void s20_endless_chunks_are_413_at_the_limit() {
        String before = stage.rows();
        byte[] chunk = ("10000\r\n" + " ".repeat(1 << 16) + "\r\n").getBytes(StandardCharsets.ISO_8859_1);
        try (RawConnection wire = stage.server().wire()) {
            wire.send(admin().head("POST", PATH, JSON, key(), "Transfer-Encoding: chunked") + "\r\n");
            for (int i = 0; i < 64; i++) {
                wire.tryToSend(chunk);
            }
            ProblemResponseChecks.expect(wire.reply(), 413, "payload-too-large");
        }
        assertEquals(before, stage.rows());
    }

    @Test
    void s20_a_compressed_body_is_415_and_never_inflated() throws IOException {
        ByteArrayOutputStream packed = new ByteArrayOutputStream();
        try (var gzip = new GZIPOutputStream(packed)) {
            gzip.write(new byte[8 << 20]);
        }
        String before = stage.rows();
        for (String encoding : new String[] {"gzip", "deflate", "br", "zstd", "gzip, gzip", "identity, gzip", "GZIP"}) {
            HttpReply reply =
                    admin().send("POST", PATH, packed.toByteArray(), JSON, key(), "Content-Encoding: " + encoding);
            ProblemResponseChecks.expect(reply, 415, "unsupported-media-type");
        }
        assertEquals(before, stage.rows());
        started(admin().send(
                        "POST",
                        PATH,
                        data("").getBytes(StandardCharsets.UTF_8),
                        JSON,
                        key(),
                        "Content-Encoding: identity"));
    }

    @Test
    void s21_json_bombs_are_400() {
        String before = stage.rows();
        for (String bomb : new String[] {
            "[".repeat(100_000),
            "{\"data\": " + "[".repeat(100_000),
            "{\"data\":".repeat(20_000),
            "{\"data\": {\"n\": " + "9".repeat(100_000) + "}}",
            "{\"data\": {\"n\": 1e" + "9".repeat(2_000) + "}}",
            "{\"data\": {\"n\": 1e99999999999}}",
            "{\"data\": {\"n\": NaN}}",
            "{\"data\": {\"n\": Infinity}}",
            "{\"data\": {\"n\": -Infinity}}",
            "{\"data\": {\"n\": 01}}",
            "{\"data\": {\"n\": +1}}",
            "{\"data\": {\"n\": .5}}",
            "{\"data\": {\"" + "k".repeat(20_000) + "\": 1}}",
            "{\"data\": {}} {}",
            "{\"data\": {}}x",
            "{'data': {}}",
            "{\"data\": {\"s\": \"\\ud800\"}}",
            "{\"data\": {\"s\": \"a\nb\"}}",
            "{\"data\": {/* c */}}",
            "{\"data\": {},}",
            "\ufeff{\"data\": {}}",
            "",
            " "
        }) {
            HttpReply reply = admin().send("POST", PATH, bomb, JSON, key());
            if (bomb.isEmpty()) {
                before = afterNoBody(reply);
            } else {
                ProblemResponseChecks.expect(reply, 400, "invalid-input");
            }
        }
        assertEquals(before, stage.rows());
    }

    /** No body at all is no bomb but a trigger without data. */
    private String afterNoBody(HttpReply reply) {
        started(reply);
        return stage.rows();
    }

    @Test
    void s21_bytes_that_are_not_utf_8_are_400() {
        String before = stage.rows();
        byte[][] bodies = {
            "{\"data\": {\"a\": \"x\"}}".getBytes(StandardCharsets.UTF_16),
            "{\"data\": {\"a\": \"x\"}}".getBytes(StandardCharsets.UTF_16LE),
            "{\"data\": {\"a\": \"\u00e9\"}}".getBytes(StandardCharsets.ISO_8859_1),
            {'{', '"', 'd', 'a', 't', 'a', '"', ':', '{', '"', (byte) 0xc0, (byte) 0xaf, '"', ':', '1', '}', '}'},
            {
                '{',
                '"',
                'd',
                'a',
                't',
                'a',
                '"',
                ':',
                '{',
                '"',
                (byte) 0xed,
                (byte) 0xa0,
                (byte) 0x80,
                '"',
                ':',
                '1',
                '}',
                '}'
            }
        };
        for (byte[] body : bodies) {
            ProblemResponseChecks.expect(admin().send("POST", PATH, body, JSON, key()), 400, "invalid-input");
        }
        assertEquals(before, stage.rows());
    }

    @Test
    void s21_many_members_and_colliding_names_are_accepted_up_to_the_body_limit() {
        StringBuilder many = new StringBuilder("{\"data\": {");
        for (int i = 0; i < 1 << 12; i++) {
            StringBuilder name = new StringBuilder();
            for (int bit = 0; bit < 12; bit++) {
                name.append((i >> bit & 1) == 0 ? "Aa" : "BB");
            }
            many.append(i == 0 ? "" : ",")
                    .append('"')
                    .append(name)
                    .append("\":")
                    .append(i);
        }
        String body = many.append("}}").toString();
        String key = stage.key();
        HttpReply first = started(admin().trigger("plain", key, body));
        assertTrue(!replay(first, admin().trigger("plain", key, body)).flag("payload_mismatch"));
        assertTrue(replay(first, admin().trigger("plain", key, body.replace(":7,", ":8,")))
                .flag("payload_mismatch"));
        String flat = "{\"data\": {\"a\": [" + "1,".repeat(400_000) + "1]}}";
        started(admin().trigger("plain", stage.key(), flat));
    }

    @Test
    void s21_the_same_bombs_inside_a_definition_are_400() {
        for (String yaml : new String[] {
            "[".repeat(50_000),
            "a: &a [*a]",
            "semel: 1\nworkflow: bomb\nx: !!javax.script.ScriptEngineManager []\n",
            "\u0000",
            "semel: 1\nsemel: 1\n",
            "a: &a [x,x]\nb: &b [*a,*a,*a,*a,*a,*a]\nc: [*b,*b,*b,*b,*b,*b]\n"
        }) {
            HttpReply reply = admin().send("PUT", "/v1/workflows/bomb", yaml, "Content-Type: application/yaml");
            ProblemResponseChecks.expect(reply, 400, "invalid-definition");
        }
        HttpReply large = admin().send(
                        "PUT", "/v1/workflows/bomb", "#".repeat((256 << 10) + 1), "Content-Type: application/yaml");
        ProblemResponseChecks.expect(large, 413, "payload-too-large");
    }

    @Test
    void s22_a_duplicate_member_is_400_at_any_depth_and_in_any_spelling() {
        String before = stage.rows();
        for (String body : new String[] {
            "{\"data\": {\"amount\": 1, \"amount\": 2}}",
            "{\"data\": {}, \"data\": {}}",
            "{\"data\": {\"a\": 1, \"\\u0061\": 2}}",
            "{\"data\": {\"l\": [{\"x\": 1, \"x\": 1}]}}",
            "{\"run_id\": \"a\", \"run_id\": \"b\"}"
        }) {
            HttpReply reply =
                    ProblemResponseChecks.expect(admin().trigger("plain", stage.key(), body), 400, "invalid-input");
            assertTrue(reply.json().at("/errors/0/pointer").asString().startsWith("/"), reply.body());
        }
        assertEquals(before, stage.rows());
    }

    @Test
    void s22_numbers_and_escapes_are_equal_by_value_and_never_by_rounding() {
        admin().publish(keyed("numbers", "fingerprint: [n]")).expect(200);
        String key = stage.key();
        HttpReply first = started(admin().trigger("numbers", key, data("\"n\": 1")));
        for (String same : new String[] {"1.0", "1e0", "10e-1", "1.000"}) {
            replay(first, admin().trigger("numbers", key, data("\"n\": " + same)));
        }
        for (String other : new String[] {"\"1\"", "1.0000000000000000000001", "-1", "true", "[1]", "null"}) {
            conflict("payload", first, admin().trigger("numbers", key, data("\"n\": " + other)));
        }
        String big = stage.key();
        HttpReply exact = started(admin().trigger("numbers", big, data("\"n\": 9007199254740993")));
        conflict("payload", exact, admin().trigger("numbers", big, data("\"n\": 9007199254740992")));
        replay(exact, admin().trigger("numbers", big, data("\"\\u006e\": 9007199254740993")));
    }

    private ApiCaller admin() {
        return stage.admin();
    }

    private String key() {
        return "Idempotency-Key: " + stage.key();
    }
}
