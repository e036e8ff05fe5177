package dev.semel.trials.attacks;

import static dev.semel.trials.support.SampleWorkflows.flow;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.OnBothStores;
import dev.semel.trials.support.ServerFixture;
import org.junit.jupiter.api.Test;

/** Numbers out of every range, and ids that look like file paths. */
class HostileValuesTest extends OnBothStores {
    HostileValuesTest(ServerFixture stage) {
        super(stage);
    }

    private void rejected(HttpReply reply, String what) {
        assertTrue(reply.status() == 400 || reply.status() == 404, () -> what + " => " + reply);
        assertFalse(reply.body().contains("root:"), what);
    }

    @Test
    void s40_an_id_is_never_a_file_path() {
        stage.admin().publish(flow("plain")).expect(200);
        String before = stage.rows();
        for (String id : new String[] {
            "..%2f..%2fetc%2fpasswd",
            "%2e%2e%2f%2e%2e%2fetc%2fpasswd",
            "..%5c..%5cetc%5cpasswd",
            "%c0%ae%c0%ae%c0%afetc%c0%afpasswd",
            "%2e%2e",
            "..;%2f..",
            "%00",
            "..%252f..%252fetc%252fpasswd"
        }) {
            for (String path : new String[] {
                "/v1/runs/", "/v1/workflows/", "/v1/secrets/", "/v1/templates/", "/v1/schedules/", "/v1/webhooks/"
            }) {
                rejected(stage.admin().get(path + id), path + id);
            }
            rejected(stage.server().stranger().get("/assets/" + id), "/assets/" + id);
            rejected(stage.server().stranger().get("/" + id), "/" + id);
            if (!id.contains("%252f") && !id.contains("%5c")) { // these are texts of characters that ids may have
                rejected(stage.admin().put("/v1/workflows/plain/runs/" + id, "{\"data\":{}}"), id);
            }
        }
        for (String name : new String[] {"../x", "..", "a/b", "a\\\\b", "/etc/passwd"}) {
            rejected(
                    stage.admin()
                            .publish("semel: 1\nworkflow: \"" + name + "\"\nsteps:\n  - {id: a, set: {ok: true}}\n"),
                    name);
        }
        assertEquals(before, stage.rows());
    }

    @Test
    void s43_numbers_out_of_range_are_rejected_and_nothing_starts() {
        stage.admin().publish(flow("plain")).expect(200);
        String before = stage.rows();
        for (String delay : new String[] {
            "\"9223372036854775807ms\"",
            "\"9223372036854775807d\"",
            "\"-1s\"",
            "\"PT-1S\"",
            "\"1.5s\"",
            "\"1e9s\"",
            "-1",
            "9223372036854775807",
            "1e400",
            "\"\"",
            "\"NaNs\""
        }) {
            HttpReply reply = stage.admin().unkeyed("plain", "{\"data\":{},\"delay\":" + delay + "}");
            assertEquals(400, reply.status(), () -> delay + " => " + reply);
        }
        for (String query : new String[] {
            "limit=-1",
            "limit=0",
            "limit=9223372036854775808",
            "limit=1e3",
            "limit=%2B5",
            "limit=",
            "limit=5&limit=6",
            "after=tampered",
            "after=AAAA",
            "after=-1"
        }) {
            HttpReply reply = stage.admin().get("/v1/runs?" + query);
            assertEquals(400, reply.status(), () -> query + " => " + reply);
        }
        for (String wait : new String[] {"-1s", "9223372036854775807d", "PT-1S", "1.5s", "soon"}) {
            HttpReply reply = stage.admin().post("/v1/workflows/plain/trigger?wait=" + wait, "{}");
            assertEquals(400, reply.status(), () -> wait + " => " + reply);
        }
        assertEquals(before, stage.rows());
    }
}
