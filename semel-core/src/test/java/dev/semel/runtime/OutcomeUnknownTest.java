package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.RunStatus;
import dev.semel.effect.EffectLedger;
import dev.semel.error.StepFailed;
import dev.semel.json.StrictJsonCodec;
import dev.semel.replay.ReplayNotificationMode;
import dev.semel.replay.ReplayPlanApplyOptions;
import dev.semel.replay.ReplayPlanRequest;
import dev.semel.replay.ReplayPreview;
import dev.semel.replay.SafeReplayStepAction;
import dev.semel.runtime.OutageBench.Answer;
import dev.semel.store.Await;
import dev.semel.store.DatabaseRows;
import dev.semel.store.Dialect;
import dev.semel.store.HumanReviewStoreWriteCommand;
import dev.semel.store.ReplayPlanQueries;
import dev.semel.store.ReplayPlanStoreWriteCommand;
import dev.semel.workflow.Context;
import dev.semel.workflow.EffectBuilder;
import dev.semel.workflow.EscalationPolicy;
import dev.semel.workflow.Retry;
import dev.semel.workflow.ReviewOptions;
import dev.semel.workflow.Start;
import dev.semel.workflow.Workflow;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.function.Function;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;
import tools.jackson.databind.JsonNode;

/** The attempts of an effect end, and it is unknown whether it happened: the run stops, and its code does not see it. */
final class OutcomeUnknownTest {
    private static final Duration WINDOW = Duration.ofHours(10);
    private static final Retry TWICE =
            Retry.exponential(Duration.ofMinutes(1)).factor(1).upTo(2);

    private final ConcurrentLinkedQueue<String> seen = new ConcurrentLinkedQueue<>();

    private static String charge(Context ctx, OutageBench bench, Retry retry) {
        return ctx.effect("charge")
                .retry(retry)
                .providerHonoursKey(WINDOW)
                .call(String.class, step -> bench.provider.call(step.key()));
    }

    /** A workflow that would do something after every failure that its code sees. */
    private Workflow<String, String> charging(OutageBench bench) {
        return bench.register(Workflow.define("charge", String.class, String.class)
                .body((ctx, in) -> {
                    ctx.effect("stock").repeatable("a test").call(_ -> seen.add("+stock"));
                    ctx.compensate(
                            "stock",
                            undo -> undo.effect("back").repeatable("a test").call(_ -> seen.add("-stock")));
                    try {
                        return charge(ctx, bench, TWICE);
                    } catch (StepFailed e) {
                        seen.add("caught " + e.reason());
                        return "another way";
                    }
                }));
    }

    private RunHandle<String> stopped(OutageBench bench, Workflow<String, String> flow) {
        bench.provider.answers(Answer.TIMEOUT);
        RunHandle<String> run = bench.start(flow, "x");
        bench.settle();
        bench.advance(Duration.ofMinutes(1));
        assertEquals(RunStatus.FAILED, run.status());
        assertEquals("outcome-unknown", bench.errorCode(run));
        assertEquals("charge", bench.end(run).result().errorStep());
        assertEquals(2, bench.provider.requests());
        return run;
    }

    private static EffectLedger.EffectRow chargeRow(OutageBench bench, RunHandle<?> run) {
        return bench.effects(run).stream()
                .filter(row -> row.details().path().equals("charge"))
                .findFirst()
                .orElseThrow();
    }

    @ParameterizedTest
    @EnumSource
    void catch_and_compensations_never_see_it_and_a_resume_continues_with_the_same_key(Dialect dialect) {
        try (OutageBench bench = new OutageBench(dialect)) {
            RunHandle<String> run = stopped(bench, charging(bench));
            assertEquals(List.of("+stock"), List.copyOf(seen));
            assertEquals(List.of(), bench.inbox(), "no user is asked while the provider remembers the key");
            assertEquals(List.of(), run.stepsInDoubt());
            EffectLedger.EffectRow row = chargeRow(bench, run);
            assertEquals(row.firstAt() + WINDOW.minusMinutes(1).toNanos() / 1_000, row.resendUntil());
            bench.provider.answers(Answer.OK);
            run.resume("ann", "the provider is back");
            OutageBench.untilEnded(run, RunStatus.COMPLETED);
            assertEquals("ok", run.result(OutageBench.SOON));
            assertEquals(1, bench.provider.effects());
            assertEquals(1, bench.provider.keys().size());
            assertEquals(List.of("+stock"), List.copyOf(seen));
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_safe_replay_and_its_plan_send_again_with_the_same_key(Dialect dialect) {
        try (OutageBench bench = new OutageBench(dialect)) {
            Workflow<String, String> flow = charging(bench);
            RunHandle<String> run = stopped(bench, flow);
            assertEquals(SafeReplayStepAction.RESEND, planned(bench, run));
            bench.provider.answers(Answer.OK);
            RunHandle<String> replay = bench.semel().start(flow, "x", Start.replayOf(run.id()));
            OutageBench.untilEnded(replay, RunStatus.COMPLETED);
            assertEquals(1, bench.provider.effects());
            assertEquals(1, bench.provider.keys().size());
        }
    }

    private static SafeReplayStepAction planned(OutageBench bench, RunHandle<?> run) {
        ReplayPlanRequest order =
                new ReplayPlanRequest("run", "", false, List.of(), false, false, ReplayNotificationMode.MISSING);
        int ws = bench.semel().testAccess().workspace();
        ReplayPlanStoreWriteCommand.ReplayPlan plan = bench.semel()
                .replays()
                .plan(new ReplayPlanOperations.ReplayRequest(
                        ws,
                        "ann",
                        new ReplayPlanOperations.RunSelection.ByRunId(List.of(run.id())),
                        order,
                        null,
                        false,
                        ReplayPlanApplyOptions.SAFE));
        ReplayPreview preview = ReplayPreview.parse(bench.semel()
                .replays()
                .listItems(new ReplayPlanQueries.ItemFilter(plan.id(), 0, null), null, 10)
                .getFirst()
                .preview());
        return preview.steps().stream()
                .filter(step -> step.step().equals("charge"))
                .findFirst()
                .orElseThrow(() -> new AssertionError(String.valueOf(preview.blocked())))
                .action();
    }

    @ParameterizedTest
    @EnumSource
    void a_cancelled_run_leaves_no_doubt_behind_while_the_provider_remembers_the_key(Dialect dialect) {
        try (OutageBench bench = new OutageBench(dialect)) {
            Workflow<String, String> flow = bench.register(Workflow.define("charge", String.class, String.class)
                    .body((ctx, in) -> ctx.effect("charge")
                            .providerHonoursKey(WINDOW)
                            .call(String.class, step -> bench.provider.call(step.key()))));
            bench.provider.answers(Answer.UNAVAILABLE);
            RunHandle<String> run = bench.start(flow, "x");
            bench.settle();
            bench.advance(Duration.ofMinutes(1));
            assertEquals(RunStatus.WAITING, run.status());
            assertTrue(String.valueOf(run.waitingFor()).contains("\"for\":\"retry\""), run.waitingFor());
            assertTrue(run.cancel("ann", "not needed"));
            OutageBench.untilEnded(run, RunStatus.CANCELLED);
            assertEquals(List.of(), bench.inbox());
            assertEquals(SafeReplayStepAction.RESEND, planned(bench, run));
            bench.advance(WINDOW);
            assertEquals(1, bench.inbox().size(), "now the provider may have forgotten the key");
            assertEquals(SafeReplayStepAction.ASK, planned(bench, run));
        }
    }

    @ParameterizedTest
    @EnumSource
    void the_store_knows_how_many_runs_lose_safe_resend(Dialect dialect) {
        try (OutageBench bench = new OutageBench(dialect)) {
            Workflow<String, String> flow = charging(bench);
            RunHandle<String> run = stopped(bench, flow);
            int ws = bench.semel().testAccess().workspace();
            long until = chargeRow(bench, run).resendUntil();
            Function<Long, DatabaseRows.ResendLoss> before =
                    end -> Objects.requireNonNull(bench.semel().view(reads -> reads.resendLosses(ws, end, until)))
                            .getFirst();
            assertEquals(0, before.apply(until - 1).inHour());
            assertEquals(1, before.apply(until).inHour());
            assertEquals(1, before.apply(until).inDay());
            assertEquals(1, before.apply(until).runs());
            assertEquals(until, before.apply(until).soonest());
            assertEquals(until, (long)
                    Objects.requireNonNull(bench.semel().view(reads -> reads.resendUntil(OutageBench.id(run)))));
            bench.provider.answers(Answer.OK);
            run.resume("ann", "back");
            OutageBench.untilEnded(run, RunStatus.COMPLETED);
            assertEquals(List.of(), bench.semel().view(reads -> reads.resendLosses(ws, until, until)));
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_run_whose_worker_died_during_a_send_loses_safe_resend_too(Dialect dialect) {
        try (OutageBench bench = new OutageBench(dialect)) {
            Workflow<String, String> flow = charging(bench);
            bench.provider.answers(Answer.TIMEOUT);
            RunHandle<String> run = bench.start(flow, "x");
            bench.settle();
            int ws = bench.semel().testAccess().workspace();
            bench.crashDuringSends();
            long until = chargeRow(bench, run).expiresAt();
            DatabaseRows.ResendLoss loss = Objects.requireNonNull(
                            bench.semel().view(reads -> reads.resendLosses(ws, until - 1, until)))
                    .getFirst();
            assertEquals(List.of(1L, 0L, 1L), List.of(loss.runs(), loss.inHour(), loss.inDay()));
            assertEquals(until, loss.soonest());
        }
    }

    @ParameterizedTest
    @EnumSource
    void the_end_of_the_window_opens_one_review_and_a_decision_continues_the_run(Dialect dialect) {
        try (OutageBench bench = new OutageBench(dialect)) {
            RunHandle<String> run = stopped(bench, charging(bench));
            bench.advance(WINDOW.minusMinutes(3));
            assertEquals(List.of(), bench.inbox());
            assertFalse(chargeRow(bench, run).isInDoubt());
            bench.advance(Duration.ofMinutes(2));
            List<HumanReviewStoreWriteCommand.ReviewRow> inbox = bench.inbox();
            assertEquals(
                    List.of(OutageBench.id(run)),
                    inbox.stream().map(row -> row.run()).toList());
            assertTrue(chargeRow(bench, run).isInDoubt());
            assertEquals(List.of("charge"), run.stepsInDoubt());
            bench.restart();
            bench.advance(Duration.ofDays(1));
            assertEquals(1, bench.inbox().size());
            assertEquals(1, bench.inbox().getFirst().version());
            RunHandle<String> same = bench.semel()
                    .run(Workflow.define("charge", String.class, String.class).body((_, _) -> ""), run.id());
            assertTrue(same.confirmDone("charge", "by phone", "ann"));
            OutageBench.untilEnded(same, RunStatus.COMPLETED);
            assertEquals("\"by phone\"", bench.end(same).result().output());
            assertEquals(List.of(), bench.inbox());
            assertEquals(2, bench.provider.requests());
            assertEquals(List.of("+stock"), List.copyOf(seen));
        }
    }

    @ParameterizedTest
    @CsvSource({"SQLITE, key", "SQLITE, lookup", "SQLITE, cancelled", "POSTGRES, key"})
    void a_review_that_opens_after_the_end_of_a_run_has_its_reviewer_title_link_and_due_time(
            Dialect dialect, String kind) {
        try (OutageBench bench = new OutageBench(dialect)) {
            ReviewOptions options = ReviewOptions.of("Was it charged?")
                    .to("role:payments")
                    .link("https://provider.example/charges")
                    .escalation(EscalationPolicy.NONE
                            .due(Duration.ofHours(2))
                            .remind(Duration.ofHours(1))
                            .escalate(Duration.ofHours(3), "user:boss"));
            Workflow<String, String> flow = bench.register(Workflow.define("charge", String.class, String.class)
                    .body((ctx, in) -> {
                        EffectBuilder effect = ctx.effect("charge").retry(TWICE).reviewOptions(options);
                        return kind.equals("lookup")
                                ? effect.lookup(String.class, _ -> null).call(s -> bench.provider.call(s.key()))
                                : effect.providerHonoursKey(WINDOW)
                                        .call(String.class, s -> bench.provider.call(s.key()));
                    }));
            bench.provider.answers(Answer.TIMEOUT);
            RunHandle<String> run = bench.start(flow, "x");
            bench.settle();
            if (kind.equals("key")) {
                bench.advance(Duration.ofMinutes(1));
            } else {
                assertTrue(run.cancel("ann", "a test"));
            }
            OutageBench.untilEnded(run, kind.equals("key") ? RunStatus.FAILED : RunStatus.CANCELLED);
            bench.advance(WINDOW);
            HumanReviewStoreWriteCommand.ReviewRow review = bench.inbox().getFirst();
            assertEquals("role:payments", review.reviewer());
            assertEquals(review.openedAt() + 7_200_000_000L, review.dueAt());
            JsonNode text = StrictJsonCodec.parse(review.question());
            assertEquals("Was it charged?", text.path("title").asString());
            assertEquals("https://provider.example/charges", text.path("link").asString());
            assertEquals("user:boss", text.path("escalate_to").asString());
            assertEquals(3_600_000_000L, text.path("remind_after").asLong());
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_run_that_waits_past_the_window_is_in_doubt(Dialect dialect) {
        try (OutageBench bench = new OutageBench(dialect)) {
            Workflow<String, String> flow = bench.register(Workflow.define("charge", String.class, String.class)
                    .body((ctx, in) -> charge(
                            ctx,
                            bench,
                            Retry.exponential(WINDOW.multipliedBy(2)).upTo(3))));
            bench.provider.answers(Answer.UNAVAILABLE);
            RunHandle<String> run = bench.start(flow, "x");
            bench.settle();
            bench.advance(WINDOW.minusMinutes(2));
            assertEquals(RunStatus.WAITING, run.status());
            bench.advance(Duration.ofMinutes(2));
            assertEquals(RunStatus.IN_DOUBT, run.status());
            assertEquals(1, bench.inbox().size());
            assertEquals(1, bench.provider.requests());
            assertTrue(run.confirmNotDone("charge", "ann"));
            Await.until("it is sent again", () -> bench.provider.requests() == 2);
            bench.settle();
            assertEquals(RunStatus.WAITING, run.status(), "a new window has begun");
        }
    }

    @ParameterizedTest
    @EnumSource
    void the_default_ends_at_eighty_percent_of_the_window(Dialect dialect) {
        try (OutageBench bench = new OutageBench(dialect)) {
            Workflow<String, String> flow = bench.register(Workflow.define("charge", String.class, String.class)
                    .body((ctx, in) -> ctx.effect("charge")
                            .providerHonoursKey(WINDOW)
                            .call(String.class, step -> bench.provider.call(step.key()))));
            bench.provider.answers(Answer.UNAVAILABLE, Answer.RESET, Answer.REFUSED, Answer.UNAUTHORIZED);
            RunHandle<String> run = bench.start(flow, "x");
            bench.settle();
            for (int minutes = 0; minutes < 7 * 60 + 50; minutes += 5) {
                bench.advance(Duration.ofMinutes(5));
            }
            assertEquals(RunStatus.WAITING, run.status());
            int sent = bench.provider.requests();
            assertTrue(sent > 60, "at most 5 minutes apart: " + sent);
            bench.advance(Duration.ofMinutes(5));
            bench.advance(Duration.ofMinutes(6));
            assertEquals(RunStatus.FAILED, run.status());
            assertEquals("outcome-unknown", bench.errorCode(run));
        }
    }

    @ParameterizedTest
    @EnumSource
    void parallel_items_stop_with_it_and_continue_after_a_resume(Dialect dialect) {
        try (OutageBench bench = new OutageBench(dialect)) {
            Workflow<String, String> flow = bench.register(Workflow.define("items", String.class, String.class)
                    .body((ctx, in) -> {
                        try {
                            List<String> all = ctx.forEach("each", List.of("a", "b", "c"), item -> item)
                                    .concurrency(3)
                                    .run((branch, item) -> {
                                        if (item.equals("c")) {
                                            branch.sleep("long", Duration.ofHours(1));
                                            return "c";
                                        }
                                        return charge(branch, bench, TWICE);
                                    });
                            return String.join(" ", all);
                        } catch (RuntimeException e) {
                            seen.add("caught " + e);
                            throw e;
                        }
                    }));
            bench.provider.answers(Answer.TIMEOUT);
            RunHandle<String> run = bench.start(flow, "x");
            bench.settle();
            bench.advance(Duration.ofMinutes(1));
            assertEquals(RunStatus.FAILED, run.status());
            assertEquals("outcome-unknown", bench.errorCode(run));
            assertEquals(List.of(), List.copyOf(seen));
            bench.provider.answers(Answer.OK);
            run.resume("ann", "back");
            bench.settle();
            bench.advance(Duration.ofHours(1));
            OutageBench.untilEnded(run, RunStatus.COMPLETED);
            assertEquals(2, bench.provider.effects());
            assertEquals(2, bench.provider.keys().size());
        }
    }

    @ParameterizedTest
    @EnumSource
    void the_parent_of_a_child_that_stopped_waits_until_the_child_is_resumed(Dialect dialect) {
        try (OutageBench bench = new OutageBench(dialect)) {
            Workflow<String, String> child = charging(bench);
            Workflow<String, String> parent = bench.register(Workflow.define("parent", String.class, String.class)
                    .body((ctx, in) -> {
                        ctx.effect("book").repeatable("a test").call(_ -> seen.add("+book"));
                        ctx.compensate(
                                "book",
                                undo -> undo.effect("back").repeatable("a test").call(_ -> seen.add("-book")));
                        try {
                            return "<" + ctx.call(child, in, Start.withKey("one", in)) + ">";
                        } catch (StepFailed e) {
                            seen.add("caught " + e.reason());
                            throw e;
                        }
                    }));
            bench.provider.answers(Answer.TIMEOUT);
            RunHandle<String> run = bench.start(parent, "x");
            bench.settle();
            bench.advance(Duration.ofMinutes(1));
            RunHandle<String> called = bench.semel().start(child, "x", Start.withKey("one", "x"));
            assertTrue(called.replayed());
            assertEquals(RunStatus.FAILED, called.status());
            assertEquals("outcome-unknown", bench.errorCode(called));
            bench.advance(Duration.ofMinutes(30));
            assertFalse(run.status().hasEnded());
            assertEquals(List.of("+book", "+stock"), List.copyOf(seen));
            bench.provider.answers(Answer.OK);
            called.resume("ann", "back");
            OutageBench.untilEnded(called, RunStatus.COMPLETED);
            bench.settle();
            bench.advance(Duration.ofMinutes(2));
            OutageBench.untilEnded(run, RunStatus.COMPLETED);
            assertEquals("<ok>", run.result(OutageBench.SOON));
            assertEquals(1, bench.provider.effects());
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_compensation_is_sent_again_as_long_as_that_is_safe(Dialect dialect) {
        try (OutageBench bench = new OutageBench(dialect)) {
            Workflow<String, String> flow = bench.register(Workflow.define("undo", String.class, String.class)
                    .body((ctx, in) -> {
                        ctx.compensate("refund", undo -> charge(undo, bench, TWICE));
                        throw new IllegalStateException("no");
                    }));
            bench.provider.answers(Answer.UNAVAILABLE);
            RunHandle<String> run = bench.start(flow, "x");
            bench.settle();
            bench.advance(Duration.ofMinutes(5));
            bench.advance(Duration.ofMinutes(5));
            bench.advance(Duration.ofMinutes(5));
            assertEquals(RunStatus.WAITING, run.status());
            assertTrue(bench.provider.requests() > 2);
            bench.provider.answers(Answer.OK);
            bench.advance(Duration.ofMinutes(5));
            OutageBench.untilEnded(run, RunStatus.FAILED);
            assertEquals("IllegalStateException", bench.errorCode(run));
            assertEquals(1, bench.provider.effects());
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_deadline_stops_the_run_and_compensates_nothing_while_the_outcome_is_unknown(Dialect dialect) {
        try (OutageBench bench = new OutageBench(dialect)) {
            Workflow<String, String> flow = bench.register(Workflow.define("late", String.class, String.class)
                    .deadline(Duration.ofHours(1))
                    .body((ctx, in) -> {
                        ctx.compensate(
                                "stock",
                                undo -> undo.effect("back").repeatable("a test").call(_ -> seen.add("-stock")));
                        return ctx.effect("charge")
                                .providerHonoursKey(WINDOW)
                                .call(String.class, step -> bench.provider.call(step.key()));
                    }));
            bench.provider.answers(Answer.TIMEOUT);
            RunHandle<String> run = bench.start(flow, "x");
            bench.settle();
            bench.advance(Duration.ofMinutes(61));
            OutageBench.untilEnded(run, RunStatus.FAILED);
            assertEquals("outcome-unknown", bench.errorCode(run));
            assertEquals(List.of(), List.copyOf(seen));
            bench.provider.answers(Answer.OK);
            run.resume("ann", "back");
            OutageBench.untilEnded(run, RunStatus.COMPLETED);
            assertEquals(1, bench.provider.effects());
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_crash_before_the_end_is_recorded_ends_the_run_the_same_way(Dialect dialect) {
        try (OutageBench bench = new OutageBench(dialect)) {
            Workflow<String, String> flow = charging(bench);
            RunHandle<String> run = stopped(bench, flow);
            String entries = bench.end(run).entries();
            assertTrue(entries.contains("\"due\":-1"), entries);
            bench.undoEnd(run);
            RunHandle<String> same = bench.again(flow, run);
            OutageBench.untilEnded(same, RunStatus.FAILED);
            assertEquals("outcome-unknown", bench.errorCode(same));
            assertEquals(2, bench.provider.requests());
            assertEquals(List.of("+stock"), List.copyOf(seen));
        }
    }

    @ParameterizedTest
    @EnumSource
    void an_error_that_the_provider_replays_opens_a_review_at_once(Dialect dialect) {
        try (OutageBench bench = new OutageBench(dialect)) {
            Workflow<String, String> flow = bench.register(Workflow.define("charge", String.class, String.class)
                    .body((ctx, in) -> ctx.effect("charge")
                            .providerHonoursKey(WINDOW)
                            .call(String.class, step -> bench.provider.call(step.key()))));
            bench.provider.answers(Answer.UNAVAILABLE, Answer.REPLAYED_ERROR);
            RunHandle<String> run = bench.start(flow, "x");
            bench.settle();
            assertEquals(RunStatus.RUNNING, run.status());
            bench.advance(Duration.ofSeconds(2));
            assertEquals(RunStatus.IN_DOUBT, run.status());
            assertEquals(2, bench.provider.requests());
            assertTrue(StrictJsonCodec.parse(bench.inbox().getFirst().question())
                    .path("provider_replayed_error")
                    .asBoolean());
            bench.advance(Duration.ofHours(1));
            assertEquals(2, bench.provider.requests());
        }
    }

    @ParameterizedTest
    @EnumSource
    void an_effect_with_an_alternative_gives_up_after_five_attempts_that_were_not_sent(Dialect dialect) {
        try (OutageBench bench = new OutageBench(dialect)) {
            Workflow<String, String> flow = bench.register(Workflow.define("mail", String.class, String.class)
                    .body((ctx, in) -> {
                        try {
                            return ctx.effect("first")
                                    .withAlternative()
                                    .providerHonoursKey(WINDOW)
                                    .call(String.class, step -> bench.provider.call(step.key()));
                        } catch (StepFailed e) {
                            return "second after " + e.attempts();
                        }
                    }));
            bench.provider.answers(Answer.REFUSED);
            RunHandle<String> unsent = bench.start(flow, "x");
            bench.settle();
            bench.advanceUntil("it gives up", Duration.ofSeconds(10), 6, () -> unsent.status() == RunStatus.COMPLETED);
            assertEquals("second after 5", unsent.result(OutageBench.SOON));
            bench.provider.answers(
                    Answer.REFUSED,
                    Answer.UNAVAILABLE,
                    Answer.REFUSED,
                    Answer.REFUSED,
                    Answer.REFUSED,
                    Answer.REFUSED,
                    Answer.REFUSED,
                    Answer.REFUSED,
                    Answer.OK);
            RunHandle<String> sent = bench.start(flow, "y");
            bench.settle();
            bench.advanceUntil("it heals", Duration.ofMinutes(2), 20, () -> sent.status() == RunStatus.COMPLETED);
            assertEquals("ok", sent.result(OutageBench.SOON));
        }
    }
}
