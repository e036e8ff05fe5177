package dev.semel.trials.http;

import static dev.semel.trials.support.SampleWorkflows.data;
import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.HttpReply;
import dev.semel.trials.support.OnBothStores;
import dev.semel.trials.support.ProblemResponseChecks;
import dev.semel.trials.support.ServerFixture;
import java.util.ArrayList;
import java.util.List;
import org.junit.jupiter.api.Test;
import tools.jackson.databind.JsonNode;

/** The ledger as a list: whatever a filter says is applied before a page is cut. */
class LedgerListTest extends OnBothStores {
    LedgerListTest(ServerFixture stage) {
        super(stage);
    }

    private ApiCaller admin() {
        return stage.admin();
    }

    private void publish(String name) {
        admin().publish("""
            semel: 1
            workflow: %s
            owner: trials
            steps:
              - id: make
                java: shout
                input: { text: hi }
                protect: ask
                object: order 7
                idempotent: { key: "${ input.name }", time: 1, unit: days }
            """.formatted(name)).expect(200);
    }

    private void run(String workflow) {
        String path = "/v1/workflows/" + workflow + "/trigger?wait=60s";
        String body = data("\"name\":\"" + workflow + "-key\"");
        admin().post(path, body, "Idempotency-Key: " + stage.key()).expect(200);
    }

    private HttpReply page(String q, String more) {
        return admin().get("/v1/effects?q=" + q.replace(" ", "%20") + more).expect(200);
    }

    /** The states of all that is found, in pages of one. */
    private List<String> states(String q) {
        List<String> states = new ArrayList<>();
        String after = "";
        do {
            HttpReply page = page(q, "&limit=1" + after);
            JsonNode items = page.json().get("items");
            assertTrue(items.size() <= 1);
            items.forEach(item -> states.add(item.get("status").asString()));
            assertFalse(items.isEmpty() && page.json().get("next").isString(), "an empty page in between: " + q);
            after = page.json().get("next").isString()
                    ? "&after=" + page.json().get("next").stringValue()
                    : "";
        } while (!after.isEmpty());
        return states;
    }

    @Test
    void a_page_is_filled_with_filtered_rows() {
        publish("listed");
        publish("beside");
        for (int i = 0; i < 3; i++) {
            run("listed");
            run("beside");
        }
        String of = "workflow:listed";
        assertEquals(List.of("suppressed", "suppressed"), states(of + " suppressed:true"));
        assertEquals(List.of("done"), states(of + " suppressed:false"));
        assertEquals(List.of("suppressed", "suppressed", "done"), states(of));
        assertEquals(List.of("done"), states("key:listed-key"));
        assertEquals(List.of("suppressed", "suppressed"), states("key:listed-key suppressed:true"));
        assertEquals(List.of(), states("key:listed-key state:in_doubt"), "other words count beside a key");
        assertEquals(List.of(), states("key:listed-key workflow:beside"));
        assertEquals(List.of(), states(of + " state:not_done"));
        assertEquals(List.of(), states(of + " protection:none"));
        ProblemResponseChecks.expect(admin().get("/v1/effects?q=suppressed:maybe"), 400, "invalid-input");
    }
}
