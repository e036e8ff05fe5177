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
final class QaWorkspace {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final Duration BETWEEN_LOOKS = Duration.ofMillis(50);
    private static final String SCOPES = "[\"trigger\",\"read\",\"operate\",\"review\",\"admin\"]";
    /** Waits that end by themselves, or that the test ends. */
    private static final Set<String> ENDS_SOON =
            Set.of("signal", "approval", "child", "effect", "concurrency_limit", "worker");

    private static final String JSON = "application/json";

    private final QaWorkflow subject;
    private final CommandEnvironment environment;
    private final String token;
    private final ApiClient api;

    private QaWorkspace(QaWorkflow subject, CommandEnvironment environment, String address, String token) {
        this.subject = subject;
        this.environment = environment;
        this.token = token;
        this.api = new ApiClient(address, token);
    }

    /** @param name name of an unused workspace */
    static QaWorkspace open(QaWorkflow subject, CommandEnvironment environment, String address, String name) {
        String body = "{\"name\":\"qa\",\"workspace\":\"" + name + "\",\"scopes\":" + SCOPES + "}";
        ApiResponse made = new ApiClient(address, "dev").send(ApiRequest.post(ApiRequest.path("v1", "tokens"), body));
        QaWorkspace trial = new QaWorkspace(subject, environment, address, TerminalJson.text(made.body(), "token"));
        trial.createSettings();
        return trial;
    }

    private void createSettings() {
        subject.secrets()
                .forEach(name -> put("secrets", name, TerminalJson.newObject().put("value", "scratch-" + name)));
        subject.cohorts()
                .forEach(name -> put("cohorts", name, TerminalJson.newObject().put("description", "made up")));
        subject.templates()
                .forEach(name -> put(
                        "templates",
                        name,
                        TerminalJson.newObject().put("channel", "webhook").put("text", "A message.")));
        subject.channels().forEach((name, needs) -> {
            ObjectNode channel =
                    TerminalJson.newObject().put("kind", "webhook").put("url", QaProviderStubs.CHANNEL_BASE_URL + name);
            if (needs.stream().anyMatch(need -> need.protection().equals("provider_key"))) {
                channel.putArray("honours").add("provider_key");
                channel.put("provider_window", "24h");
            }
            put("channels", name, channel);
        });
        subject.events().forEach(event -> {
            ObjectNode route = TerminalJson.newObject().put("event", event);
            ArrayNode legs = route.putArray("channels");
            legs.addObject().put("channel", "qa-events").put("template", "qa-events");
            put("routes", event, route);
        });
        subject.definitions()
                .forEach(one -> api.send(ApiRequest.put(
                        ApiRequest.path("v1", "workflows", one.name()), "application/yaml", one.text())));
    }

    private void put(String plural, String name, JsonNode document) {
        api.send(ApiRequest.put(ApiRequest.path("v1", plural, name), JSON, TerminalJson.compact(document)));
    }

    JsonNode workflow() {
        return api.send(ApiRequest.get(ApiRequest.path("v1", "workflows", name())))
                .body();
    }

    JsonNode requests() {
        return api.send(ApiRequest.get(ApiRequest.path("v1", "requests")))
                .body()
                .path("items");
    }

    JsonNode runs() {
        return api.send(ApiRequest.get(ApiRequest.path("v1", "workflows", name(), "runs")))
                .body()
                .path("items");
    }

    private String name() {
        return subject.workflow().name();
    }

    /** @param key empty if the workflow derives its own */
    ApiResponse trigger(String key, JsonNode data) {
        ApiRequest call = ApiRequest.post(ApiRequest.path("v1", "workflows", name(), "trigger"), body(data));
        try {
            return api.exchange(key.isEmpty() ? call : call.withHeader("Idempotency-Key", key));
        } catch (NoResponseException none) {
            throw api.toUnreachableFailure(none);
        }
    }

    private static String body(JsonNode data) {
        ObjectNode body = TerminalJson.newObject();
        body.set("data", data);
        return TerminalJson.compact(body);
    }

    /** Sends a trigger and disconnects before a byte of the response arrives. */
    void triggerAndDisconnect(String key, JsonNode data) {
        URI server = URI.create(api.address());
        byte[] body = body(data).getBytes(StandardCharsets.UTF_8);
        String head = "POST " + ApiRequest.path("v1", "workflows", name(), "trigger") + " HTTP/1.1\r\nHost: "
                + server.getAuthority() + "\r\nAuthorization: Bearer " + token + "\r\nContent-Type: " + JSON
                + (key.isEmpty() ? "" : "\r\nIdempotency-Key: " + key) + "\r\nContent-Length: " + body.length
                + "\r\n\r\n";
        try (Socket socket = new Socket(server.getHost(), server.getPort())) {
            socket.getOutputStream().write(head.getBytes(StandardCharsets.US_ASCII));
            socket.getOutputStream().write(body);
            socket.getOutputStream().flush();
        } catch (IOException e) {
            throw api.toUnreachableFailure(new NoResponseException(true, "the connection broke"));
        }
        waitUntil(() -> !runs().isEmpty());
    }

    /** Polls until the condition holds; false if it does not in time. */
    boolean waitUntil(BooleanSupplier condition) {
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
    JsonNode awaitSettled(String run) {
        Set<String> handled = new HashSet<>();
        Instant end = environment.clock().instant().plus(PATIENCE);
        JsonNode seen = look(run);
        while (!RunWaiter.isEnded(TerminalJson.text(seen, "status"))
                && !TerminalJson.text(seen, "status").equals("in_doubt")
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
            api.exchange(
                    ApiRequest.post(ApiRequest.path("v1", "runs", run, "cancel"), "{\"reason\":\"the test is over\"}"));
        } catch (NoResponseException none) {
            throw api.toUnreachableFailure(none);
        }
    }

    private JsonNode look(String run) {
        return api.send(ApiRequest.get(ApiRequest.path("v1", "runs", run))).body();
    }

    /**
     * True if the run waits for something that does not happen by itself. Sends each signal and approves each approval
     * once.
     */
    private boolean isStuck(String run, JsonNode seen, Set<String> handled) {
        boolean stuck = false;
        for (JsonNode one : seen.path("waiting_for")) {
            String kind = TerminalJson.text(one, "kind");
            stuck |= !ENDS_SOON.contains(kind);
            if (handled.add(kind + " " + TerminalJson.text(one, "name") + " " + TerminalJson.text(one, "step"))) {
                endWait(run, kind, one);
            }
        }
        return stuck && Set.of("waiting", "held").contains(TerminalJson.text(seen, "status"));
    }

    private void endWait(String run, String kind, JsonNode wait) {
        if (kind.equals("signal")) {
            api.send(signal(run, wait));
        } else if (kind.equals("approval")) {
            ObjectNode decision = TerminalJson.newObject()
                    .put("step", TerminalJson.text(wait, "step"))
                    .put("decision", "approve");
            api.send(ApiRequest.post(ApiRequest.path("v1", "runs", run, "decide"), TerminalJson.compact(decision)));
        }
    }

    private ApiRequest signal(String run, JsonNode wait) {
        String name = TerminalJson.text(wait, "name");
        JsonNode given = subject.answers().path(TerminalJson.text(wait, "step")).path("body");
        ObjectNode body = TerminalJson.newObject();
        body.set("data", given.isMissingNode() ? TerminalJson.newObject() : given);
        String key = TerminalJson.text(wait, "key");
        return key.isEmpty()
                ? ApiRequest.post(ApiRequest.path("v1", "runs", run, "signals", name), TerminalJson.compact(body))
                : ApiRequest.post(
                        ApiRequest.path("v1", "signals", name), TerminalJson.compact(body.put("key", key)));
    }

    private void pause() {
        try {
            environment.sleeper().sleep(BETWEEN_LOOKS);
        } catch (InterruptedException interrupted) {
            Thread.currentThread().interrupt();
            throw CommandFailure.create(
                    ExitCode.FAILED,
                    "interrupted",
                    "The checklist was interrupted. The scratch server is stopped.",
                    "Run it again.");
        }
    }
}
