package dev.semel.trials.documents;

import dev.semel.json.StrictJson;
import dev.semel.trials.support.ConcurrentCalls;
import tools.jackson.databind.JsonNode;

/** Asks everything about reviews and effects, so that the answers are held against the document. */
final class ReviewApiCalls {
    private ReviewApiCalls() {}

    static void ask(OpenApiClient asking) throws Exception {
        String file = "semel: 1\nworkflow: asks\nsteps: [{id: ok, approval: {to: ann, title: May I?, due: 1h}}]\n";
        asking.named("asks").typed("application/yaml").ask(200, "PUT", "/v1/workflows/{id}", file);
        asking.typed("application/json").ask(200, "POST", "/v1/workflows/{id}/trigger", "{}");
        ConcurrentCalls.until("a review is there", () -> found(asking));
        asking.ask(200, "GET", "/v1/reviews/{review_id}", "");
        asking.ask(400, "POST", "/v1/reviews/{review_id}/check", "");
        asking.ask(400, "POST", "/v1/reviews/{review_id}/decide", "{\"decision\":\"happened\"}");
        asking.ask(409, "POST", "/v1/reviews/{review_id}/decide", "{\"decision\":\"approve\",\"version\":7}");
        asking.with("Idempotency-Key", "decide_1");
        asking.ask(200, "POST", "/v1/reviews/{review_id}/decide", "{\"decision\":\"approve\",\"note\":\"fine\"}");
        asking.ask(200, "POST", "/v1/reviews/{review_id}/decide", "{\"decision\":\"approve\",\"note\":\"fine\"}");
        asking.without().ask(409, "POST", "/v1/reviews/{review_id}/decide", "{\"decision\":\"reject\"}");
        asking.ask(200, "GET", "/v1/reviews?q=state:decided&limit=1", "");
        String review = StrictJson.parse(
                        asking.ask(200, "GET", "/v1/reviews/{review_id}", "").body())
                .path("review_id")
                .asString();
        asking.ask(200, "POST", "/v1/reviews/decide", "{\"ids\":[\"" + review + "@1\"],\"decision\":\"approve\"}");
        asking.ask(200, "POST", "/v1/reviews/decide", "{\"q\":\"kind:approval\",\"decision\":\"approve\"}");
        asking.review("rev_none").ask(404, "GET", "/v1/reviews/{review_id}", "");
        asking.ask(200, "GET", "/v1/effects?limit=2", "");
        asking.ask(200, "GET", "/v1/effects?q=state:done", "");
        asking.ask(400, "GET", "/v1/effects?q=what", "");
        asking.named("payment_receipt");
    }

    private static boolean found(OpenApiClient asking) {
        try {
            JsonNode items = StrictJson.parse(asking.ask(200, "GET", "/v1/reviews?q=kind:approval%20to:ann", "")
                            .body())
                    .path("items");
            items.forEach(item -> asking.review(item.path("review_id").asString()));
            return !items.isEmpty();
        } catch (Exception e) {
            throw new AssertionError(e);
        }
    }
}
