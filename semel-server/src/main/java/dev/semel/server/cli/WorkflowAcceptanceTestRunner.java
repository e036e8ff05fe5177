package dev.semel.server.cli;

import dev.semel.server.demo.ExternalApiSimulator;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.function.Supplier;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Runs the six checks of the pre-production checklist against a scratch server and stub providers. */
final class WorkflowAcceptanceTestRunner {
    private static final String SAME = "Same key and same payload returns the original result";
    private static final String CHANGED = "Same key and changed payload is rejected";
    private static final String TIMEOUT = "Network timeout followed by retry does not duplicate the action";
    private static final String RETRY = "Background job retry does not duplicate downstream side effects";
    private static final String EXPIRED = "Expired key behavior is documented";
    private static final String LOGS = "Logs identify duplicate prevention without exposing sensitive data";
    private static final String KEY = "qa-key-1";

    private final WorkflowUnderTest subject;
    private final ExternalApiSimulator simulator;
    private final QaServer stage;
    private final List<ExternalApiSimulator.SimulatedProvider> cast;
    private final List<WorkflowAcceptanceTestResult> lines = new ArrayList<>();
    private int trials;

    /** @param log supplies the log of the scratch server so far */
    record QaServer(CliCommandEnvironment environment, String address, Supplier<String> log) {}

    WorkflowAcceptanceTestRunner(WorkflowUnderTest subject, ExternalApiSimulator simulator, QaServer stage) {
        this.subject = subject.withMarkers();
        this.simulator = simulator;
        this.stage = stage;
        this.cast = WorkflowAcceptanceTestStubBuilder.forWorkflow(subject);
    }

    List<WorkflowAcceptanceTestResult> runAll() {
        WorkflowAcceptanceTestWorkspace plain = trial(null);
        CliApiResponse first = plain.trigger(key(), subject.data());
        same(plain, first);
        Set<String> doers = simulator.stepsWithEffects();
        changed(plain, first);
        timeout();
        retry(doers);
        expired(plain);
        logs(plain);
        return lines;
    }

    private void add(String title, boolean passed, String evidence) {
        lines.add(new WorkflowAcceptanceTestResult(title, passed, evidence));
    }

    private WorkflowAcceptanceTestWorkspace trial(@Nullable String lose) {
        simulator.configure(cast, lose);
        trials++;
        return WorkflowAcceptanceTestWorkspace.open(subject, stage.environment(), stage.address(), "qa" + trials);
    }

    /** Empty if the workflow derives its own key. */
    private String key() {
        return subject.workflow().derivesKey() ? "" : KEY;
    }

    private void same(WorkflowAcceptanceTestWorkspace trial, CliApiResponse first) {
        if (!first.isSuccess()) {
            add(SAME, false, rejected(first));
            return;
        }
        String run = TerminalJsonFormatter.text(first.body(), "run_id");
        JsonNode end = trial.awaitSettled(run);
        int effects = simulator.effectCounts().size();
        CliApiResponse again = trial.trigger(key(), subject.data());
        trial.awaitSettled(run);
        boolean original = again.isSuccess()
                && TerminalJsonFormatter.text(again.body(), "run_id").equals(run)
                && again.body().path("idempotent_replayed").booleanValue();
        boolean unchanged = simulator.effectCounts().size() == effects && twice().isEmpty();
        String seen = "the run " + describe(end) + "; " + CliCommandOutput.countOf(effects, "effect")
                + " before the second request, "
                + CliCommandOutput.countOf(simulator.effectCounts().size(), "effect") + " after it";
        boolean passed = original && unchanged;
        if (TerminalJsonFormatter.text(end, "status").equals("failed")) {
            add(SAME, false, seen + ". Provide what the steps need with --data and --answers.");
        } else {
            String got = passed ? "returned run " + run : "did not return the original run";
            add(SAME, passed, "the second request " + got + "; " + seen + ".");
        }
    }

    private static String rejected(CliApiResponse answer) {
        return "the server rejected the trigger (" + answer.status() + " " + answer.code()
                + "), so no run was started. Provide data that fits the workflow with --data.";
    }

    private static String describe(JsonNode run) {
        String status = TerminalJsonFormatter.text(run, "status");
        return switch (status) {
            case "failed" ->
                "failed in step " + TerminalJsonFormatter.text(run.path("error"), "step") + " ("
                        + TerminalJsonFormatter.text(run.path("error"), "code") + ")";
            case "waiting" ->
                "waits for "
                        + TerminalJsonFormatter.text(run.path("waiting_for").path(0), "kind") + " in step "
                        + TerminalJsonFormatter.text(run.path("waiting_for").path(0), "step")
                        + ", and later steps were not tested";
            case "in_doubt" -> "is in doubt and waits for a decision";
            default -> "is " + status;
        };
    }

    private void changed(WorkflowAcceptanceTestWorkspace trial, CliApiResponse first) {
        JsonNode policy = trial.workflow().path("idempotency");
        String field = declared(policy);
        ObjectNode other = subject.data().deepCopy();
        String changing = field.isEmpty() ? "qa_note" : field;
        JsonNode value = other.path(changing);
        other.set(changing, value.isNumber() ? more(value) : other.stringNode("other"));
        // The key that the server echoed: a key derived from the data would change with the data.
        String key = first.headers().firstValue("Idempotency-Key").orElse(KEY);
        CliApiResponse answer = trial.trigger(key, other);
        boolean named = DuplicateRequestListCommand.changedFields(answer.body()).contains(changing);
        if (answer.status() == 422 && named) {
            add(
                    CHANGED,
                    true,
                    "the request with another " + changing + " got 422, and the response names " + changing + ".");
        } else if (answer.status() == 422) {
            add(
                    CHANGED,
                    false,
                    "the request with another " + changing + " got 422, but the response does not name " + changing
                            + ".");
        } else {
            boolean replayed = answer.body().path("idempotent_replayed").booleanValue();
            String got = replayed ? "got the original run, with a warning" : "started a new run";
            add(
                    CHANGED,
                    false,
                    "the request with another " + changing + " " + got
                            + ". Declare the fields that define the action: idempotency: { fingerprint: […] }.");
        }
        if (first.isSuccess()) {
            trial.cancel(TerminalJsonFormatter.text(first.body(), "run_id"));
        }
    }

    private static JsonNode more(JsonNode number) {
        return TerminalJsonFormatter.parse(
                number.decimalValue().add(java.math.BigDecimal.ONE).toPlainString());
    }

    /** A declared fingerprint field at the top level of the data; empty if there is none. */
    private String declared(JsonNode policy) {
        for (JsonNode name : policy.path("fingerprint")) {
            if (subject.data().has(name.asString(""))) {
                return name.asString("");
            }
        }
        return "";
    }

    private void timeout() {
        WorkflowAcceptanceTestWorkspace trial = trial(null);
        trial.triggerAndDisconnect(key(), subject.data());
        CliApiResponse retry = trial.trigger(key(), subject.data());
        if (!retry.isSuccess()) {
            add(TIMEOUT, false, rejected(retry));
            return;
        }
        String run = TerminalJsonFormatter.text(retry.body(), "run_id");
        JsonNode end = trial.awaitSettled(run);
        int runs = trial.runs().size();
        String seen = "the connection broke before the response and the request was sent again: "
                + CliCommandOutput.countOf(runs, "run")
                + ", " + CliCommandOutput.countOf(simulator.effectCounts().size(), "effect") + ", "
                + (twice().isEmpty() ? "none of them twice" : "twice: " + twice()) + "; the run " + describe(end) + ".";
        add(TIMEOUT, runs == 1 && twice().isEmpty(), seen);
        trial.cancel(run);
    }

    /** Tests each effect in its own workspace: its first response is lost after the effect happened. */
    private void retry(Set<String> doers) {
        List<String> seen = new ArrayList<>();
        boolean once = true;
        for (String step : doers) {
            WorkflowAcceptanceTestWorkspace trial = trial(step);
            CliApiResponse answer = trial.trigger(key(), subject.data());
            String run = TerminalJsonFormatter.text(answer.body(), "run_id");
            JsonNode end = trial.awaitSettled(run);
            long calls = simulator.calls().stream()
                    .filter(call -> call.step().equals(step) && !call.method().equals("GET"))
                    .count();
            boolean doubled = !twice().isEmpty();
            once &= !doubled;
            seen.add(step + ": " + CliCommandOutput.countOf(calls, "call") + ", "
                    + (doubled
                            ? "done twice, because it is sent again without a key that the receiver checks"
                            : "done once")
                    + "; the run " + describe(end));
            trial.cancel(run);
        }
        String evidence = seen.isEmpty()
                ? "the workflow called no external service."
                : "the first response of each effect was lost after the effect happened. " + String.join(". ", seen)
                        + ".";
        add(RETRY, once, evidence);
    }

    private void expired(WorkflowAcceptanceTestWorkspace trial) {
        long seconds =
                trial.workflow().path("idempotency").path("window_seconds").asLong();
        String window = CliDurationFormatter.format(Duration.ofSeconds(seconds));
        String after = " A later request with the same key starts a new run that names the previous run.";
        add(
                EXPIRED,
                true,
                subject.declaresWindow()
                        ? "the file declares a key window of " + window + "." + after
                        : "the file declares no key window, so the default of " + window
                                + " applies; to declare it write idempotency: { window: 24h }." + after);
    }

    private void logs(WorkflowAcceptanceTestWorkspace trial) {
        // Rows of replayed requests are written with the next commit and logged after it.
        boolean named = trial.waitUntil(() -> stage.log().get().contains(" replayed ")
                && trial.requests().valueStream().anyMatch(WorkflowAcceptanceTestRunner::isReplayed));
        boolean hidden = !stage.log().get().contains(WorkflowUnderTest.MARKER);
        String logged = named
                ? "the log and the list of requests name the replayed request"
                : "the log or the list of requests does not name the replayed request";
        String value = hidden
                ? ", and no log line contains a value of the payload."
                : ", and a log line contains a value of the payload.";
        add(LOGS, named && hidden, logged + value);
    }

    private static boolean isReplayed(JsonNode request) {
        return TerminalJsonFormatter.text(request, "kind").equals("replayed");
    }

    /** Steps whose effect happened more than once. */
    private String twice() {
        return simulator.effectCounts().entrySet().stream()
                .filter(effect -> effect.getValue() > 1)
                .map(Map.Entry::getKey)
                .map(effect -> effect.substring(0, effect.indexOf('\n')))
                .distinct()
                .collect(Collectors.joining(", "));
    }
}
