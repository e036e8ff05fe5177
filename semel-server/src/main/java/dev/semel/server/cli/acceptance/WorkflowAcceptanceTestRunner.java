package dev.semel.server.cli.acceptance;

import dev.semel.server.cli.acceptance.WorkflowAcceptanceTestResult.Outcome;
import dev.semel.server.cli.command.CliApiResponse;
import dev.semel.server.cli.command.CliCommandEnvironment;
import dev.semel.server.cli.command.CliCommandOutput;
import dev.semel.server.cli.command.CliDurationFormatter;
import dev.semel.server.cli.command.TerminalJsonFormatter;
import dev.semel.server.cli.idempotency.DuplicateRequestListCommand;
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
    record QaServer(
            CliCommandEnvironment environment, String address, Supplier<String> log, AcceptanceTestServerClock clock) {}

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
        timeout();
        retry(doers);
        WorkflowAcceptanceTestResult logged = logs(plain);
        expired();
        lines.add(logged);
        return lines;
    }

    private void add(String title, boolean passed, String evidence) {
        add(title, Outcome.of(passed, true), evidence);
    }

    private void add(String title, Outcome outcome, String evidence) {
        lines.add(new WorkflowAcceptanceTestResult(title, outcome, evidence));
    }

    private WorkflowAcceptanceTestWorkspace trial(@Nullable String lose) {
        simulator.configure(cast, lose);
        trials++;
        return WorkflowAcceptanceTestWorkspace.open(subject, stage, "qa" + trials);
    }

    /** Empty if the workflow derives its own key. */
    private String key() {
        return subject.workflow().derivesKey() ? "" : KEY;
    }

    /**
     * The first two checks. If the run waits, both requests come during its first wait: afterwards the key may have
     * expired.
     */
    private void same(WorkflowAcceptanceTestWorkspace trial, CliApiResponse first) {
        if (!first.isSuccess()) {
            add(SAME, false, rejected(first));
            add(CHANGED, Outcome.NOT_TRIED, rejected(first));
            return;
        }
        Duration before = stage.clock().advanced();
        String run = TerminalJsonFormatter.text(first.body(), "run_id");
        JsonNode pause = trial.awaitPause(run);
        boolean original = isReplay(trial.trigger(key(), subject.data()), run);
        WorkflowAcceptanceTestResult changed = changed(trial, first);
        JsonNode end = WorkflowAcceptanceTestWorkspace.isSettled(pause) ? pause : trial.awaitSettled(run);
        int effects = simulator.effectCounts().size();
        if (stage.clock().advanced().minus(before).toSeconds() < window(trial)) {
            original &= isReplay(trial.trigger(key(), subject.data()), run);
        }
        trial.awaitSettled(run);
        boolean unchanged = simulator.effectCounts().size() == effects && twice().isEmpty();
        String seen = "the run " + describe(end) + "; " + CliCommandOutput.countOf(effects, "effect")
                + " before the last request, "
                + CliCommandOutput.countOf(simulator.effectCounts().size(), "effect") + " after it";
        boolean passed = original && unchanged;
        if (TerminalJsonFormatter.text(end, "status").equals("failed")) {
            add(SAME, false, seen + ". Provide what the steps need with --data and --answers.");
        } else {
            String got = passed ? "returned run " + run : "did not return the original run";
            add(
                    SAME,
                    Outcome.of(passed, WorkflowAcceptanceTestWorkspace.isSettled(end)),
                    "the second request " + got + "; " + seen + ".");
        }
        lines.add(changed);
        trial.cancel(run);
    }

    private static boolean isReplay(CliApiResponse again, String run) {
        return again.isSuccess()
                && TerminalJsonFormatter.text(again.body(), "run_id").equals(run)
                && again.body().path("idempotent_replayed").booleanValue();
    }

    /** The key window of the workflow in seconds. */
    private static long window(WorkflowAcceptanceTestWorkspace trial) {
        return trial.workflow().path("idempotency").path("window_seconds").asLong();
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

    private WorkflowAcceptanceTestResult changed(WorkflowAcceptanceTestWorkspace trial, CliApiResponse first) {
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
        String request = "the request with another " + changing + " got ";
        if (answer.status() == 422) {
            String names = named ? "422, and the response names " : "422, but the response does not name ";
            return new WorkflowAcceptanceTestResult(CHANGED, Outcome.of(named, true), request + names + changing + ".");
        }
        boolean replayed = answer.body().path("idempotent_replayed").booleanValue();
        String got = replayed ? "the original run, with a warning" : "a new run";
        return new WorkflowAcceptanceTestResult(
                CHANGED,
                Outcome.FAILED,
                request + got + ". Declare the fields that define the action: idempotency: { fingerprint: […] }.");
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
        String missed = unreached(simulator.stepsWithEffects());
        boolean tried = missed.isEmpty() && WorkflowAcceptanceTestWorkspace.isSettled(end);
        add(TIMEOUT, Outcome.of(runs == 1 && twice().isEmpty(), tried), (seen + " " + missed).strip());
        trial.cancel(run);
    }

    /** Tests each effect in its own workspace: its first response is lost after the effect happened. */
    private void retry(Set<String> doers) {
        List<String> seen = new ArrayList<>();
        boolean once = true;
        boolean settled = true;
        for (String step : doers) {
            WorkflowAcceptanceTestWorkspace trial = trial(step);
            CliApiResponse answer = trial.trigger(key(), subject.data());
            String run = TerminalJsonFormatter.text(answer.body(), "run_id");
            JsonNode end = trial.awaitSettled(run);
            settled &= WorkflowAcceptanceTestWorkspace.isSettled(end);
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
        String missed = unreached(doers);
        if (doers.isEmpty()) {
            boolean none = missed.isEmpty();
            add(
                    RETRY,
                    none ? Outcome.PASSED : Outcome.NOT_TRIED,
                    none ? "the workflow file declares no call of an external service." : missed);
            return;
        }
        String evidence = "the first response of each effect was lost after the effect happened. "
                + String.join(". ", seen) + ". " + missed;
        add(RETRY, Outcome.of(once, settled && missed.isEmpty()), evidence.strip());
    }

    /** Names the steps with an effect that the checks did not reach; empty if they reached all. */
    private String unreached(Set<String> reached) {
        Set<String> missing = subject.effectSteps();
        reached.forEach(steps -> missing.removeAll(List.of(steps.split(", "))));
        return missing.isEmpty()
                ? ""
                : "Not reached, so not tried: " + String.join(", ", missing) + ". Provide data with --data and stub"
                        + " responses with --answers that lead there.";
    }

    /** Moves the clock past the window of a key and sends the key again. */
    private void expired() {
        WorkflowAcceptanceTestWorkspace trial = trial(null);
        CliApiResponse first = trial.trigger(key(), subject.data());
        long seconds = window(trial);
        String window = CliDurationFormatter.format(Duration.ofSeconds(seconds));
        String documented = subject.declaresWindow()
                ? "the file declares a key window of " + window + "."
                : "the file declares no key window, so the default of " + window
                        + " applies; to declare it write idempotency: { window: 24h }.";
        if (!first.isSuccess()) {
            add(EXPIRED, Outcome.NOT_TRIED, documented + " But " + rejected(first));
            return;
        }
        String run = TerminalJsonFormatter.text(first.body(), "run_id");
        trial.cancel(run); // the key of an unfinished run does not expire
        trial.awaitSettled(run);
        stage.clock().advance(Duration.ofSeconds(seconds));
        boolean fresh = trial.waitUntil(() -> {
            CliApiResponse later = trial.trigger(key(), subject.data());
            return TerminalJsonFormatter.text(later.body(), "previous_run_id").equals(run);
        });
        add(
                EXPIRED,
                fresh,
                documented
                        + (fresh
                                ? " After it, a request with the same key started a new run that names the previous"
                                        + " run."
                                : " After it, a request with the same key started no new run."));
    }

    private WorkflowAcceptanceTestResult logs(WorkflowAcceptanceTestWorkspace trial) {
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
        return new WorkflowAcceptanceTestResult(LOGS, Outcome.of(named && hidden, true), logged + value);
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
