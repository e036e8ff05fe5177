package dev.semel.trials.documents;

import dev.semel.json.StrictJson;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/** Every route to webhooks, asked as the description says. */
final class WebhookApiCalls {
    private static final String HOOK = "/v1/webhooks/{name}";

    private WebhookApiCalls() {}

    static void ask(OpenApiClient asking) throws Exception {
        String document = "{\"preset\":\"github\",\"signature_reuse\":\"reject\",\"secrets\":[\"one\"]}";
        asking.about("", "").ask(200, "PUT", "/v1/secrets/{name}", "{\"value\":\"hunter22\"}");
        String path = text(asking.ask(200, "PUT", HOOK, document), "path");
        asking.ask(200, "PUT", HOOK + "?new_source=true", document);
        asking.ask(400, "PUT", HOOK, "{}");
        asking.ask(200, "GET", HOOK, "");
        asking.ask(200, "GET", "/v1/webhooks?limit=1", "");
        asking.about("", path.substring("/v1/webhooks/".length())).ask(404, "POST", HOOK, "{}");
        String body = received(asking);
        asking.about("", "").ask(200, "GET", HOOK + "/deliveries?limit=2", "");
        asking.about(body, "").ask(200, "POST", HOOK + "/deliveries/{delivery_id}/reprocess", "");
        asking.about("dlv_none", "").ask(404, "POST", HOOK + "/deliveries/{delivery_id}/reprocess", "");
        asking.about("", "").ask(200, "DELETE", HOOK, "");
        asking.ask(404, "GET", HOOK, "");
    }

    /** The id of the delivery that was accepted. */
    private static String received(OpenApiClient asking) throws Exception {
        JsonNode sample = StrictJson.parse(
                asking.about("", "").ask(200, "POST", HOOK + "/sample", "").body());
        String source = sample.path("path").asString().substring("/v1/webhooks/".length());
        asking.about("", source).ask(401, "POST", HOOK, "{}");
        for (Map.Entry<String, JsonNode> header : sample.path("headers").properties()) {
            if (!header.getKey().equals("Content-Type")) {
                asking.with(header.getKey(), header.getValue().asString());
            }
        }
        String body = sample.path("body").asString();
        String delivery = text(asking.ask(200, "POST", HOOK, body), "delivery_id");
        asking.ask(200, "POST", HOOK, body);
        return delivery;
    }

    private static String text(Reply reply, String member) {
        return StrictJson.parse(reply.body()).path(member).asString();
    }
}
