package dev.semel.server.cli;

import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.Set;
import java.util.function.BooleanSupplier;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * A scratch workspace of `semel qa` with a workflow and all settings that it needs. One per test, so that tests are
 * independent.
 */
final class QaTrial {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Duration BETWEEN_LOOKS = Duration.ofMillis(50);
    private static final String SCOPES = "[\"trigger\",\"read\",\"operate\",\"review\",\"admin\"]";
    /** Waits that end by themselves, or that the test ends. */
    private static final Set<String> ENDS_SOON = Set.of("signal", "approval", "child", "effect", "place", "worker");

    private static final String JSON = "application/json";

    private final QaSubject subject;
    private final Surroundings environment;
    private final String token;
    private final Api api;

    private QaTrial(QaSubject subject, Surroundings environment, String address, String token) {
        this.subject = subject;
        this.environment = environment;
        this.token = token;
        this.api = new Api(address, token);
    }

    /** @param name name of an unused workspace */
    static QaTrial open(QaSubject subject, Surroundings environment, String address, String name) {
        String body = "{\"name\":\"qa\",\"workspace\":\"" + name + "\",\"scopes\":" + SCOPES + "}";
        Answer made = new Api(address, "dev").ask(Call.post(Call.path("v1", "tokens"), body));
        QaTrial trial = new QaTrial(subject, environment, address, Json.text(made.body(), "token"));
        trial.createSettings();
        return trial;
    }

    private void createSettings() {
        subject.secrets().forEach(name -> put("secrets", name, Json.object().put("value", "scratch-" + name)));
        subject.cohorts().forEach(name -> put("cohorts", name, Json.object().put("description", "made up")));
        subject.templates()
                .forEach(name -> put(
                        "templates",
                        name,
                        Json.object().put("channel", "webhook").put("text", "A message.")));
        subject.channels().forEach((name, needs) -> {
            ObjectNode channel = Json.object().put("kind", "webhook").put("url", QaCast.CHANNELS + name);
            if (needs.stream().anyMatch(need -> need.protection().equals("provider_key"))) {
                channel.putArray("honours").add("provider_key");
                channel.put("provider_window", "24h");
            }
            put("channels", name, channel);
        });
        subject.events().forEach(event -> {
            ObjectNode route = Json.object().put("event", event);
            ArrayNode legs = route.putArray("channels");
            legs.addObject().put("channel", "qa-events").put("template", "qa-events");
            put("routes", event, route);
        });
        subject.all()
                .forEach(one ->
                        api.ask(Call.put(Call.path("v1", "workflows", one.name()), "application/yaml", one.text())));
    }

    private void put(String plural, String name, JsonNode document) {
        api.ask(Call.put(Call.path("v1", plural, name), JSON, Json.compact(document)));
    }

    JsonNode workflow() {
        return api.ask(Call.get(Call.path("v1", "workflows", name()))).body();
    }

    JsonNode requests() {
        return api.ask(Call.get(Call.path("v1", "requests"))).body().path("items");
    }

    JsonNode runs() {
        return api.ask(Call.get(Call.path("v1", "workflows", name(), "runs")))
                .body()
                .path("items");
    }

    private String name() {
        return subject.main().name();
    }

    /** @param key empty if the workflow derives its own */
    Answer trigger(String key, JsonNode data) {
        Call call = Call.post(Call.path("v1", "workflows", name(), "trigger"), body(data));
        try {
            return api.exchange(key.isEmpty() ? call : call.with("Idempotency-Key", key));
        } catch (NoAnswer none) {
            throw api.unreachable(none);
        }
    }

    private static String body(JsonNode data) {
        ObjectNode body = Json.object();
        body.set("data", data);
        return Json.compact(body);
    }

    /** Sends a trigger and disconnects before a byte of the response arrives. */
    void hangUp(String key, JsonNode data) {
        URI server = URI.create(api.address());
        byte[] body = body(data).getBytes(StandardCharsets.UTF_8);
        String head = "POST " + Call.path("v1", "workflows", name(), "trigger") + " HTTP/1.1\r\nHost: "
                + server.getAuthority() + "\r\nAuthorization: Bearer " + token + "\r\nContent-Type: " + JSON
                + (key.isEmpty() ? "" : "\r\nIdempotency-Key: " + key) + "\r\nContent-Length: " + body.length
                + "\r\n\r\n";
        try (Socket socket = new Socket(server.getHost(), server.getPort())) {
            socket.getOutputStream().write(head.getBytes(StandardCharsets.US_ASCII));
            socket.getOutputStream().write(body);
            socket.getOutputStream().flush();
        } catch (IOException e) {
            throw api.unreachable(new NoAnswer(true, "the connection broke"));
        }
        becomes(() -> !runs().isEmpty());
    }

    /** Polls until the condition holds; false if it does not in time. */
    boolean becomes(BooleanSupplier condition) {
        Instant end = environment.clock().instant().plus(PATIENCE);
        while (!condition.getAsBoolean()) {
            if (environment.clock().instant().isAfter(end)) {
                return false;
            }
            pause();
        }
        return true;
    }

    /** Polls until the run has ended, is in doubt, or waits for something that does not happen soon by itself. */
    JsonNode settled(String run) {
        Set<String> handled = new HashSet<>();
        Instant end = environment.clock().instant().plus(PATIENCE);
        JsonNode seen = look(run);
        while (!Waiting.ended(Json.text(seen, "status"))
                && !Json.text(seen, "status").equals("in_doubt")
                && !isStuck(run, seen, handled)
                && environment.clock().instant().isBefore(end)) {
            pause();
            seen = look(run);
        }
        return seen;
    }

    /** Cancels a run, because an unfinished run could delay the next test. */
    void cancel(String run) {
        try {
            api.exchange(Call.post(Call.path("v1", "runs", run, "cancel"), "{\"reason\":\"the test is over\"}"));
        } catch (NoAnswer none) {
            throw api.unreachable(none);
        }
    }

    private JsonNode look(String run) {
        return api.ask(Call.get(Call.path("v1", "runs", run))).body();
    }

    /**
     * True if the run waits for something that does not happen by itself. Sends each signal and approves each approval
     * once.
     */
    private boolean isStuck(String run, JsonNode seen, Set<String> handled) {
        boolean stuck = false;
        for (JsonNode one : seen.path("waiting_for")) {
            String kind = Json.text(one, "kind");
            stuck |= !ENDS_SOON.contains(kind);
            if (handled.add(kind + " " + Json.text(one, "name") + " " + Json.text(one, "step"))) {
                endWait(run, kind, one);
            }
        }
        return stuck && Json.text(seen, "status").equals("waiting");
    }

    private void endWait(String run, String kind, JsonNode wait) {
        if (kind.equals("signal")) {
            api.ask(signal(run, wait));
        } else if (kind.equals("approval")) {
            ObjectNode decision =
                    Json.object().put("step", Json.text(wait, "step")).put("decision", "approve");
            api.ask(Call.post(Call.path("v1", "runs", run, "decide"), Json.compact(decision)));
        }
    }

    private Call signal(String run, JsonNode wait) {
        String name = Json.text(wait, "name");
        JsonNode given = subject.answers().path(Json.text(wait, "step")).path("body");
        ObjectNode body = Json.object();
        body.set("data", given.isMissingNode() ? Json.object() : given);
        String key = Json.text(wait, "key");
        return key.isEmpty()
                ? Call.post(Call.path("v1", "runs", run, "signals", name), Json.compact(body))
                : Call.post(Call.path("v1", "signals", name), Json.compact(body.put("key", key)));
    }

    private void pause() {
        try {
            environment.pause().of(BETWEEN_LOOKS);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw Failure.here(Exit.FAILED, "interrupted", "The checklist was interrupted. The scratch server is stopped.", "Run it again.");
        }
    }
}
