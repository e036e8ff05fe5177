package dev.semel.trials.documents;

import dev.semel.json.StrictJsonCodec;
import dev.semel.trials.support.ConcurrentCalls;
import tools.jackson.databind.JsonNode;

/** Asks everything about reviews and effects, so that the answers are held against the document. */
final class ReviewApiCalls {
    private ReviewApiCalls() {}

    static void ask(OpenApiClient client) throws Exception {
        String file = "semel: 1\nworkflow: asks\nsteps: [{id: ok, approval: {to: ann, title: May I?, due: 1h}}]\n";
        client.named("asks").typed("application/yaml").ask(200, "PUT", "/v1/workflows/{id}", file);
        client.typed("application/json").ask(200, "POST", "/v1/workflows/{id}/trigger", "{}");
        ConcurrentCalls.until("a review is there", () -> found(client));
        client.ask(200, "GET", "/v1/reviews/{review_id}", "");
        client.ask(400, "POST", "/v1/reviews/{review_id}/check", "");
        client.ask(400, "POST", "/v1/reviews/{review_id}/decide", "{\"decision\":\"happened\"}");
        client.ask(409, "POST", "/v1/reviews/{review_id}/decide", "{\"decision\":\"approve\",\"version\":7}");
        client.with("Idempotency-Key", "decide_1");
        client.ask(200, "POST", "/v1/reviews/{review_id}/decide", "{\"decision\":\"approve\",\"note\":\"fine\"}");
        client.ask(200, "POST", "/v1/reviews/{review_id}/decide", "{\"decision\":\"approve\",\"note\":\"fine\"}");
        client.without().ask(409, "POST", "/v1/reviews/{review_id}/decide", "{\"decision\":\"reject\"}");
        client.ask(200, "GET", "/v1/reviews?q=state:decided&limit=1", "");
        String review = StrictJsonCodec.parse(
                        client.ask(200, "GET", "/v1/reviews/{review_id}", "").body())
                .path("review_id")
                .asString();
        client.ask(200, "POST", "/v1/reviews/decide", "{\"ids\":[\"" + review + "@1\"],\"decision\":\"approve\"}");
        client.ask(200, "POST", "/v1/reviews/decide", "{\"q\":\"kind:approval\",\"decision\":\"approve\"}");
        client.review("rev_none").ask(404, "GET", "/v1/reviews/{review_id}", "");
        client.ask(200, "GET", "/v1/effects?limit=2", "");
        client.ask(200, "GET", "/v1/effects?q=state:done", "");
        client.ask(400, "GET", "/v1/effects?q=what", "");
        client.named("payment_receipt");
    }

    private static boolean found(OpenApiClient client) {
        try {
            JsonNode items = StrictJsonCodec.parse(client.ask(200, "GET", "/v1/reviews?q=kind:approval%20to:ann", "")
                            .body())
                    .path("items");
            items.forEach(item -> client.review(item.path("review_id").asString()));
            return !items.isEmpty();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }
}
