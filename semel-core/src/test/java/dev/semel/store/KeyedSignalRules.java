package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.run.RunId;
import dev.semel.store.KeyedSignalStoreWriteCommand.ListenResult;
import dev.semel.store.KeyedSignalStoreWriteCommand.SendResult;
import dev.semel.store.StoreWrite.RunExecution;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** A signal reaches all who listen, or the first who comes; never nobody, never one of them twice. */
interface KeyedSignalRules {
    long KEPT = KeyedSignalStoreWriteCommand.RETENTION.toNanos() / 1_000;

    TestStoreClient client();

    private KeyedSignalStoreWriteCommand.SignalAddress to(String key) {
        return new KeyedSignalStoreWriteCommand.SignalAddress(client().ws, "paid", key);
    }

    private SendResult post(String key, String signal, String value) {
        return post(new KeyedSignalStoreWriteCommand.SendKeyedSignal(
                to(key), signal, client().id(), TestStoreClient.bytes(key + value), value));
    }

    private SendResult post(KeyedSignalStoreWriteCommand.SendKeyedSignal send) {
        return client().change(new StoreWriteCommand.KeyedSignalCommand<>(send));
    }

    private ListenResult listen(RunExecution by, String path, String key) {
        return client().change(
                        new StoreWriteCommand.KeyedSignalCommand<>(new KeyedSignalStoreWriteCommand.StartListening(
                                to(key), new KeyedSignalStoreWriteCommand.SignalWaiter(by, path), false, 0)));
    }

    private ListenResult hush(RunExecution by, String path) {
        return client().change(
                        new StoreWriteCommand.KeyedSignalCommand<>(new KeyedSignalStoreWriteCommand.StopListening(
                                new KeyedSignalStoreWriteCommand.SignalWaiter(by, path))));
    }

    private RunExecution driver() {
        return new RunExecution(client().fresh(), 1);
    }

    private SendResult sent(RunExecution... runs) {
        return sent(false, runs);
    }

    private SendResult sent(boolean repeated, RunExecution... runs) {
        return new SendResult.Sent(
                Stream.of(runs).map(RunExecution::run).toList(), StoreFixture.START + KEPT, repeated);
    }

    private List<String> values(RunExecution by) {
        return client().reads.signals(by.run()).stream()
                .map(DatabaseRows.SignalRow::value)
                .toList();
    }

    @Test
    default void a_wait_with_a_start_time_ignores_signals_kept_before() {
        RunExecution by = driver();
        post("o1", "old", "1");
        client().fixture.setTime(StoreFixture.START + 10);
        var ear = new KeyedSignalStoreWriteCommand.SignalWaiter(by, "wait");
        assertEquals(
                ListenResult.NOTHING,
                client().change(new StoreWriteCommand.KeyedSignalCommand<>(
                        new KeyedSignalStoreWriteCommand.StartListening(
                                to("o1"), ear, false, StoreFixture.START + 1))));
        post("o1", "new", "2");
        assertEquals(1, values(by).size(), "the one that came while it listened");
        RunExecution other = driver();
        var again = new KeyedSignalStoreWriteCommand.SignalWaiter(other, "wait");
        assertEquals(
                ListenResult.SIGNAL,
                client().change(new StoreWriteCommand.KeyedSignalCommand<>(
                        new KeyedSignalStoreWriteCommand.StartListening(to("o1"), again, false, StoreFixture.START))),
                "the old one is still there for whoever wants it");
    }

    @Test
    default void a_signal_goes_to_the_waiting_run_and_wakes_it() {
        RunExecution by = driver();
        assertEquals(ListenResult.NOTHING, listen(by, "wait", "o1"));
        client().apply(TestStoreClient.rest(by, StoreWrite.Suspension.NEVER, 0));
        assertFalse(client().freeWork());
        assertEquals(sent(by), post("o1", "evt", "{\"a\":1}"));
        assertEquals(List.of("{\"a\":1}"), values(by));
        assertEquals(List.of(new RunExecution(by.run(), 2)), client().claim());
        assertEquals(0, client().fixture.count("semel_signal_wait"), "it heard what it waited for");
    }

    @Test
    default void a_signal_goes_to_all_current_waits_and_to_no_later_one() {
        RunExecution one = driver();
        RunExecution two = driver();
        RunExecution late = driver();
        listen(one, "wait", "o1");
        listen(two, "wait", "o1");
        assertEquals(sent(one, two), post("o1", "evt", "1"));
        assertEquals(ListenResult.NOTHING, listen(late, "wait", "o1"));
        assertEquals(List.of(), values(late));
    }

    @Test
    default void a_signal_reaches_more_waits_than_one_transaction_takes() {
        List<RunExecution> waiting = listeners(2_100);
        var send = new KeyedSignalStoreWriteCommand.SendKeyedSignal(
                to("o1"), "evt", client().id(), TestStoreClient.bytes("o11"), "1");
        SendResult.Sent first = (SendResult.Sent) post(send);
        assertTrue(first.more());
        client().fixture.setTime(StoreFixture.START + 1);
        RunExecution late = driver();
        assertEquals(ListenResult.NOTHING, listen(late, "wait", "o1"));
        // CRASH: the sender got no response and repeats the signal with its id.
        SendResult.Sent repeated = (SendResult.Sent) post("o1", "evt", "1");
        assertTrue(repeated.repeated() && repeated.more());
        SendResult.Sent all = (SendResult.Sent) post(send);
        assertEquals(waiting.stream().map(RunExecution::run).toList(), all.runs());
        assertFalse(all.more());
        assertEquals(all, post(send), "sent again it is only reported");
        assertEquals(List.of(), values(late), "its wait began after the signal");
        assertEquals(2_100, client().fixture.count("semel_signal"));
        assertEquals(1, client().fixture.count("semel_signal_wait"));
    }

    private List<RunExecution> listeners(int count) {
        List<RunExecution> all = new ArrayList<>();
        for (int from = 0; from < count; from += 300) {
            List<StoreWrite.AdmitRun> admits = Stream.generate(() -> client().admit(client().id()))
                    .limit(300)
                    .toList();
            client().applyAll(admits);
            List<StoreWrite<?>> listens = new ArrayList<>();
            for (StoreWrite.AdmitRun admit : admits) {
                RunExecution by = new RunExecution(admit.run().id(), 1);
                all.add(by);
                listens.add(new StoreWrite.ExecuteCommand<>(
                        new StoreWriteCommand.KeyedSignalCommand<>(new KeyedSignalStoreWriteCommand.StartListening(
                                to("o1"), new KeyedSignalStoreWriteCommand.SignalWaiter(by, "wait"), false, 0))));
            }
            client().applyAll(listens);
        }
        return all;
    }

    @Test
    default void a_signal_without_a_waiter_is_kept_for_the_first_wait() {
        assertEquals(sent(), post("o1", "evt", "1"));
        RunExecution first = driver();
        RunExecution second = driver();
        assertEquals(ListenResult.SIGNAL, listen(first, "wait", "o1"));
        assertEquals(ListenResult.NOTHING, listen(second, "wait", "o1"));
        assertEquals(List.of("1"), values(first));
        assertEquals(List.of(), values(second));
    }

    @Test
    default void kept_signals_are_delivered_in_arrival_order_one_per_wait() {
        post("o1", "b", "1");
        client().fixture.setTime(StoreFixture.START + 1);
        post("o1", "a", "2");
        RunExecution by = driver();
        assertEquals(ListenResult.SIGNAL, listen(by, "wait", "o1"));
        assertEquals(ListenResult.SIGNAL, listen(by, "wait", "o1"), "asked again it has this one");
        assertEquals(List.of("1"), values(by));
        assertEquals(ListenResult.SIGNAL, listen(by, "next", "o1"));
        assertEquals(List.of("1", "2"), values(by));
    }

    @Test
    default void other_keys_names_and_workspaces_do_not_match() {
        int other = client().workspace("two").ws();
        RunExecution by = driver();
        listen(by, "wait", "o1");
        assertEquals(sent(), post("o2", "a", "1"));
        for (KeyedSignalStoreWriteCommand.SignalAddress to : List.of(
                new KeyedSignalStoreWriteCommand.SignalAddress(other, "paid", "o1"),
                new KeyedSignalStoreWriteCommand.SignalAddress(client().ws, "sent", "o1"))) {
            assertEquals(
                    sent(),
                    post(new KeyedSignalStoreWriteCommand.SendKeyedSignal(
                            to, "a", client().id(), TestStoreClient.bytes("d"), "1")));
        }
        assertEquals(List.of(), values(by));
    }

    @Test
    default void the_same_signal_again_arrives_once_and_names_its_receiver() {
        RunExecution by = driver();
        listen(by, "wait", "o1");
        assertEquals(sent(by), post("o1", "evt", "1"));
        listen(by, "next", "o1");
        assertEquals(sent(true, by), post("o1", "evt", "1"));
        assertEquals(List.of("1"), values(by));
        assertEquals(sent(), post("o2", "early", "1"));
        assertEquals(sent(true), post("o2", "early", "1"));
        listen(by, "third", "o2");
        assertEquals(sent(true, by), post("o2", "early", "1"));
    }

    @Test
    default void another_signal_under_the_same_id_is_rejected() {
        post("o1", "evt", "1");
        assertEquals(new SendResult.DifferentSignal(), post("o1", "evt", "2"));
        assertEquals(new SendResult.DifferentSignal(), post("o2", "evt", "1"));
        assertEquals(1, client().fixture.count("semel_keyed_signal"));
    }

    @Test
    default void a_signal_applied_again_after_a_lost_response_is_no_repeat() {
        RunExecution by = driver();
        listen(by, "wait", "o1");
        var send = new KeyedSignalStoreWriteCommand.SendKeyedSignal(
                to("o1"), "evt", client().id(), TestStoreClient.bytes("d"), "1");
        assertEquals(sent(by), post(send));
        assertEquals(sent(by), post(send));
        assertEquals(List.of("1"), values(by));
    }

    @Test
    default void an_ended_wait_gets_nothing_and_the_signal_is_kept() {
        RunExecution by = driver();
        listen(by, "wait", "o1");
        assertEquals(ListenResult.NOTHING, hush(by, "wait"));
        assertEquals(sent(), post("o1", "evt", "1"));
        assertEquals(List.of(), values(by));
    }

    @Test
    default void a_signal_that_arrived_before_the_end_of_the_wait_is_returned() {
        RunExecution by = driver();
        listen(by, "wait", "o1");
        post("o1", "evt", "1");
        assertEquals(ListenResult.SIGNAL, hush(by, "wait"));
        assertEquals(ListenResult.SIGNAL, listen(by, "wait", "o1"));
    }

    @Test
    default void an_ended_or_cancelling_run_gets_no_signal() {
        RunExecution ended = driver();
        RunExecution cancelled = driver();
        listen(ended, "wait", "o1");
        listen(cancelled, "wait", "o1");
        client().apply(client().end(ended));
        client().change(new StoreWriteCommand.CancelRun(client().ws, cancelled.run(), "a", "r"));
        assertEquals(sent(), post("o1", "evt", "1"));
        assertEquals(ListenResult.GONE, listen(ended, "wait", "o1"));
        assertEquals(ListenResult.SIGNAL, listen(driver(), "wait", "o1"));
    }

    @Test
    default void a_wait_inside_an_undo_of_a_cancelled_run_gets_its_signal() {
        RunExecution by = driver();
        client().change(new StoreWriteCommand.CancelRun(client().ws, by.run(), "a", "r"));
        var listen = new KeyedSignalStoreWriteCommand.StartListening(
                to("o1"), new KeyedSignalStoreWriteCommand.SignalWaiter(by, "undo"), true, 0);
        assertEquals(ListenResult.NOTHING, client().change(new StoreWriteCommand.KeyedSignalCommand<>(listen)));
        assertEquals(sent(by), post("o1", "evt", "1"));
    }

    @Test
    default void an_execution_that_lost_its_run_neither_starts_nor_stops_a_wait() {
        RunExecution old = driver();
        RunId run = old.run();
        listen(old, "wait", "o1");
        client().apply(TestStoreClient.rest(old, 0, 0));
        assertEquals(ListenResult.GONE, hush(old, "wait"), "nobody drives it");
        RunExecution now = client().claim().getFirst();
        assertEquals(ListenResult.GONE, listen(old, "other", "o1"));
        assertEquals(ListenResult.GONE, hush(old, "wait"));
        assertEquals(sent(now), post("o1", "evt", "1"));
        assertEquals(List.of("1"), values(new RunExecution(run, 2)));
    }

    @Test
    default void a_keyed_signal_before_the_suspension_is_not_missed() {
        RunExecution by = driver();
        listen(by, "wait", "o1");
        post("o1", "evt", "1");
        client().apply(TestStoreClient.rest(by, StoreWrite.Suspension.NEVER, 0));
        assertEquals(List.of(new RunExecution(by.run(), 2)), client().claim());
    }

    @Test
    default void a_wait_that_changed_its_key_gets_only_the_new_key() {
        RunExecution by = driver();
        listen(by, "wait", "o1");
        listen(by, "wait", "o2");
        assertEquals(sent(), post("o1", "a", "1"));
        assertEquals(sent(by), post("o2", "b", "2"));
    }

    @Test
    default void a_signal_is_kept_and_known_for_seven_days_and_then_deleted() {
        post("o1", "evt", "1");
        client().fixture.setTime(StoreFixture.START + KEPT - 1);
        assertEquals(sent(true), post("o1", "evt", "1"));
        client().fixture.setTime(StoreFixture.START + KEPT);
        assertEquals(ListenResult.NOTHING, listen(driver(), "wait", "o1"), "it is over to the microsecond");
        assertEquals(
                0,
                client().change(new StoreWriteCommand.KeyedSignalCommand<>(
                        new KeyedSignalStoreWriteCommand.DeleteExpiredSignals(10))),
                "an hour behind");
        assertFalse(client().reads.hasExpiredKeyedSignal());
        client().fixture
                .setTime(StoreFixture.START + KEPT + KeyedSignalStoreWriteCommand.DELETE_DELAY.toNanos() / 1_000);
        assertTrue(client().reads.hasExpiredKeyedSignal());
        assertEquals(
                1,
                client().change(new StoreWriteCommand.KeyedSignalCommand<>(
                        new KeyedSignalStoreWriteCommand.DeleteExpiredSignals(10))));
        assertEquals(0, client().fixture.count("semel_keyed_signal"));
    }

    @Test
    default void an_id_is_free_again_after_its_window() {
        post("o1", "evt", "1");
        client().fixture.setTime(StoreFixture.START + KEPT);
        RunExecution by = driver();
        listen(by, "wait", "o2");
        assertEquals(
                new SendResult.Sent(List.of(by.run()), StoreFixture.START + 2 * KEPT, false),
                post("o2", "evt", "another signal"));
    }

    @Test
    default void a_wait_is_deleted_with_its_run() {
        RunExecution by = driver();
        listen(by, "wait", "o1");
        client().apply(client().end(by));
        client().fixture.setTime(StoreFixture.START + 10);
        assertEquals(1, client().change(new StoreWriteCommand.DeleteRuns(List.of(by.run()), StoreFixture.START + 1)));
        assertEquals(0, client().fixture.count("semel_signal_wait"));
    }

    @Test
    default void no_locking_row_is_left_behind() {
        listen(driver(), "wait", "o1");
        post("o1", "evt", "1");
        post("o2", "evt 2", "1");
        assertEquals(0, client().fixture.count("semel_queue"));
    }

    @Test
    default void a_signal_key_is_short_and_printable() {
        for (String bad : List.of("", "x".repeat(256), "a\nb")) {
            assertThrows(
                    IllegalArgumentException.class,
                    () -> new KeyedSignalStoreWriteCommand.SignalAddress(1, "paid", bad));
        }
    }

    @Test
    default void a_large_signal_reaches_many_waits_in_several_transactions() {
        List<RunExecution> waiting = Stream.generate(this::driver).limit(10).toList();
        waiting.forEach(by -> listen(by, "wait", "o1"));
        String large = "\"" + "a".repeat(1024 * 1024 - 2) + "\"";
        List<Integer> received = new ArrayList<>();
        boolean more = true;
        while (more) {
            SendResult.Sent sent = (SendResult.Sent) post("o1", "evt", large);
            received.add(sent.runs().size());
            more = sent.more();
        }
        assertEquals(List.of(4, 8, 10), received);
        for (RunExecution by : waiting) {
            assertEquals(List.of(large), values(by));
        }
    }
}
