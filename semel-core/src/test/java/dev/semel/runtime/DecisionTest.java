package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.policy.ChangedEffectDataPolicy;
import dev.semel.store.Await;
import dev.semel.workflow.ApprovalDecision;
import dev.semel.workflow.Key;
import dev.semel.workflow.Signal;
import dev.semel.workflow.Workflow;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.CountDownLatch;
import org.junit.jupiter.api.Test;

/** A decision counts where it was asked for, and nowhere else: it is not kept for a question that may come. */
final class DecisionTest extends SqliteTestBase {
    private static final Signal<String> GO = Signal.of("go", String.class);

    private static String shown(ApprovalDecision decision) {
        return switch (decision) {
            case ApprovalDecision.Approved(String by, _) -> "approved by " + by;
            case ApprovalDecision.Rejected(String by, _) -> "rejected by " + by;
            case ApprovalDecision.TimedOut() -> "nobody";
        };
    }

    private final Workflow<String, String> asking = flow((ctx, _) -> {
        ctx.await("first", GO);
        return shown(ctx.approval("release", a -> a.to("role:ops")));
    });

    @Test
    void an_approval_without_an_open_request_returns_false_and_stores_nothing() {
        RunHandle<String> run = start(asking);
        untilWaiting(run, "signal");
        assertFalse(run.approve("release", "ann", "too early"));
        run.signal(GO, "", Key.of("k"));
        untilWaiting(run, "approval");
        assertFalse(run.approve("relaese", "ann", "a typo"));
        assertFalse(run.approve("first", "ann", "a wait, and no approval"));
        assertTrue(run.reject("release", "bob", "no"));
        assertFalse(run.approve("release", "ann", "late"));
        assertEquals("rejected by bob", run.result(SOON));
        assertFalse(run.approve("release", "ann", "after its end"));
    }

    @Test
    void an_approval_is_requested_also_after_a_restart() {
        RunHandle<String> run = start(asking);
        run.signal(GO, "", Key.of("k"));
        untilWaiting(run, "approval");
        restart();
        semel.register(asking);
        RunHandle<String> again = semel.run(asking, run.id());
        assertTrue(again.approve("release", "ann", "fine"));
        assertEquals("approved by ann", again.result(SOON));
    }

    @Test
    void a_run_is_found_only_with_its_own_workflow() {
        RunHandle<String> run = start(asking);
        Workflow<String, Integer> other =
                Workflow.define("other", String.class, Integer.class).body((_, _) -> 1);
        SemelException unknown = assertThrows(SemelException.class, () -> semel.run(other, run.id()));
        assertEquals(ErrorCode.NOT_FOUND, unknown.code());
        semel.register(other);
        assertThrows(SemelException.class, () -> semel.run(other, run.id()));
        assertEquals(run.id(), semel.run(asking, run.id()).id());
    }

    @Test
    void a_branch_requests_approval_while_another_one_works() {
        CountDownLatch mayEnd = new CountDownLatch(1);
        RunHandle<String> run = start(flow((ctx, _) -> String.join(
                ",",
                ctx.forEach("branch", List.of("works", "asks"), Key::of)
                        .concurrency(2)
                        .run((branch, item) -> {
                            if (item.equals("asks")) {
                                return shown(branch.approval("ok", a -> a.timeout(Duration.ofDays(1))));
                            }
                            return branch.step("work", String.class, _ -> {
                                mayEnd.await();
                                return item;
                            });
                        }))));
        try {
            Await.until("it asks", () -> run.approve("branch[asks]/ok", "ann", "fine"));
        } finally {
            mayEnd.countDown();
        }
        assertEquals("works,approved by ann", run.result(SOON));
    }

    @Test
    void a_decision_without_an_open_review_returns_false() {
        Workflow<String, String> flow = flow((ctx, text) -> ctx.effect("mail")
                .key("news")
                .oncePer(Duration.ofDays(1))
                .data(text)
                .onChange(ChangedEffectDataPolicy.REVIEW)
                .repeatable("a test")
                .call(String.class, _ -> text));
        semel.register(flow);
        RunHandle<String> first = semel.start(flow, "x");
        assertEquals("x", first.result(SOON));
        RunHandle<String> changed = semel.start(flow, "y");
        untilWaiting(changed, "review");
        assertFalse(changed.decideChangedMessage("mial", true, "ann", "a typo"));
        restart();
        semel.register(flow);
        RunHandle<String> again = semel.run(flow, changed.id());
        assertTrue(again.decideChangedMessage("mail", true, "ann", "yes"));
        assertEquals("y", again.result(SOON));
    }
}
