package dev.semel.server.cli;

import dev.semel.server.demo.ProviderSimulator;
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
final class QaChecklist {
    private static final String SAME = "Same key and same payload returns the original result";
    private static final String CHANGED = "Same key and changed payload is rejected";
    private static final String TIMEOUT = "Network timeout followed by retry does not duplicate the action";
    private static final String RETRY = "Background job retry does not duplicate downstream side effects";
    private static final String EXPIRED = "Expired key behavior is documented";
    private static final String LOGS = "Logs identify duplicate prevention without exposing sensitive data";
    private static final String KEY = "qa-key-1";

    private final QaWorkflow subject;
    private final ProviderSimulator understudy;
    private final QaServer stage;
    private final List<ProviderSimulator.SimulatedProvider> cast;
    private final List<QaCheckResult> lines = new ArrayList<>();
    private int trials;

    /** @param log supplies the log of the scratch server so far */
    record QaServer(CommandEnvironment environment, String address, Supplier<String> log) {}

    QaChecklist(QaWorkflow subject, ProviderSimulator understudy, QaServer stage) {
        this.subject = subject.withMarkers();
        this.understudy = understudy;
        this.stage = stage;
        this.cast = QaProviderStubs.forWorkflow(subject);
    }

    List<QaCheckResult> runAll() {
        QaWorkspace plain = trial(null);
        ApiResponse first = plain.trigger(key(), subject.data());
        same(plain, first);
        Set<String> doers = understudy.stepsWithEffects();
        changed(plain, first);
        timeout();
        retry(doers);
        expired(plain);
        logs(plain);
        return lines;
    }

    private QaWorkspace trial(@Nullable String lose) {
        understudy.configure(cast, lose);
        trials++;
        return QaWorkspace.open(subject, stage.environment(), stage.address(), "qa" + trials);
    }

    /** Empty if the workflow derives its own key. */
    private String key() {
        return subject.workflow().derivesKey() ? "" : KEY;
    }

    private void same(QaWorkspace trial, ApiResponse first) {
        if (!first.isSuccess()) {
            lines.add(QaCheckResult.failed(SAME, rejected(first)));
            return;
        }
        String run = TerminalJson.text(first.body(), "run_id");
        JsonNode end = trial.awaitSettled(run);
        int effects = understudy.effectCounts().size();
        ApiResponse again = trial.trigger(key(), subject.data());
        trial.awaitSettled(run);
        boolean original = again.isSuccess()
                && TerminalJson.text(again.body(), "run_id").equals(run)
                && again.body().path("idempotent_replayed").booleanValue();
        boolean unchanged = understudy.effectCounts().size() == effects && twice().isEmpty();
        String seen = "the run " + describe(end) + "; " + count(effects, "effect") + " before the second request, "
                + count(understudy.effectCounts().size(), "effect") + " after it";
        if (TerminalJson.text(end, "status").equals("failed")) {
            lines.add(QaCheckResult.failed(SAME, seen + ". Provide what the steps need with --data and --answers."));
        } else if (original && unchanged) {
            lines.add(QaCheckResult.passed(SAME, "the second request returned run " + run + "; " + seen + "."));
        } else {
            lines.add(QaCheckResult.failed(SAME, "the second request did not return the original run; " + seen + "."));
        }
    }

    private static String rejected(ApiResponse answer) {
        return "the server rejected the trigger (" + answer.status() + " " + answer.code()
                + "), so no run was started. Provide data that fits the workflow with --data.";
    }

    /** Describes the status of a run. */
    private static String describe(JsonNode run) {
        String status = TerminalJson.text(run, "status");
        return switch (status) {
            case "failed" ->
                "failed in step " + TerminalJson.text(run.path("error"), "step") + " ("
                        + TerminalJson.text(run.path("error"), "code") + ")";
            case "waiting" ->
                "waits for " + TerminalJson.text(run.path("waiting_for").path(0), "kind") + " in step "
                        + TerminalJson.text(run.path("waiting_for").path(0), "step")
                        + ", and later steps were not tested";
            case "in_doubt" -> "is in doubt and waits for a decision";
            default -> "is " + status;
        };
    }

    private void changed(QaWorkspace trial, ApiResponse first) {
        JsonNode policy = trial.workflow().path("idempotency");
        String field = declared(policy);
        ObjectNode other = subject.data().deepCopy();
        String changing = field.isEmpty() ? "qa_note" : field;
        JsonNode value = other.path(changing);
        other.set(changing, value.isNumber() ? more(value) : other.stringNode("other"));
        // The key that the server echoed: a key derived from the data would change with the data.
        String key = first.headers().firstValue("Idempotency-Key").orElse(KEY);
        ApiResponse answer = trial.trigger(key, other);
        boolean named = RequestListCommand.changedFields(answer.body()).contains(changing);
        if (answer.status() == 422 && named) {
            lines.add(QaCheckResult.passed(
                    CHANGED,
                    "the request with another " + changing + " got 422, and the response names " + changing + "."));
        } else if (answer.status() == 422) {
            lines.add(QaCheckResult.failed(CHANGED, "it got 422, but the response does not name " + changing + "."));
        } else {
            boolean replayed = answer.body().path("idempotent_replayed").booleanValue();
            String got = replayed ? "got the original run, with a warning" : "started a new run";
            lines.add(QaCheckResult.failed(
                    CHANGED,
                    "the request with another " + changing + " " + got
                            + ". Declare the fields that define the action: idempotency: { fingerprint: […] }."));
        }
        if (first.isSuccess()) {
            trial.cancel(TerminalJson.text(first.body(), "run_id"));
        }
    }

    private static JsonNode more(JsonNode number) {
        return TerminalJson.parse(
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
        QaWorkspace trial = trial(null);
        trial.triggerAndDisconnect(key(), subject.data());
        ApiResponse retry = trial.trigger(key(), subject.data());
        if (!retry.isSuccess()) {
            lines.add(QaCheckResult.failed(TIMEOUT, rejected(retry)));
            return;
        }
        String run = TerminalJson.text(retry.body(), "run_id");
        JsonNode end = trial.awaitSettled(run);
        int runs = trial.runs().size();
        String seen = "the connection broke before the response and the request was sent again: " + count(runs, "run")
                + ", " + count(understudy.effectCounts().size(), "effect") + ", "
                + (twice().isEmpty() ? "none of them twice" : "twice: " + twice()) + "; the run " + describe(end) + ".";
        lines.add(new QaCheckResult(TIMEOUT, runs == 1 && twice().isEmpty(), seen));
        trial.cancel(run);
    }

    /** Tests each effect in its own workspace: its first response is lost after the effect happened. */
    private void retry(Set<String> doers) {
        List<String> seen = new ArrayList<>();
        boolean once = true;
        for (String step : doers) {
            QaWorkspace trial = trial(step);
            ApiResponse answer = trial.trigger(key(), subject.data());
            String run = TerminalJson.text(answer.body(), "run_id");
            JsonNode end = trial.awaitSettled(run);
            long calls = understudy.calls().stream()
                    .filter(call -> call.step().equals(step) && !call.method().equals("GET"))
                    .count();
            boolean doubled = !twice().isEmpty();
            once &= !doubled;
            seen.add(step + ": " + count((int) calls, "call") + ", "
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
        lines.add(new QaCheckResult(RETRY, once, evidence));
    }

    private void expired(QaWorkspace trial) {
        long seconds =
                trial.workflow().path("idempotency").path("window_seconds").asLong();
        String window = DurationText.format(Duration.ofSeconds(seconds));
        String after = " A later request with the same key starts a new run that names the previous one.";
        lines.add(QaCheckResult.passed(
                EXPIRED,
                subject.declaresWindow()
                        ? "the file declares a key window of " + window + "." + after
                        : "the file declares no key window, so the default of " + window
                                + " applies; to declare it write idempotency: { window: 24h }." + after));
    }

    private void logs(QaWorkspace trial) {
        // Rows of replayed requests are written with the next commit and logged after it.
        boolean named = trial.waitUntil(() -> stage.log().get().contains(" replayed ")
                && trial.requests().valueStream().anyMatch(QaChecklist::isReplayed));
        boolean hidden = !stage.log().get().contains(QaWorkflow.MARKER);
        String logged = named
                ? "the log and the list of requests name the replayed request"
                : "the log or the list of requests does not name the replayed request";
        String value = hidden
                ? ", and no log line contains a value of the payload."
                : ", and a log line contains a value of the payload.";
        lines.add(new QaCheckResult(LOGS, named && hidden, logged + value));
    }

    private static boolean isReplayed(JsonNode request) {
        return TerminalJson.text(request, "kind").equals("replayed");
    }

    /** Steps whose effect happened more than once. */
    private String twice() {
        return understudy.effectCounts().entrySet().stream()
                .filter(effect -> effect.getValue() > 1)
                .map(Map.Entry::getKey)
                .map(effect -> effect.substring(0, effect.indexOf('\n')))
                .distinct()
                .collect(Collectors.joining(", "));
    }

    private static String count(int number, String word) {
        return number + " " + word + (number == 1 ? "" : "s");
    }
}
