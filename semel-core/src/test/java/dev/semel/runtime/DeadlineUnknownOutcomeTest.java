package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.RunStatus;
import dev.semel.definition.RunTimedOut;
import dev.semel.run.RunId;
import dev.semel.runtime.OutageBench.Answer;
import dev.semel.store.Await;
import dev.semel.store.DatabaseRows;
import dev.semel.store.Dialect;
import dev.semel.workflow.Context;
import dev.semel.workflow.EffectBuilder;
import dev.semel.workflow.Retry;
import dev.semel.workflow.Start;
import dev.semel.workflow.Workflow;
import dev.semel.workflow.WorkflowFunction;
import java.net.SocketTimeoutException;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.ConcurrentLinkedQueue;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.EnumSource;

/** The deadline of a run passes, and it is unknown whether an effect happened: nothing acts on the deadline before. */
final class DeadlineUnknownOutcomeTest {
    private static final Duration DEADLINE = Duration.ofHours(1);
    private static final Duration WINDOW = Duration.ofHours(24);
    private static final Retry TWICE =
            Retry.exponential(Duration.ofMinutes(1)).factor(1).upTo(2);

    private final ConcurrentLinkedQueue<String> seen = new ConcurrentLinkedQueue<>();

    private String charge(Context ctx, OutageBench bench, String protection) {
        EffectBuilder effect = ctx.effect("charge");
        return switch (protection) {
            case "twice" ->
                effect.retry(TWICE).providerHonoursKey(WINDOW).call(String.class, s -> bench.provider.call(s.key()));
            case "short" ->
                effect.providerHonoursKey(Duration.ofMinutes(30)).call(String.class, s -> bench.provider.call(s.key()));
            case "ask" -> effect.askOnDoubt("ops").call(String.class, s -> bench.provider.call(s.key()));
            case "lookup" ->
                effect.lookup(String.class, _ -> {
                            throw new SocketTimeoutException("no answer");
                        })
                        .call(s -> bench.provider.call(s.key()));
            default -> effect.providerHonoursKey(WINDOW).call(String.class, s -> bench.provider.call(s.key()));
        };
    }

    /** It would refund after every failure that its code sees, and undoes the charge only once it has its result. */
    private Workflow<String, String> limited(OutageBench bench, String name, WorkflowFunction<String, String> payment) {
        return bench.register(Workflow.define(name, String.class, String.class)
                .deadline(DEADLINE)
                .body((ctx, in) -> {
                    ctx.compensate(
                            "stock",
                            undo -> undo.effect("back").repeatable("a test").call(_ -> seen.add("-stock")));
                    try {
                        String paid = payment.run(ctx, in);
                        ctx.compensate(
                                "paid",
                                undo -> undo.effect("back").repeatable("a test").call(_ -> seen.add("-" + paid)));
                        return ctx.step("last", String.class, _ -> "<" + paid + ">");
                    } catch (RunTimedOut e) {
                        seen.add("caught");
                        throw e;
                    }
                }));
    }

    private void nothingWasUndone() {
        assertEquals(List.of(), List.copyOf(seen));
    }

    private static RunHandle<String> child(OutageBench bench, RunHandle<?> parent, Workflow<String, String> flow) {
        List<RunId> found =
                Objects.requireNonNull(bench.semel().view(reads -> reads.children(OutageBench.id(parent), 2)));
        assertEquals(1, found.size());
        DatabaseRows.RunRow row =
                Objects.requireNonNull(bench.semel().view(reads -> reads.claimedRun(found.getFirst())));
        return bench.semel().run(flow, row.runIdText());
    }

    @ParameterizedTest
    @EnumSource
    void a_parent_waits_for_a_child_that_stopped_with_an_unknown_outcome(Dialect dialect) {
        try (OutageBench bench = new OutageBench(dialect)) {
            Workflow<String, String> called = bench.register(Workflow.define("called", String.class, String.class)
                    .body((ctx, _) -> charge(ctx, bench, "twice")));
            Workflow<String, String> flow = limited(bench, "parent", (ctx, in) -> ctx.call(called, in));
            bench.provider.answers(Answer.TIMEOUT);
            RunHandle<String> run = bench.start(flow, "x");
            bench.settle();
            bench.advance(Duration.ofMinutes(2));
            RunHandle<String> child = child(bench, run, called);
            assertEquals("outcome-unknown", bench.errorCode(child));
            bench.advance(Duration.ofMinutes(59));
            bench.advance(Duration.ofHours(1));
            assertFalse(run.status().hasEnded());
            nothingWasUndone();
            bench.provider.answers(Answer.OK);
            child.resume("ann", "back");
            OutageBench.untilEnded(child, RunStatus.COMPLETED);
            bench.advanceUntil(
                    "it ends", Duration.ofMinutes(1), 5, () -> run.status().hasEnded());
            assertEquals("run-timed-out", bench.errorCode(run));
            assertEquals(List.of("caught", "-ok", "-stock"), List.copyOf(seen));
            assertEquals(1, bench.provider.effects());
        }
    }

    @ParameterizedTest
    @CsvSource({"SQLITE, false", "SQLITE, true", "POSTGRES, false", "POSTGRES, true"})
    void a_parent_cancels_no_child_whose_effect_or_child_has_an_unknown_outcome(Dialect dialect, boolean shared) {
        try (OutageBench bench = new OutageBench(dialect)) {
            Workflow<String, String> pay = bench.register(
                    Workflow.define("pay", String.class, String.class).body((ctx, _) -> charge(ctx, bench, "key")));
            Workflow<String, String> middle = bench.register(Workflow.define("middle", String.class, String.class)
                    .body((ctx, in) -> {
                        ctx.compensate(
                                "middle",
                                undo -> undo.effect("back").repeatable("a test").call(_ -> seen.add("-middle")));
                        return ctx.call(pay, in);
                    }));
            Start start = shared ? Start.withKey("one") : Start.fresh();
            Workflow<String, String> flow = limited(bench, "parent", (ctx, in) -> ctx.call(middle, in, start));
            bench.provider.answers(Answer.TIMEOUT);
            RunHandle<String> run = bench.start(flow, "x");
            bench.settle();
            bench.advance(Duration.ofMinutes(61));
            bench.advance(Duration.ofMinutes(61));
            assertFalse(run.status().hasEnded());
            nothingWasUndone();
            bench.provider.answers(Answer.OK);
            bench.advanceUntil(
                    "it ends", Duration.ofMinutes(6), 5, () -> run.status().hasEnded());
            assertEquals("run-timed-out", bench.errorCode(run));
            assertTrue(seen.containsAll(List.of("caught", "-stock")), "now the outcome is known");
            assertEquals(1, bench.provider.effects());
        }
    }

    @ParameterizedTest
    @CsvSource({
        "SQLITE, replayed, true",
        "SQLITE, replayed, false",
        "SQLITE, short, true",
        "SQLITE, short, false",
        "SQLITE, ask, true",
        "SQLITE, ask, false",
        "POSTGRES, replayed, true",
        "POSTGRES, short, false"
    })
    void in_doubt_waits_beyond_the_deadline_which_applies_after_the_decision(
            Dialect dialect, String protection, boolean happened) {
        try (OutageBench bench = new OutageBench(dialect)) {
            Workflow<String, String> flow = limited(bench, "pay", (ctx, _) -> charge(ctx, bench, protection));
            bench.provider.answers(protection.equals("replayed") ? Answer.REPLAYED_ERROR : Answer.UNAVAILABLE);
            RunHandle<String> run = bench.start(flow, "x");
            bench.settle();
            bench.advance(Duration.ofMinutes(30));
            assertEquals(RunStatus.IN_DOUBT, run.status());
            bench.advance(Duration.ofMinutes(31));
            bench.restart();
            RunHandle<String> same = bench.again(flow, run);
            bench.advance(Duration.ofDays(30));
            assertEquals(RunStatus.IN_DOUBT, same.status());
            assertEquals(1, bench.inbox().size());
            nothingWasUndone();
            int sent = bench.provider.requests();
            assertTrue(happened ? same.confirmDone("charge", "paid", "ann") : same.confirmNotDone("charge", "ann"));
            OutageBench.untilEnded(same, RunStatus.FAILED);
            assertEquals("run-timed-out", bench.errorCode(same));
            assertEquals(
                    happened ? List.of("caught", "-paid", "-stock") : List.of("caught", "-stock"), List.copyOf(seen));
            assertEquals(sent, bench.provider.requests());
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_run_whose_lookup_gets_no_answer_stops_at_the_deadline(Dialect dialect) {
        try (OutageBench bench = new OutageBench(dialect)) {
            Workflow<String, String> flow = limited(bench, "pay", (ctx, _) -> charge(ctx, bench, "lookup"));
            bench.provider.answers(Answer.TIMEOUT);
            RunHandle<String> run = bench.start(flow, "x");
            bench.settle();
            bench.advanceUntil(
                    "it ends", Duration.ofMinutes(2), 40, () -> run.status().hasEnded());
            assertEquals("outcome-unknown", bench.errorCode(run));
            nothingWasUndone();
            assertEquals(1, bench.inbox().size());
            assertTrue(run.confirmDone("charge", "paid", "ann"));
            OutageBench.untilEnded(run, RunStatus.COMPLETED);
            assertEquals("<paid>", run.result(OutageBench.SOON));
            nothingWasUndone();
        }
    }

    @ParameterizedTest
    @EnumSource
    void a_branch_sees_the_deadline_only_when_the_other_branches_know_their_outcomes(Dialect dialect) {
        try (OutageBench bench = new OutageBench(dialect)) {
            Workflow<String, String> flow = limited(bench, "items", (ctx, _) -> {
                ctx.forEach("each", List.of("charge", "wait"), item -> item)
                        .concurrency(2)
                        .run((branch, item) -> {
                            try {
                                if (item.equals("charge")) {
                                    return charge(branch, bench, "ask");
                                }
                                branch.sleep("long", Duration.ofDays(1));
                                return item;
                            } catch (RunTimedOut e) {
                                seen.add(item + " caught");
                                throw e;
                            }
                        });
                return "all";
            });
            bench.provider.answers(Answer.UNAVAILABLE);
            RunHandle<String> run = bench.start(flow, "x");
            bench.settle();
            bench.advance(Duration.ofMinutes(61));
            bench.restart();
            RunHandle<String> same = bench.again(flow, run);
            bench.advance(Duration.ofDays(30));
            OutageBench.untilEnded(same, RunStatus.IN_DOUBT);
            nothingWasUndone();
            assertTrue(same.confirmDone("each[charge]/charge", "paid", "ann"));
            Await.until("the clock moves it on", () -> {
                bench.advance(Duration.ofMinutes(1));
                return same.status().hasEnded();
            });
            assertEquals("run-timed-out", bench.errorCode(same));
            assertEquals(List.of("wait caught", "caught", "-stock"), List.copyOf(seen));
        }
    }
}
