package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.RunStatus;
import dev.semel.engine.ClockAndRandomSource;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.workflow.Key;
import dev.semel.workflow.Signal;
import dev.semel.workflow.Workflow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.api.Test;

/** Signals by a key: whoever waits gets them, whenever they come, and each wait one. */
final class KeyedSignalSenderTest extends SqliteTestBase {
    private static final Signal<String> PAID = Signal.of("paid", String.class);
    private static final Workflow<String, String> ORDER =
            Workflow.define("order", String.class, String.class).body((ctx, id) -> ctx.await(PAID.withKey(id)));
    private static final Workflow<String, String> IMPATIENT = Workflow.define("impatient", String.class, String.class)
            .body((ctx, id) -> ctx.await(PAID.withKey(id), Duration.ofHours(1)).orElse("nobody paid"));

    private final ManualClock clock = ManualClock.startingNow();

    @Override
    protected ClockAndRandomSource ambient() {
        return clock.ambient();
    }

    private KeyedSignalSender.SignalDelivery send(String order, String value, String once) {
        return KeyedSignalSender.of(semel).send(PAID.withKey(order), value, Key.of(once));
    }

    private RunHandle<String> started(Workflow<String, String> workflow, String order) {
        semel.register(workflow);
        return semel.start(workflow, order);
    }

    @Test
    void a_keyed_signal_reaches_the_run_that_waits_with_its_key() {
        RunHandle<String> run = started(ORDER, "o1");
        untilWaiting(run, "signal");
        assertEquals(List.of(run.id()), send("o1", "49 EUR", "evt_1").runIds());
        assertEquals("49 EUR", run.result(SOON));
    }

    @Test
    void the_wait_reason_names_the_signal_and_the_key() {
        RunHandle<String> run = started(ORDER, "o1");
        untilWaiting(run, "signal");
        assertEquals(
                "{\"for\":\"signal\",\"step\":\"paid\",\"detail\":\"paid\",\"key\":\"o1\"}",
                Objects.requireNonNull(run.waitingFor()));
    }

    @Test
    void an_early_signal_waits_for_the_run_also_across_a_restart() {
        KeyedSignalSender.SignalDelivery signalDelivery = send("o1", "early", "evt_1");
        assertEquals(List.of(), signalDelivery.runIds());
        restart();
        assertEquals("early", started(ORDER, "o1").result(SOON));
        RunHandle<String> second = started(ORDER, "o1");
        untilWaiting(second, "signal");
        KeyedSignalSender.SignalDelivery again = send("o1", "early", "evt_1");
        assertTrue(again.replayed());
        assertEquals(RunStatus.WAITING, second.status(), "it was used up by the first");
    }

    @Test
    void a_suspended_run_whose_process_is_gone_gets_its_signal() {
        RunHandle<String> run = started(ORDER, "o1");
        untilWaiting(run, "signal");
        restart();
        send("o1", "late", "evt_1");
        semel.register(ORDER);
        assertEquals("late", semel.run(ORDER, run.id()).result(SOON));
    }

    @Test
    void every_waiting_run_gets_the_signal_once() {
        RunHandle<String> one = started(ORDER, "o1");
        RunHandle<String> two = started(IMPATIENT, "o1");
        untilWaiting(one, "signal");
        untilWaiting(two, "signal");
        assertEquals(2, send("o1", "x", "evt_1").runIds().size());
        assertEquals("x", one.result(SOON));
        assertEquals("x", two.result(SOON));
    }

    @Test
    void a_keyed_signal_reaches_more_runs_than_one_transaction_takes() {
        List<RunHandle<String>> runs = new ArrayList<>();
        semel.register(ORDER);
        for (int i = 0; i < 1_050; i++) {
            runs.add(semel.start(ORDER, "o1"));
        }
        runs.forEach(run -> untilWaiting(run, "signal"));
        assertEquals(
                runs.stream().map(RunHandle::id).sorted().toList(),
                send("o1", "x", "evt_1").runIds().stream().sorted().toList());
        runs.forEach(run -> assertEquals("x", run.result(SOON)));
    }

    @Test
    void a_signal_to_the_run_also_ends_the_wait_and_the_next_keyed_signal_is_kept() {
        RunHandle<String> run = started(ORDER, "o1");
        untilWaiting(run, "signal");
        assertTrue(run.signal(PAID, "by its id", Key.of("k")));
        assertEquals("by its id", run.result(SOON));
        assertEquals(List.of(), send("o1", "kept", "evt_1").runIds());
        assertEquals("kept", started(ORDER, "o1").result(SOON));
    }

    @Test
    void an_ended_wait_gets_nothing_and_the_signal_is_kept() {
        RunHandle<String> run = started(IMPATIENT, "o1");
        untilWaiting(run, "signal");
        clock.advance(Duration.ofHours(2));
        assertEquals("nobody paid", run.result(SOON));
        assertEquals(List.of(), send("o1", "kept", "evt_1").runIds());
        assertEquals("kept", started(ORDER, "o1").result(SOON));
    }

    @Test
    void a_cancelled_run_gets_no_signal() {
        RunHandle<String> run = started(ORDER, "o1");
        untilWaiting(run, "signal");
        run.cancel();
        assertEquals(List.of(), send("o1", "kept", "evt_1").runIds());
    }

    @Test
    void another_signal_under_the_same_id_is_a_conflict_and_is_not_sent() {
        send("o1", "x", "evt_1");
        SemelException refused = assertThrows(SemelException.class, () -> send("o1", "y", "evt_1"));
        assertEquals(ErrorCode.IDEMPOTENCY_KEY_CONFLICT, refused.code());
        assertEquals("x", started(ORDER, "o1").result(SOON));
    }

    @Test
    void a_signal_without_a_key_is_no_keyed_signal() {
        assertThrows(
                IllegalArgumentException.class,
                () -> KeyedSignalSender.of(semel).send(PAID, "x", Key.of("k")));
        assertThrows(IllegalArgumentException.class, () -> PAID.withKey(" "));
        assertThrows(IllegalArgumentException.class, () -> PAID.withKey("x".repeat(256)));
    }

    @Test
    void all_waiting_branches_are_shown() {
        Workflow<String, String> both = Workflow.define("both", String.class, String.class)
                .body((ctx, _) -> {
                    ctx.forEach("each", List.of("a", "b"), key -> key)
                            .concurrency(2)
                            .run((scope, key) -> scope.await(PAID.withKey(key)));
                    return "done";
                });
        RunHandle<String> run = started(both, "x");
        untilWaiting(run, "signal");
        String waits = Objects.requireNonNull(run.waitingFor());
        assertTrue(waits.contains("\"key\":\"a\"") && waits.contains("\"key\":\"b\""), waits);
        send("b", "1", "evt_b");
        send("a", "1", "evt_a");
        assertEquals("done", run.result(SOON));
    }
}
