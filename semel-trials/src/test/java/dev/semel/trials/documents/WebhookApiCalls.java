package dev.semel.trials.documents;

import dev.semel.json.StrictJsonCodec;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/** Every route to webhooks, asked as the description says. */
final class WebhookApiCalls {
    private static final String HOOK = "/v1/webhooks/{name}";

    private WebhookApiCalls() {}

    static void ask(OpenApiClient client) throws Exception {
        String document = "{\"preset\":\"github\",\"signature_reuse\":\"reject\",\"secrets\":[\"one\"]}";
        client.about("", "").ask(200, "PUT", "/v1/secrets/{name}", "{\"value\":\"hunter22\"}");
        String path = text(client.ask(200, "PUT", HOOK, document), "path");
        client.ask(200, "PUT", HOOK + "?new_source=true", document);
        client.ask(400, "PUT", HOOK, "{}");
        client.ask(200, "GET", HOOK, "");
        client.ask(200, "GET", "/v1/webhooks?limit=1", "");
        client.about("", path.substring("/v1/webhooks/".length())).ask(404, "POST", HOOK, "{}");
        String body = received(client);
        client.about("", "").ask(200, "GET", HOOK + "/deliveries?limit=2", "");
        client.about(body, "").ask(200, "POST", HOOK + "/deliveries/{delivery_id}/reprocess", "");
        client.about("dlv_none", "").ask(404, "POST", HOOK + "/deliveries/{delivery_id}/reprocess", "");
        String verification = "/v1/webhooks/src_{name}?hub.mode=subscribe&hub.challenge=1&hub.verify_token=t";
        client.about("", "none").ask(404, "GET", verification, "");
        client.about("", "").ask(404, "GET", "/v1/unsubscribe/{token}", "");
        client.ask(404, "POST", "/v1/unsubscribe/{token}", "");
        client.about("", "").ask(200, "DELETE", HOOK, "");
        client.ask(404, "GET", HOOK, "");
    }

    /** The id of the delivery that was accepted. */
    private static String received(OpenApiClient client) throws Exception {
        JsonNode sample = StrictJsonCodec.parse(
                client.about("", "").ask(200, "POST", HOOK + "/sample", "").body());
        String source = sample.path("path").asString().substring("/v1/webhooks/".length());
        client.about("", source).ask(401, "POST", HOOK, "{}");
        for (Map.Entry<String, JsonNode> header : sample.path("headers").properties()) {
            if (!header.getKey().equals("Content-Type")) {
                client.with(header.getKey(), header.getValue().asString());
            }
        }
        String body = sample.path("body").asString();
        String delivery = text(client.ask(200, "POST", HOOK, body), "delivery_id");
        client.ask(200, "POST", HOOK, body);
        return delivery;
    }

    private static String text(Reply reply, String member) {
        return StrictJsonCodec.parse(reply.body()).path(member).asString();
    }
}
