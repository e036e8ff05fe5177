package dev.semel.server.cli;

import dev.semel.server.demo.Understudy;
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
final class QaLines {
    private static final String SAME = "Same key and same payload returns the original result";
    private static final String CHANGED = "Same key and changed payload is rejected";
    private static final String TIMEOUT = "Network timeout followed by retry does not duplicate the action";
    private static final String RETRY = "Background job retry does not duplicate downstream side effects";
    private static final String EXPIRED = "Expired key behavior is documented";
    private static final String LOGS = "Logs identify duplicate prevention without exposing sensitive data";
    private static final String KEY = "qa-key-1";

    private final QaSubject subject;
    private final Understudy understudy;
    private final Stage stage;
    private final List<Understudy.Role> cast;
    private final List<QaLine> lines = new ArrayList<>();
    private int trials;

    /** @param log supplies the log of the scratch server so far */
    record Stage(Surroundings environment, String address, Supplier<String> log) {}

    QaLines(QaSubject subject, Understudy understudy, Stage stage) {
        this.subject = subject.marked();
        this.understudy = understudy;
        this.stage = stage;
        this.cast = QaCast.of(subject);
    }

    List<QaLine> all() {
        QaTrial plain = trial(null);
        Answer first = plain.trigger(key(), subject.data());
        same(plain, first);
        Set<String> doers = understudy.doers();
        changed(plain, first);
        timeout();
        retry(doers);
        expired(plain);
        logs(plain);
        return lines;
    }

    private QaTrial trial(@Nullable String lose) {
        understudy.play(cast, lose);
        trials++;
        return QaTrial.open(subject, stage.environment(), stage.address(), "qa" + trials);
    }

    /** Empty if the workflow derives its own key. */
    private String key() {
        return subject.main().derivesKey() ? "" : KEY;
    }

    private void same(QaTrial trial, Answer first) {
        if (!first.ok()) {
            lines.add(QaLine.failed(SAME, rejected(first)));
            return;
        }
        String run = Json.text(first.body(), "run_id");
        JsonNode end = trial.settled(run);
        int effects = understudy.deeds().size();
        Answer again = trial.trigger(key(), subject.data());
        trial.settled(run);
        boolean original = again.ok()
                && Json.text(again.body(), "run_id").equals(run)
                && again.body().path("idempotent_replayed").booleanValue();
        boolean unchanged = understudy.deeds().size() == effects && twice().isEmpty();
        String seen = "the run " + describe(end) + "; " + count(effects, "effect") + " before the second request, "
                + count(understudy.deeds().size(), "effect") + " after it";
        if (Json.text(end, "status").equals("failed")) {
            lines.add(QaLine.failed(SAME, seen + ". Provide what the steps need with --data and --answers."));
        } else if (original && unchanged) {
            lines.add(QaLine.passed(SAME, "the second request returned run " + run + "; " + seen + "."));
        } else {
            lines.add(QaLine.failed(SAME, "the second request did not return the original run; " + seen + "."));
        }
    }

    private static String rejected(Answer answer) {
        return "the server rejected the trigger (" + answer.status() + " " + answer.code()
                + "), so no run was started. Provide data that fits the workflow with --data.";
    }

    /** Describes the status of a run. */
    private static String describe(JsonNode run) {
        String status = Json.text(run, "status");
        return switch (status) {
            case "failed" ->
                "failed in step " + Json.text(run.path("error"), "step") + " (" + Json.text(run.path("error"), "code")
                        + ")";
            case "waiting" ->
                "waits for " + Json.text(run.path("waiting_for").path(0), "kind") + " in step "
                        + Json.text(run.path("waiting_for").path(0), "step") + ", and later steps were not tested";
            case "in_doubt" -> "is in doubt and waits for a decision";
            default -> "is " + status;
        };
    }

    private void changed(QaTrial trial, Answer first) {
        JsonNode policy = trial.workflow().path("idempotency");
        String field = declared(policy);
        ObjectNode other = subject.data().deepCopy();
        String changing = field.isEmpty() ? "qa_note" : field;
        JsonNode value = other.path(changing);
        other.set(changing, value.isNumber() ? more(value) : other.stringNode("other"));
        // The key that the server echoed: a key derived from the data would change with the data.
        String key = first.headers().firstValue("Idempotency-Key").orElse(KEY);
        Answer answer = trial.trigger(key, other);
        boolean named = RequestsCommand.changed(answer.body()).contains(changing);
        if (answer.status() == 422 && named) {
            lines.add(QaLine.passed(
                    CHANGED, "the request with another " + changing + " got 422, and the response names " + changing + "."));
        } else if (answer.status() == 422) {
            lines.add(QaLine.failed(CHANGED, "it got 422, but the response does not name " + changing + "."));
        } else {
            boolean replayed = answer.body().path("idempotent_replayed").booleanValue();
            String got = replayed ? "got the original run, with a warning" : "started a new run";
            lines.add(QaLine.failed(
                    CHANGED,
                    "the request with another " + changing + " " + got
                            + ". Declare the fields that define the action: idempotency: { fingerprint: […] }."));
        }
        if (first.ok()) {
            trial.cancel(Json.text(first.body(), "run_id"));
        }
    }

    private static JsonNode more(JsonNode number) {
        return Json.parse(number.decimalValue().add(java.math.BigDecimal.ONE).toPlainString());
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
        QaTrial trial = trial(null);
        trial.hangUp(key(), subject.data());
        Answer retry = trial.trigger(key(), subject.data());
        if (!retry.ok()) {
            lines.add(QaLine.failed(TIMEOUT, rejected(retry)));
            return;
        }
        String run = Json.text(retry.body(), "run_id");
        JsonNode end = trial.settled(run);
        int runs = trial.runs().size();
        String seen = "the connection broke before the response and the request was sent again: " + count(runs, "run")
                + ", " + count(understudy.deeds().size(), "effect") + ", "
                + (twice().isEmpty() ? "none of them twice" : "twice: " + twice()) + "; the run " + describe(end) + ".";
        lines.add(new QaLine(TIMEOUT, runs == 1 && twice().isEmpty(), seen));
        trial.cancel(run);
    }

    /** Tests each effect in its own workspace: its first response is lost after the effect happened. */
    private void retry(Set<String> doers) {
        List<String> seen = new ArrayList<>();
        boolean once = true;
        for (String step : doers) {
            QaTrial trial = trial(step);
            Answer answer = trial.trigger(key(), subject.data());
            String run = Json.text(answer.body(), "run_id");
            JsonNode end = trial.settled(run);
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
                : "the first response of each effect was lost after the effect happened. " + String.join(". ", seen) + ".";
        lines.add(new QaLine(RETRY, once, evidence));
    }

    private void expired(QaTrial trial) {
        long seconds =
                trial.workflow().path("idempotency").path("window_seconds").asLong();
        String window = Times.span(Duration.ofSeconds(seconds));
        String after = " A later request with the same key starts a new run that names the previous one.";
        lines.add(QaLine.passed(
                EXPIRED,
                subject.statesWindow()
                        ? "the file declares a key window of " + window + "." + after
                        : "the file declares no key window, so the default of " + window
                                + " applies; to declare it write idempotency: { window: 24h }." + after));
    }

    private void logs(QaTrial trial) {
        // Rows of replayed requests are written with the next commit and logged after it.
        boolean named = trial.becomes(() -> stage.log().get().contains(" replayed ")
                && trial.requests().valueStream().anyMatch(QaLines::isReplayed));
        boolean hidden = !stage.log().get().contains(QaSubject.MARKER);
        String logged = named
                ? "the log and the list of requests name the replayed request"
                : "the log or the list of requests does not name the replayed request";
        String value = hidden
                ? ", and no log line contains a value of the payload."
                : ", and a log line contains a value of the payload.";
        lines.add(new QaLine(LOGS, named && hidden, logged + value));
    }

    private static boolean isReplayed(JsonNode request) {
        return Json.text(request, "kind").equals("replayed");
    }

    /** Steps whose effect happened more than once. */
    private String twice() {
        return understudy.deeds().entrySet().stream()
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
