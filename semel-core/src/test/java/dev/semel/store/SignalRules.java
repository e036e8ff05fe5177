package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;

import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.StoreWrite.RunExecution;
import dev.semel.store.StoreWriteCommand.SignalResult;
import java.util.List;
import org.junit.jupiter.api.Test;

/** A signal arrives once, and whenever it comes the run that waits for it is taken up. */
interface SignalRules {
    TestStoreClient client();

    private StoreWriteCommand.SendSignal signal(RunId run, String key) {
        return new StoreWriteCommand.SendSignal(client().ws, run, "paid", key, "{\"a\":1}");
    }

    @Test
    default void a_signal_makes_a_waiting_run_due() {
        RunId run = client().fresh();
        client().apply(TestStoreClient.rest(new RunExecution(run, 1), StoreWrite.Suspension.NEVER, 0));
        assertFalse(client().freeWork());
        assertEquals(SignalResult.DELIVERED, client().change(signal(run, "k")));
        assertEquals(List.of(new RunExecution(run, 2)), client().claim());
    }

    @Test
    default void a_signal_makes_a_run_in_doubt_due() {
        RunId run = client().fresh();
        var rest = new StoreWrite.Suspension(StoreWrite.Suspension.NEVER, "{}", 0, false, false);
        client().apply(TestStoreClient.ops(run));
        client().apply(new StoreWrite.AppendJournal(
                new RunExecution(run, 1), 0, "", RunState.IN_DOUBT, List.of(), rest));
        assertEquals(SignalResult.DELIVERED, client().change(signal(run, "k")));
        assertEquals(List.of(new RunExecution(run, 2)), client().claim());
    }

    @Test
    default void a_signal_before_the_suspension_is_not_missed() {
        RunId run = client().fresh();
        client().change(signal(run, "k"));
        assertFalse(client().freeWork(), "somebody drives it");
        client().apply(TestStoreClient.rest(new RunExecution(run, 1), StoreWrite.Suspension.NEVER, 0));
        RunExecution next = client().claim().getFirst();
        assertEquals(run, next.run());
        client().apply(TestStoreClient.rest(next, StoreWrite.Suspension.NEVER, 1));
        assertEquals(List.of(), client().claim(), "it has seen this one");
        client().change(signal(run, "l"));
        assertEquals(List.of(new RunExecution(run, 3)), client().claim());
    }

    @Test
    default void a_signal_and_a_suspension_in_one_batch_lose_nothing_in_either_order() {
        RunId one = client().fresh();
        RunId two = client().fresh();
        client().applyAll(
                        new StoreWrite.ExecuteCommand<>(signal(one, "k")),
                        TestStoreClient.rest(new RunExecution(one, 1), StoreWrite.Suspension.NEVER, 0),
                        TestStoreClient.rest(new RunExecution(two, 1), StoreWrite.Suspension.NEVER, 0),
                        new StoreWrite.ExecuteCommand<>(signal(two, "k")));
        assertEquals(List.of(new RunExecution(one, 2), new RunExecution(two, 2)), client().claim());
    }

    @Test
    default void a_signal_with_one_key_arrives_once() {
        RunId run = client().fresh();
        assertEquals(SignalResult.DELIVERED, client().change(signal(run, "k")));
        assertEquals(SignalResult.REPEATED, client().change(signal(run, "k")));
        assertEquals(SignalResult.DELIVERED, client().change(signal(run, "l")));
        client().apply(TestStoreClient.rest(new RunExecution(run, 1), StoreWrite.Suspension.NEVER, 2));
        assertEquals(SignalResult.REPEATED, client().change(signal(run, "l")));
        assertEquals(List.of(), client().claim(), "a repeat wakes nobody");
        List<DatabaseRows.SignalRow> signals = client().reads.signals(run);
        assertEquals(
                List.of("k", "l"),
                signals.stream().map(DatabaseRows.SignalRow::key).toList());
        assertEquals(
                new DatabaseRows.SignalRow(signals.getFirst().id(), "paid", "k", "{\"a\":1}", StoreFixture.START),
                signals.getFirst());
    }

    @Test
    default void a_signal_to_a_missing_or_ended_run_returns_its_status() {
        RunId run = client().fresh();
        int other = client().workspace("two").ws();
        assertEquals(
                SignalResult.GONE, client().change(new StoreWriteCommand.SendSignal(other, run, "paid", "k", "{}")));
        assertEquals(SignalResult.GONE, client().change(signal(client().id(), "k")));
        client().apply(client().end(run));
        assertEquals(SignalResult.GONE, client().change(signal(run, "k")));
        assertEquals(0, client().fixture.count("semel_signal"));
    }

    @Test
    default void a_signal_does_not_start_a_run_before_its_time() {
        RunId run = client().id();
        client().apply(client().gated(run, new NewRun.StartConditions(List.of(), null, 100, null)));
        assertEquals(SignalResult.DELIVERED, client().change(signal(run, "k")));
        assertEquals(List.of(), client().claim());
        client().fixture.setTime(StoreFixture.START + 100);
        assertEquals(List.of(new RunExecution(run, 1)), client().claim());
    }

    @Test
    default void the_unread_signals_of_a_run_are_limited_in_bytes() {
        RunId run = client().fresh();
        String large = "\"" + "a".repeat(1024 * 1024 - 2) + "\"";
        for (int i = 0; i < 16; i++) {
            assertEquals(
                    SignalResult.DELIVERED,
                    client().change(new StoreWriteCommand.SendSignal(client().ws, run, "paid", "k" + i, large)));
        }
        assertEquals(SignalResult.FULL, client().change(signal(run, "more")));
        assertEquals(SignalResult.REPEATED, client().change(signal(run, "k0")), "a repeat is not rejected");
        assertEquals(16, client().fixture.count("semel_signal"));
        var decision = new StoreWriteCommand.SendSignal(client().ws, run, "#approval:ok", "decision", "{}");
        assertEquals(SignalResult.DELIVERED, client().change(decision), "a decision always arrives");
    }
}
