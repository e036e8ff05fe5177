package dev.semel.testing;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.Run;
import dev.semel.RunStatus;
import dev.semel.error.StepFailed;
import dev.semel.testing.junit.SemelTest;
import dev.semel.workflow.ApprovalDecision;
import dev.semel.workflow.Key;
import dev.semel.workflow.Retry;
import dev.semel.workflow.Signal;
import dev.semel.workflow.Start;
import dev.semel.workflow.Workflow;
import java.time.Duration;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Everything that a workflow can ask for, with a crash at every point. */
@SemelTest
final class CrashSweepFeaturesTest {
    private static final Start KEY = Start.withKey("evt_1");
    private static final Duration DAY = Duration.ofDays(1);

    private static void allRecovered(CrashInjectionReport report) {
        assertTrue(report.points() > 0);
        assertEquals(report.points(), report.recovered() + report.notReached(), report.text());
    }

    @Test
    void completed_steps_are_undone_once_and_in_reverse(WorkflowTestKit kit) {
        FakeExternalSystem stock = kit.provider("stock").honoursKeysFor(DAY);
        Workflow<String, String> saga = Workflow.define("saga", String.class, String.class)
                .body((ctx, in) -> {
                    for (String part : List.of("a", "b")) {
                        ctx.effect(part).providerHonoursKey(DAY).call(e -> stock.call("+" + part + e.key()));
                        ctx.compensate(
                                part,
                                c -> c.effect("undo")
                                        .providerHonoursKey(DAY)
                                        .call(e -> stock.call("-" + part + e.key())));
                    }
                    throw new IllegalStateException("no");
                });
        allRecovered(kit.register(saga)
                .crashEverywhere(l -> l.start(saga, "x", KEY))
                .check(l -> {
                    assertThrows(StepFailed.class, () -> l.result(l.start(saga, "x", KEY)));
                    List<String> order = stock.keys().stream()
                            .map(key -> key.substring(0, 2))
                            .distinct()
                            .toList();
                    assertEquals(List.of("+a", "+b", "-b", "-a"), order);
                    assertEquals(4, stock.effects());
                }));
    }

    @Test
    void an_approval_and_the_pauses_around_it(WorkflowTestKit kit) {
        FakeExternalSystem mail = kit.provider("mail").down(1);
        Workflow<String, String> release = Workflow.define("release", String.class, String.class)
                .body((ctx, in) -> {
                    ctx.sleep("first", Duration.ofMinutes(5));
                    ApprovalDecision decision =
                            ctx.approval("ok", a -> a.to("role:ops").timeout(DAY));
                    ctx.effect("tell")
                            .lookup(String.class, e -> mail.find(e.key()))
                            .call(e -> mail.call(e.key()));
                    return switch (decision) {
                        case ApprovalDecision.Approved yes -> "by " + yes.by();
                        case ApprovalDecision.Rejected no -> "not " + no.note();
                        case ApprovalDecision.TimedOut _ -> "nobody";
                    };
                });
        allRecovered(kit.register(release)
                .crashEverywhere(l -> {
                    Run<String> run = l.start(release, "x", KEY);
                    l.clock().advance(Duration.ofMinutes(5));
                    run.approve("ok", "ann", "fine");
                    run.reject("ok", "bob", "late");
                })
                .check(l -> {
                    assertEquals("by ann", l.result(l.start(release, "x", KEY)));
                    assertEquals(1, mail.effects());
                }));
    }

    @Test
    void an_effect_in_doubt_is_decided_once_and_done_once(WorkflowTestKit kit) {
        FakeExternalSystem mail = kit.provider("mail").loseResponse(1);
        Workflow<String, String> workflow = Workflow.define("asks", String.class, String.class)
                .body((ctx, in) -> ctx.effect("mail")
                        .retry(Retry.none())
                        .askOnDoubt("ops")
                        .call(String.class, e -> mail.call(e.key())));
        allRecovered(kit.register(workflow)
                .crashEverywhere(l -> {
                    Run<String> run = l.start(workflow, "x", KEY);
                    l.settle();
                    run.confirmDone("mail", "seen", "ann");
                })
                .check(l -> {
                    Run<String> run = l.start(workflow, "x", KEY);
                    l.settle();
                    if (run.status() == RunStatus.IN_DOUBT) {
                        assertTrue(run.confirmDone("mail", "seen", "ann"));
                    }
                    assertEquals("seen", l.result(run));
                    assertTrue(mail.effects() <= 1);
                }));
    }

    @Test
    void one_mail_a_day_for_two_runs(WorkflowTestKit kit) {
        FakeExternalSystem mail = kit.provider("mail");
        Workflow<String, String> news = Workflow.define("news", String.class, String.class)
                .body((ctx, in) -> ctx.effect("mail")
                        .key("news", "ann")
                        .oncePer(DAY)
                        .lookup(String.class, e -> mail.find(e.key()))
                        .call(e -> mail.call(e.key())));
        allRecovered(kit.register(news)
                .crashEverywhere(l -> {
                    l.start(news, "x", Start.withKey("1"));
                    l.start(news, "y", Start.withKey("2"));
                })
                .check(l -> {
                    assertEquals("mail-1", l.result(l.start(news, "x", Start.withKey("1"))));
                    assertEquals("mail-1", l.result(l.start(news, "y", Start.withKey("2"))));
                    assertEquals(1, mail.effects());
                }));
    }

    @Test
    void runs_of_one_customer_execute_one_after_another(WorkflowTestKit kit) {
        FakeExternalSystem books = kit.provider("books").honoursKeysFor(DAY);
        Workflow<Integer, Integer> serial = Workflow.define("serial", Integer.class, Integer.class)
                .serialBy(_ -> "one customer")
                .body((ctx, n) -> {
                    ctx.effect("open").providerHonoursKey(DAY).call(e -> books.call("open " + n));
                    ctx.sleep("while", Duration.ofHours(1));
                    ctx.effect("close").providerHonoursKey(DAY).call(e -> books.call("close " + n));
                    return n;
                });
        allRecovered(kit.register(serial)
                .crashEverywhere(l -> {
                    for (int i = 0; i < 3; i++) {
                        l.start(serial, i, Start.withKey("k" + i));
                    }
                })
                .check(l -> {
                    for (int i = 0; i < 3; i++) {
                        assertEquals(i, l.result(l.start(serial, i, Start.withKey("k" + i))));
                    }
                    assertEquals(
                            List.of("open 0", "close 0", "open 1", "close 1", "open 2", "close 2"),
                            books.keys().stream().distinct().toList());
                }));
    }

    @Test
    void a_signal_from_one_run_to_another(WorkflowTestKit kit) {
        Signal<String> go = Signal.of("go", String.class);
        Workflow<String, String> waits = Workflow.define("waits", String.class, String.class)
                .body((ctx, in) -> ctx.await("first", go)
                        + ctx.await("second", go, Duration.ofHours(1)).orElse("!"));
        Workflow<String, String> sends = Workflow.define("sends", String.class, String.class)
                .body((ctx, to) -> {
                    ctx.signal(to, go, "went", Key.of("only"));
                    return "sent";
                });
        allRecovered(kit.register(waits, sends)
                .crashEverywhere(l -> {
                    Run<String> run = l.start(waits, "x", Start.withId("waiting"));
                    l.start(sends, run.id(), KEY);
                })
                .check(l -> assertEquals("went!", l.result(l.start(waits, "x", Start.withId("waiting"))))));
    }

    @Test
    void keyed_signals_before_and_during_the_wait(WorkflowTestKit kit) {
        Signal<String> paid = Signal.of("paid", String.class);
        Workflow<String, String> order = Workflow.define("order", String.class, String.class)
                .body((ctx, id) -> ctx.await("early", paid.withKey(id))
                        + ctx.await("late", paid.withKey(id, 2))
                        + ctx.await("never", paid.withKey(id, 3), Duration.ofHours(1))
                                .orElse("!"));
        allRecovered(kit.register(order)
                .crashEverywhere(l -> {
                    l.signal(paid.withKey("o1"), "a", Key.of("evt_1"));
                    l.start(order, "o1", KEY);
                    l.settle();
                    l.signal(paid.withKey("o1", 2), "b", Key.of("evt_2"));
                })
                .check(l -> {
                    l.signal(paid.withKey("o1", 2), "b", Key.of("evt_2"));
                    assertEquals("ab!", l.result(l.start(order, "o1", KEY)));
                    Run<String> second = l.start(order, "o1", Start.withKey("evt_2"));
                    l.settle();
                    assertEquals(RunStatus.WAITING, second.status(), "each letter was used up once");
                }));
    }

    @Test
    void a_rejection_is_final_and_a_replay_reuses_recorded_effects(WorkflowTestKit kit) {
        FakeExternalSystem cards = kit.provider("cards").honoursKeysFor(DAY);
        FakeExternalSystem mail = kit.provider("mail").reject(1);
        Workflow<String, String> pay = Workflow.define("pay", String.class, String.class)
                .body((ctx, in) ->
                        ctx.effect("charge").providerHonoursKey(DAY).call(String.class, e -> cards.call(e.key()))
                                + ctx.effect("mail").askOnDoubt("ops").call(String.class, e -> mail.call(e.key())));
        Run<String> refused = kit.register(pay).start(pay, "x", KEY);
        StepFailed failed = assertThrows(StepFailed.class, () -> kit.result(refused));
        assertEquals("mail", failed.step());
        kit.crashAt("effect-sent", 1);
        Run<String> again = kit.start(pay, "x", Start.replayOf(refused.id()).key("replay-1"));
        kit.settle();
        assertEquals(RunStatus.IN_DOUBT, again.status(), "the mail was sent and its answer was lost with the engine");
        assertTrue(again.confirmDone("mail", "mail-1", "ann"));
        assertEquals("cards-1mail-1", kit.result(again));
        assertEquals(1, cards.calls());
    }
}
