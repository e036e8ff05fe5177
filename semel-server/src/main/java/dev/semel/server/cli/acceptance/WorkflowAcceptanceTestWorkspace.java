package dev.semel.server.cli.acceptance;

import dev.semel.server.cli.command.CliApiClient;
import dev.semel.server.cli.command.CliApiRequest;
import dev.semel.server.cli.command.CliApiResponse;
import dev.semel.server.cli.command.CliCommandEnvironment;
import dev.semel.server.cli.command.CliCommandException;
import dev.semel.server.cli.command.CliNoServerResponseException;
import dev.semel.server.cli.command.ExitCode;
import dev.semel.server.cli.command.TerminalJsonFormatter;
import dev.semel.server.cli.trigger.CliRunCompletionPoller;
import dev.semel.server.files.definition.WorkflowDefinition;
import java.io.IOException;
import java.net.Socket;
import java.net.URI;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.time.Instant;
import java.util.HashSet;
import java.util.Set;
import java.util.function.BooleanSupplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** One per test, so that tests are independent. */
final class WorkflowAcceptanceTestWorkspace {
    private static final Duration PATIENCE = Duration.ofSeconds(30);
    private static final int MOST_ADVANCES = 200;
    private static final Duration BETWEEN_LOOKS = Duration.ofMillis(50);
    private static final String SCOPES = "[\"trigger\",\"read\",\"operate\",\"review\",\"admin\"]";
    /** Waits that end by themselves, or that the test ends. */
    private static final Set<String> ENDS_SOON =
            Set.of("signal", "approval", "child", "effect", "concurrency_limit", "worker");

    /** Waits that the test answers. If that does not end them, their timeout does. */
    private static final Set<String> ANSWERED = Set.of("signal", "approval");

    private final WorkflowUnderTest subject;
    private final CliCommandEnvironment environment;
    private final AcceptanceTestServerClock clock;
    private final String token;
    private final CliApiClient api;

    private WorkflowAcceptanceTestWorkspace(
            WorkflowUnderTest subject, WorkflowAcceptanceTestRunner.QaServer server, String token) {
        this.subject = subject;
        this.environment = server.environment();
        this.clock = server.clock();
        this.token = token;
        this.api = new CliApiClient(server.address(), token);
    }

    /** @param name name of an unused workspace */
    static WorkflowAcceptanceTestWorkspace open(
            WorkflowUnderTest subject, WorkflowAcceptanceTestRunner.QaServer server, String name) {
        String body = "{\"name\":\"qa\",\"workspace\":\"" + name + "\",\"scopes\":" + SCOPES + "}";
        CliApiResponse made = new CliApiClient(server.address(), "dev")
                .send(CliApiRequest.post("v1", "tokens").withJson(body));
        WorkflowAcceptanceTestWorkspace trial =
                new WorkflowAcceptanceTestWorkspace(subject, server, TerminalJsonFormatter.text(made.body(), "token"));
        trial.createSettings();
        return trial;
    }

    private void createSettings() {
        subject.secrets()
                .forEach(name ->
                        put("secrets", name, TerminalJsonFormatter.newObject().put("value", "scratch-" + name)));
        subject.cohorts()
                .forEach(name ->
                        put("cohorts", name, TerminalJsonFormatter.newObject().put("description", "made up")));
        subject.templates()
                .forEach(name -> put(
                        "templates",
                        name,
                        TerminalJsonFormatter.newObject()
                                .put("channel", "webhook")
                                .put("text", "A message.")));
        subject.channels().forEach((name, needs) -> {
            ObjectNode channel = TerminalJsonFormatter.newObject()
                    .put("kind", "webhook")
                    .put("url", WorkflowAcceptanceTestStubBuilder.CHANNEL_BASE_URL + name);
            if (needs.stream().anyMatch(need -> need.protection().equals("provider_key"))) {
                channel.putArray("honours").add("provider_key");
                channel.put("provider_window", "24h");
            }
            put("channels", name, channel);
        });
        subject.notifications().forEach(notification -> {
            ObjectNode route = TerminalJsonFormatter.newObject().put("notification", notification);
            ArrayNode legs = route.putArray("channels");
            legs.addObject().put("channel", "qa-notifications").put("template", "qa-notifications");
            put("routes", notification, route);
        });
        subject.definitions()
                .forEach(one -> api.send(
                        CliApiRequest.put("v1", "workflows", one.name()).withBody("application/yaml", one.text())));
        pauseSchedules();
    }

    /** Only the checks start runs: a tick of a schedule would call the stubs, too. */
    private void pauseSchedules() {
        for (WorkflowDefinition one : subject.definitions()) {
            for (String schedule : one.nextTimes(clock.now(), 1).keySet()) {
                api.send(CliApiRequest.post("v1", "workflows", one.name(), "schedules", schedule, "pause")
                        .withJson("{}"));
            }
        }
    }

    private void put(String plural, String name, JsonNode document) {
        api.send(CliApiRequest.put("v1", plural, name).withJson(document));
    }

    JsonNode workflow() {
        return api.send(CliApiRequest.get("v1", "workflows", name())).body();
    }

    JsonNode requests() {
        return api.send(CliApiRequest.get("v1", "requests")).body().path("items");
    }

    JsonNode runs() {
        return api.send(CliApiRequest.get("v1", "workflows", name(), "runs"))
                .body()
                .path("items");
    }

    private String name() {
        return subject.workflow().name();
    }

    /** @param key empty if the workflow derives its own */
    CliApiResponse trigger(String key, JsonNode data) {
        CliApiRequest call = triggerCall(data);
        return api.exchangeOrFail(key.isEmpty() ? call : call.withHeader("Idempotency-Key", key));
    }

    private CliApiRequest triggerCall(JsonNode data) {
        ObjectNode body = TerminalJsonFormatter.newObject();
        body.set("data", data);
        return CliApiRequest.post("v1", "workflows", name(), "trigger").withJson(body);
    }

    /** Sends a trigger and disconnects before a byte of the response arrives. */
    void triggerAndDisconnect(String key, JsonNode data) {
        URI server = URI.create(api.address());
        CliApiRequest call = triggerCall(data);
        byte[] body = call.body().getBytes(StandardCharsets.UTF_8);
        String head = "POST " + call.path() + " HTTP/1.1\r\nHost: "
                + server.getAuthority() + "\r\nAuthorization: Bearer " + token + "\r\nContent-Type: application/json"
                + (key.isEmpty() ? "" : "\r\nIdempotency-Key: " + key) + "\r\nContent-Length: " + body.length
                + "\r\n\r\n";
        try (Socket socket = new Socket(server.getHost(), server.getPort())) {
            socket.getOutputStream().write(head.getBytes(StandardCharsets.US_ASCII));
            socket.getOutputStream().write(body);
            socket.getOutputStream().flush();
        } catch (IOException e) {
            throw api.toUnreachableFailure(new CliNoServerResponseException(true, "the connection broke"));
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

    /** Polls until the run has settled, or waits for a time that is not soon. */
    JsonNode awaitPause(String run) {
        return await(run, 0);
    }

    /** Polls until the run has settled. Moves the clock past its waits. */
    JsonNode awaitSettled(String run) {
        return await(run, MOST_ADVANCES);
    }

    /** Whether the run has ended or is in doubt, so that it does nothing more by itself. */
    static boolean isSettled(JsonNode run) {
        String status = TerminalJsonFormatter.text(run, "status");
        return CliRunCompletionPoller.isEnded(status) || status.equals("in_doubt");
    }

    private JsonNode await(String run, int mostAdvances) {
        Set<String> handled = new HashSet<>();
        Instant end = environment.clock().instant().plus(PATIENCE);
        int advances = 0;
        JsonNode seen = look(run);
        while (!isSettled(seen) && environment.clock().instant().isBefore(end)) {
            Instant due = nextTime(run, seen, handled);
            if (due != null && due.isAfter(clock.now())) {
                if (advances++ == mostAdvances) {
                    return seen;
                }
                clock.advanceTo(due);
                end = environment.clock().instant().plus(PATIENCE);
            } else if (due == null && isStuck(seen)) {
                return seen;
            }
            pause();
            seen = look(run);
        }
        return seen;
    }

    /** Cancels a run, because an unfinished run could delay the next test. */
    void cancel(String run) {
        api.exchangeOrFail(
                CliApiRequest.post("v1", "runs", run, "cancel").withJson("{\"reason\":\"the test is over\"}"));
    }

    private JsonNode look(String run) {
        return api.send(CliApiRequest.get("v1", "runs", run)).body();
    }

    /**
     * Sends each signal and approves each approval once. Returns the earliest time at which another wait of the run or
     * of the child that it waits for ends; null if there is none.
     */
    private @Nullable Instant nextTime(String run, JsonNode seen, Set<String> handled) {
        Instant next = null;
        for (JsonNode one : seen.path("waiting_for")) {
            String kind = TerminalJsonFormatter.text(one, "kind");
            String name = run + " " + kind + " " + TerminalJsonFormatter.text(one, "name") + " "
                    + TerminalJsonFormatter.text(one, "step");
            String child = TerminalJsonFormatter.text(one, "run_id");
            Instant due = null;
            if (kind.equals("child") && !child.isEmpty() && handled.size() < MOST_ADVANCES) {
                due = nextTime(child, look(child), handled);
            } else if (ANSWERED.contains(kind) && handled.add(name)) {
                endWait(run, kind, one);
            } else if (!one.path("until").asString("").isEmpty()) {
                due = Instant.parse(one.path("until").asString());
            }
            next = next == null || (due != null && due.isBefore(next)) ? due : next;
        }
        return next;
    }

    private static boolean isStuck(JsonNode seen) {
        return Set.of("waiting", "held").contains(TerminalJsonFormatter.text(seen, "status"))
                && seen.path("waiting_for")
                        .valueStream()
                        .anyMatch(one -> !ENDS_SOON.contains(TerminalJsonFormatter.text(one, "kind")));
    }

    private void endWait(String run, String kind, JsonNode wait) {
        if (kind.equals("signal")) {
            api.send(signal(run, wait));
        } else if (kind.equals("approval")) {
            ObjectNode decision = TerminalJsonFormatter.newObject()
                    .put("step", TerminalJsonFormatter.text(wait, "step"))
                    .put("decision", "approve");
            api.send(CliApiRequest.post("v1", "runs", run, "decide").withJson(decision));
        }
    }

    private CliApiRequest signal(String run, JsonNode wait) {
        String name = TerminalJsonFormatter.text(wait, "name");
        JsonNode given =
                subject.answers().path(TerminalJsonFormatter.text(wait, "step")).path("body");
        ObjectNode body = TerminalJsonFormatter.newObject();
        body.set("data", given.isMissingNode() ? TerminalJsonFormatter.newObject() : given);
        String key = TerminalJsonFormatter.text(wait, "key");
        return key.isEmpty()
                ? CliApiRequest.post("v1", "runs", run, "signals", name).withJson(body)
                : CliApiRequest.post("v1", "signals", name).withJson(body.put("key", key));
    }

    private void pause() {
        environment.pause(
                BETWEEN_LOOKS,
                () -> CliCommandException.create(
                        ExitCode.FAILED,
                        "interrupted",
                        "The checklist was interrupted. The temporary server is stopped.",
                        "Run it again."));
    }
}
