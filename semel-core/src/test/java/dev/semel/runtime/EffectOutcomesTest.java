package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.RunStatus;
import dev.semel.effect.EffectLedger;
import dev.semel.engine.ClockAndRandomSource;
import dev.semel.error.EffectInDoubt;
import dev.semel.error.HttpStatusException;
import dev.semel.error.JsonConversionFailed;
import dev.semel.error.RequestRejected;
import dev.semel.error.StepFailed;
import dev.semel.json.StrictJsonCodec;
import dev.semel.run.RunId;
import dev.semel.store.Await;
import dev.semel.workflow.Context;
import dev.semel.workflow.EffectBuilder;
import dev.semel.workflow.EffectOutcome;
import dev.semel.workflow.Retry;
import dev.semel.workflow.Step;
import dev.semel.workflow.Workflow;
import java.io.IOException;
import java.net.ConnectException;
import java.net.SocketTimeoutException;
import java.net.UnknownHostException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import tools.jackson.databind.JsonNode;

/** What a failure means, reported apart for each protection: requests, and how it ends. Nobody guesses. */
final class EffectOutcomesTest extends SqliteTestBase {
    private static final Duration REMEMBERED = Duration.ofHours(24);

    private final ManualClock clock = ManualClock.startingNow();
    private final AtomicInteger requests = new AtomicInteger();
    private final AtomicInteger looks = new AtomicInteger();

    @Override
    protected ClockAndRandomSource ambient() {
        return clock.ambient();
    }

    /** The letters of a script: what each request meets. */
    private String answer(String script) throws IOException {
        int n = requests.getAndIncrement();
        switch (script.charAt(Math.min(n, script.length() - 1))) {
            case 'r' -> throw new ConnectException("refused");
            case 'd' -> throw new UnknownHostException("no such host");
            case 'w' -> throw new IOException("Too many retries", new ConnectException("refused"));
            case 'q' -> throw new HttpStatusException(429, StrictJsonCodec.parse("{}"), Duration.ZERO);
            case 't' -> throw new SocketTimeoutException("no answer");
            case '5' -> throw new HttpStatusException(500, StrictJsonCodec.parse("{}"), null);
            case 'x' -> throw new HttpStatusException(500, StrictJsonCodec.parse("{}"), null, true);
            case '4' -> throw new HttpStatusException(400, StrictJsonCodec.parse("{}"), null);
            case 'u' -> throw new HttpStatusException(401, StrictJsonCodec.parse("{}"), null);
            case 'm' -> throw new JsonConversionFailed("the user's own code could not write the request", "correct it");
            case 'n' -> throw new RequestRejected("no");
            default -> {
                return "done";
            }
        }
    }

    private EffectOutcome<String> outcome(Context ctx, String protection, Step.StepFunction<String> work) {
        EffectBuilder effect =
                ctx.effect("send").retry(Retry.exponential(Duration.ofMillis(1)).upTo(3));
        return switch (protection) {
            case "repeatable" -> new EffectOutcome.Done<>(effect.repeatable("t").call(String.class, work));
            case "provider" ->
                new EffectOutcome.Done<>(effect.providerHonoursKey(REMEMBERED).call(String.class, work));
            case "lookup" ->
                new EffectOutcome.Done<>(effect.lookup(String.class, _ -> {
                            looks.incrementAndGet();
                            return null;
                        })
                        .call(work));
            case "found" ->
                new EffectOutcome.Done<>(
                        effect.lookup(String.class, _ -> "found").call(work));
            case "ask" -> new EffectOutcome.Done<>(effect.askOnDoubt("ops").call(String.class, work));
            default -> effect.atMostOnce().call(String.class, work);
        };
    }

    private String ends(RunHandle<String> run) {
        Await.until("it ends or is in doubt", () -> {
            clock.advance(Duration.ofSeconds(1)); // for retries and the quiet moment before a second look
            return run.status() == RunStatus.IN_DOUBT || run.status().hasEnded();
        });
        try {
            return run.result(SOON);
        } catch (StepFailed e) {
            return e.reason().equals("outcome-unknown") ? "unknown" : "failed";
        } catch (EffectInDoubt e) {
            return "doubt";
        }
    }

    @ParameterizedTest
    @CsvSource({
        // refused connections, unknown hosts and 429 were not sent: tried again under every protection
        "repeatable, rd., 3, done",
        "provider, rd., 3, done",
        "lookup, rd., 3, done",
        "ask, rd., 3, done",
        "at_most_once, rd., 3, done",
        "at_most_once, wq., 3, done",
        "ask, r, 3, failed",
        "at_most_once, r, 3, failed",
        "provider, r, 3, failed",
        // an answer that never came: each protection does what it says
        "repeatable, t., 2, done",
        "repeatable, t, 3, failed",
        "provider, t., 2, done",
        "provider, t, 3, unknown",
        "lookup, t., 2, done",
        "lookup, t, 3, failed",
        "found, t, 1, found",
        "ask, t, 1, doubt",
        "at_most_once, t, 1, nobody knows",
        "at_most_once, 5, 1, nobody knows",
        "ask, 5, 1, doubt",
        // code that cannot write what it sends, or read what came back, says nothing of whether it was done
        "provider, m., 2, done",
        "ask, m, 1, doubt",
        "at_most_once, m, 1, nobody knows",
        "repeatable, m, 3, failed",
        // a refusal is final and nothing was done
        "repeatable, 4, 1, failed",
        "provider, 4, 1, failed",
        "lookup, 4, 1, failed",
        "ask, n, 1, failed",
        "at_most_once, 4, 1, failed",
        // first unknown, then not sent: the first one stays unknown, whatever became of the second
        "provider, tr, 3, unknown",
        "provider, ttr, 3, unknown",
        "provider, tr., 3, done",
        "provider, tq, 3, unknown",
        // ... and a provider that refuses the caller has not looked at the key: it is tried again
        "provider, tu, 3, unknown",
        "provider, t4, 2, failed",
        "provider, u, 1, failed",
        "provider, tn, 2, failed",
        // first not sent, then unknown
        "at_most_once, rt, 2, nobody knows",
        "ask, rrt, 3, doubt",
        "provider, rt, 3, unknown",
    })
    void each_failure_ends_as_the_protection_says(String protection, String script, int sent, String end) {
        Workflow<String, String> flow = flow((ctx, _) -> switch (outcome(ctx, protection, _ -> answer(script))) {
            case EffectOutcome.Done<String>(String value) -> value;
            case EffectOutcome.Indeterminate<String> _ -> "nobody knows";
        });
        assertEquals(end, ends(start(flow)));
        assertEquals(sent, requests.get());
    }

    @ParameterizedTest
    @CsvSource({"t, UNCONFIRMED", "tr, UNCONFIRMED", "t4, UNCONFIRMED", "r, FREE", "4, FREE", "r4, FREE"})
    void the_ledger_says_of_a_failed_repeatable_effect_whether_it_may_have_happened(
            String script, EffectLedger.EffectState state) {
        Workflow<String, String> flow = flow((ctx, _) -> {
            outcome(ctx, "repeatable", _ -> answer(script));
            return "";
        });
        RunHandle<String> run = start(flow);
        assertEquals("failed", ends(run));
        RunId id = Objects.requireNonNull(RunId.parse(run.id()));
        List<EffectLedger.EffectRow> rows = Objects.requireNonNull(semel.view(reads -> reads.effects(id)));
        assertEquals(state, rows.getFirst().state());
    }

    @Test
    void a_run_that_waits_for_the_next_attempt_says_why_the_last_one_failed() {
        Workflow<String, String> flow = flow((ctx, _) -> ctx.effect("charge")
                .retry(Retry.exponential(Duration.ofHours(1)))
                .providerHonoursKey(REMEMBERED)
                .call(String.class, _ -> answer("t")));
        RunHandle<String> run = start(flow);
        untilWaiting(run, "retry");
        restart();
        semel.register(flow);
        RunHandle<String> same = semel.run(flow, run.id());
        untilWaiting(same, "retry");
        JsonNode wait = StrictJsonCodec.parse(String.valueOf(same.waitingFor()));
        assertEquals("step-failed", wait.at("/error/code").asString());
        assertEquals("no answer", wait.at("/error/message").asString());
    }

    @Test
    void an_effect_is_not_resent_to_a_provider_that_may_have_forgotten_the_key() {
        Workflow<String, String> flow = flow((ctx, _) -> ctx.effect("charge")
                .retry(Retry.exponential(Duration.ofHours(10))
                        .factor(1)
                        .longest(Duration.ofHours(10))
                        .upTo(10))
                .providerHonoursKey(REMEMBERED)
                .call(String.class, _ -> answer("t")));
        RunHandle<String> run = start(flow);
        for (int attempt = 1; attempt <= 2; attempt++) {
            int n = attempt;
            Await.until("attempt " + n, () -> requests.get() == n);
            untilWaiting(run, "retry");
            clock.advance(Duration.ofHours(10));
        }
        Await.until("the third", () -> requests.get() == 3);
        untilWaiting(run, "retry");
        clock.advance(Duration.ofHours(10)); // thirty hours or less after the first
        Await.until("it is in doubt", () -> run.status() == RunStatus.IN_DOUBT);
        assertEquals(3, requests.get());
        assertEquals(List.of("charge"), run.stepsInDoubt());
        assertTrue(run.confirmDone("charge", "yes", "ann"));
        Await.until("it has ended", () -> run.status() == RunStatus.COMPLETED);
        assertEquals("yes", run.result(SOON));
    }

    @ParameterizedTest
    @CsvSource({"-61, 2, COMPLETED", "-60, 1, IN_DOUBT", "0, 1, IN_DOUBT"})
    void the_end_of_the_window_has_a_margin_of_a_minute(int seconds, int sent, RunStatus end) {
        Workflow<String, String> flow = flow((ctx, _) -> ctx.effect("charge")
                .retry(Retry.exponential(Duration.ofSeconds(2)))
                .providerHonoursKey(REMEMBERED)
                .call(String.class, _ -> answer("t.")));
        RunHandle<String> run = start(flow);
        untilWaiting(run, "retry");
        clock.advance(REMEMBERED.plusSeconds(seconds));
        Await.until("it went on", () -> run.status() == end);
        assertEquals(sent, requests.get());
    }

    @Test
    void the_window_starts_with_the_first_request_that_was_sent() {
        Workflow<String, String> flow = flow((ctx, _) -> ctx.effect("charge")
                .retry(Retry.exponential(Duration.ofHours(20)).factor(1).longest(Duration.ofHours(20)))
                .providerHonoursKey(REMEMBERED)
                .call(String.class, _ -> answer("rrt.")));
        RunHandle<String> run = start(flow);
        for (int i = 1; i <= 3; i++) {
            int n = i;
            Await.until("attempt " + n, () -> requests.get() == n);
            untilWaiting(run, "retry");
            clock.advance(Duration.ofHours(20));
        }
        assertEquals("done", run.result(SOON));
        assertEquals(4, requests.get());
    }

    @Test
    void an_effect_in_doubt_is_not_sent_again_by_any_wake_up() {
        for (String script : List.of("t", "x")) {
            requests.set(0);
            Workflow<String, String> flow = flow((ctx, _) -> ctx.effect("charge")
                    .retry(Retry.exponential(REMEMBERED).longest(REMEMBERED).upTo(5))
                    .providerHonoursKey(REMEMBERED)
                    .call(String.class, _ -> answer(script)));
            RunHandle<String> run = start(flow);
            Await.until("it is in doubt", () -> {
                clock.advance(Duration.ofHours(1));
                return run.status() == RunStatus.IN_DOUBT;
            });
            int sent = requests.get();
            long before = semel.count("inDoubt");
            wake(run);
            Await.until("it was looked at again", () -> semel.count("inDoubt") > before);
            restart();
            semel.register(flow);
            RunHandle<String> same = semel.run(flow, run.id());
            wake(same);
            Await.until("it was looked at again", () -> semel.count("inDoubt") > 0);
            assertEquals(sent, requests.get());
            assertTrue(same.confirmNotDone("charge", "ann"));
            Await.until("it is sent once more", () -> requests.get() == sent + 1);
        }
    }

    @Test
    void attempts_continue_counting_after_a_suspension_and_a_restart() {
        List<Integer> attempts = java.util.Collections.synchronizedList(new java.util.ArrayList<>());
        Workflow<String, String> flow = flow((ctx, _) -> ctx.step("flaky")
                .retry(Retry.exponential(Duration.ofHours(1)).upTo(4))
                .run(String.class, s -> {
                    attempts.add(s.attempt());
                    throw new IOException("again");
                }));
        RunHandle<String> run = start(flow);
        for (int i = 1; i <= 3; i++) {
            int n = i;
            Await.until("attempt " + n, () -> attempts.size() == n);
            untilWaiting(run, "retry");
            restart();
            semel.register(flow);
            run = semel.run(flow, run.id());
            clock.advance(Duration.ofHours(10));
        }
        StepFailed failed = failure(run);
        assertEquals("flaky", failed.step());
        assertEquals(List.of(1, 2, 3, 4), attempts);
    }

    @Test
    void the_retry_delay_of_a_provider_is_honoured_within_limits() {
        for (Duration asked : List.of(Duration.ZERO, Duration.ofMinutes(10), Duration.ofDays(9))) {
            requests.set(0);
            long before = semel.count("retries");
            RunHandle<String> run =
                    start(flow((ctx, _) -> ctx.effect("send").repeatable("t").call(String.class, _ -> {
                        if (requests.getAndIncrement() == 0) {
                            throw new HttpStatusException(503, StrictJsonCodec.parse("{}"), asked);
                        }
                        return "done";
                    })));
            Duration expected = asked.isZero()
                    ? Duration.ofSeconds(1)
                    : asked.compareTo(Duration.ofHours(1)) > 0 ? Duration.ofHours(1) : asked;
            Await.until("it was asked", () -> requests.get() == 1 && semel.count("retries") > before);
            clock.advance(expected.minusMillis(1));
            othersGoOn();
            assertEquals(1, requests.get(), "after " + asked);
            clock.advance(expected.dividedBy(10).plusMillis(1)); // so that not all runs come at once
            assertEquals("done", run.result(SOON));
        }
    }

    @Test
    void a_failure_listed_by_the_effect_is_final() {
        StepFailed failed = failure(start(flow((ctx, _) -> ctx.step("s")
                .retry(Retry.exponential(Duration.ofMillis(1)).notOn(IllegalStateException.class, Error.class))
                .timeout(Duration.ofMinutes(1))
                .run(String.class, _ -> {
                    requests.incrementAndGet();
                    throw new AssertionError("final");
                }))));
        assertEquals("AssertionError", failed.causeType());
        assertEquals(1, requests.get());
    }

    @Test
    void an_effect_outcome_is_recorded_while_the_next_step_still_runs() throws Exception {
        CountDownLatch go = new CountDownLatch(1);
        Workflow<String, String> flow = Workflow.define("then_long", String.class, String.class)
                .body((ctx, in) -> ctx.effect("pay").askOnDoubt("ops").call(String.class, _ -> "paid")
                        + ctx.step("long", String.class, _ -> {
                            go.await();
                            return "!";
                        }));
        semel.register(flow);
        RunHandle<String> run = semel.start(flow, "x");
        RunId id = Objects.requireNonNull(RunId.parse(run.id()));
        Await.until(
                "its result is in the ledger",
                () -> Objects.requireNonNull(semel.view(reads -> reads.effects(id))).stream()
                        .anyMatch(row -> row.state() == EffectLedger.EffectState.DONE));
        go.countDown();
        assertEquals("paid!", run.result(SOON));
    }
}
