package dev.semel.trials.documents;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.semel.json.StrictJsonCodec;
import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.util.ArrayList;
import java.util.List;
import java.util.TreeSet;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;

/** Asks, and holds every answer against the description. */
final class OpenApiClient {
    private final HttpClient client;
    private final String url;
    private final OpenApi api;
    final List<String> faults = new ArrayList<>();
    final TreeSet<String> operations = new TreeSet<>();
    private List<String> headers = List.of();
    private String type = "application/json";
    private String token = "dev";
    private String workflow = "";
    private String delivery = "";
    private String source = "";
    private String eventId = "";
    private String reviewId = "rev_none";
    private String incidentId = "";

    OpenApiClient(HttpClient client, String url, OpenApi api) {
        this.client = client;
        this.url = url;
        this.api = api;
    }

    OpenApiClient named(String name) {
        workflow = name;
        return without();
    }

    /** Goes on with this delivery and, where it is not empty, to this source of webhooks instead of a name. */
    OpenApiClient about(String deliveryId, String src) {
        delivery = deliveryId;
        source = src;
        return without();
    }

    OpenApiClient without() {
        headers = List.of();
        return this;
    }

    OpenApiClient with(String name, String value) {
        headers = Stream.concat(headers.stream(), Stream.of(name, value)).toList();
        return this;
    }

    OpenApiClient typed(String mediaType) {
        type = mediaType;
        return this;
    }

    /** Which review is meant from now on. */
    OpenApiClient review(String id) {
        reviewId = id;
        return this;
    }

    /** Which incident is meant from now on. */
    OpenApiClient incident(String id) {
        incidentId = id;
        return this;
    }

    /** Which event is meant from now on. */
    OpenApiClient event(String id) {
        eventId = id;
        return this;
    }

    OpenApiClient token(String secret) {
        token = secret;
        return this;
    }

    Reply ask(int status, String method, String target, String body) throws Exception {
        String path = target.split("\\?")[0];
        String real = target.replace("{id}", workflow)
                .replace("{run_id}", "chosen-1")
                .replace("{key}", "evt_1")
                .replace("{delivery_id}", delivery)
                .replace("{token}", "none")
                .replace("{replay_id}", delivery)
                .replace("{name}", source.isEmpty() ? "one" : source)
                .replace("{event_id}", eventId)
                .replace("{review_id}", reviewId)
                .replace("{incident_id}", incidentId)
                .replace("{session_id}", "0123456789abcdef")
                .replace("{notification}", "lead.welcome")
                .replace("{profile}", "cus_1")
                .replace("{topic}", "email")
                .replace("{version}", "1")
                .replace("{page}", "idempotency")
                .replace("{version}", "1")
                .replace("{code}", "idempotency-key-conflict")
                .replace("{token_id}", target.contains("{token_id}") ? anyToken() : "");
        List<String> all = new ArrayList<>(headers);
        all.addAll(List.of("Authorization", "Bearer " + token));
        all.addAll(body.isEmpty() ? List.of() : List.of("Content-Type", type));
        HttpRequest.Builder request = HttpRequest.newBuilder(URI.create(url + real))
                .method(method, body.isEmpty() ? BodyPublishers.noBody() : BodyPublishers.ofString(body))
                .headers(all.toArray(String[]::new));
        Reply reply = Reply.to(client, request.build());
        assertEquals(status, reply.status(), method + " " + real + ": " + reply.body());
        api.faults(method, path, reply).forEach(fault -> faults.add(method + " " + real + ": " + fault));
        operations.add(method + " " + path);
        return reply;
    }

    void publish(String name, String policy) throws Exception {
        String file = "semel: 1\nworkflow: " + name + "\n" + policy + "steps: [{id: note, set: {ok: true}}]\n";
        named(name).typed("application/yaml");
        ask(200, "PUT", "/v1/workflows/{id}?dry_run=true", file);
        ask(200, "PUT", "/v1/workflows/{id}", file);
        typed("application/json");
    }

    String newToken(String body) throws Exception {
        token = "dev";
        return StrictJsonCodec.parse(ask(200, "POST", "/v1/tokens", body).body())
                .path("token")
                .asString();
    }

    private String anyToken() throws Exception {
        JsonNode tokens =
                StrictJsonCodec.parse(ask(200, "GET", "/v1/tokens", "").body());
        return tokens.path("items").get(0).path("token_id").asString();
    }

    List<String> missing() {
        return api.operations().stream()
                .map(one -> one.method() + " " + one.path())
                .filter(one -> !operations.contains(one))
                .toList();
    }
}
