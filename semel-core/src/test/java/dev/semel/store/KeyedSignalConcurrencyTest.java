package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.store.KeyedSignalStoreWriteCommand.ListenResult;
import dev.semel.store.KeyedSignalStoreWriteCommand.SendResult;
import dev.semel.store.StoreWrite.RunExecution;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.FutureTask;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;

/** On a real PostgreSQL: signals and those who begin to listen, at the same moment on several connections. */
final class KeyedSignalConcurrencyTest {
    private static final int ROUNDS = 60;

    private final TestStoreClient client = new TestStoreClient(Dialect.POSTGRES);
    private final WorkflowStore.BatchWriter second = client.store.openLane();

    @AfterEach
    void close() {
        second.close();
        client.close();
    }

    private KeyedSignalStoreWriteCommand.SignalAddress to(String key) {
        return new KeyedSignalStoreWriteCommand.SignalAddress(client.ws, "paid", key);
    }

    private StoreWrite<?> post(String key, String signal) {
        return new StoreWrite.ExecuteCommand<>(
                new StoreWriteCommand.KeyedSignalCommand<>(new KeyedSignalStoreWriteCommand.SendKeyedSignal(
                        to(key), signal, client.id(), TestStoreClient.bytes(signal), "{}")));
    }

    private StoreWrite<?> listen(RunExecution by, String key) {
        return new StoreWrite.ExecuteCommand<>(
                new StoreWriteCommand.KeyedSignalCommand<>(new KeyedSignalStoreWriteCommand.StartListening(
                        to(key), new KeyedSignalStoreWriteCommand.SignalWaiter(by, "wait"), false, 0)));
    }

    private StoreWrite<?> hush(RunExecution by) {
        return new StoreWrite.ExecuteCommand<>(
                new StoreWriteCommand.KeyedSignalCommand<>(new KeyedSignalStoreWriteCommand.StopListening(
                        new KeyedSignalStoreWriteCommand.SignalWaiter(by, "wait"))));
    }

    private Object onSecond(StoreWrite<?> write) {
        return second.apply(new CommitBatch(new CommitBatch.LeaseSlot(TestStoreClient.LEASE, 1), List.of(write)))
                .getFirst();
    }

    private int signals(RunExecution by) {
        return client.reads.signals(by.run()).size();
    }

    @Test
    void a_signal_concurrent_with_a_starting_wait_is_never_lost() throws Exception {
        int before = 0;
        for (int round = 0; round < ROUNDS; round++) {
            RunExecution by = new RunExecution(client.fresh(), 1);
            String key = "order " + round;
            StoreWrite<?> storeWrite = post(key, "signal " + round);
            FutureTask<Object> posted = BackgroundTask.start(() -> onSecond(storeWrite));
            Object heard = client.apply(listen(by, key));
            boolean delivered = ((SendResult.Sent) posted.get()).runs().equals(List.of(by.run()));
            assertEquals(heard == ListenResult.NOTHING, delivered, "who came second met who came first");
            assertEquals(1, signals(by), "round " + round);
            before += heard == ListenResult.SIGNAL ? 1 : 0;
        }
        System.out.println("signals: " + before + " of " + ROUNDS + " came before the wait");
    }

    @Test
    void a_signal_concurrent_with_an_ending_wait_is_either_delivered_or_kept() throws Exception {
        for (int round = 0; round < ROUNDS; round++) {
            RunExecution by = new RunExecution(client.fresh(), 1);
            String key = "order " + round;
            client.apply(listen(by, key));
            StoreWrite<?> storeWrite = post(key, "signal " + round);
            FutureTask<Object> posted = BackgroundTask.start(() -> onSecond(storeWrite));
            Object heard = client.apply(hush(by));
            boolean delivered = !((SendResult.Sent) posted.get()).runs().isEmpty();
            assertEquals(delivered, heard == ListenResult.SIGNAL);
            assertEquals(delivered ? 1 : 0, signals(by));
            RunExecution next = new RunExecution(client.fresh(), 1);
            assertEquals(delivered ? ListenResult.NOTHING : ListenResult.SIGNAL, client.apply(listen(next, key)));
        }
    }

    @Test
    void one_kept_signal_goes_to_one_of_two_concurrent_waits() throws Exception {
        for (int round = 0; round < ROUNDS; round++) {
            String key = "order " + round;
            client.apply(post(key, "signal " + round));
            RunExecution here = new RunExecution(client.fresh(), 1);
            RunExecution there = new RunExecution(client.fresh(), 1);
            FutureTask<Object> other = BackgroundTask.start(() -> onSecond(listen(there, key)));
            client.apply(listen(here, key));
            other.get();
            assertEquals(1, signals(here) + signals(there), "round " + round);
        }
    }

    @Test
    void one_signal_sent_concurrently_many_times_arrives_once() throws Exception {
        for (int round = 0; round < ROUNDS; round++) {
            RunExecution by = new RunExecution(client.fresh(), 1);
            String key = "order " + round;
            client.apply(listen(by, key));
            StoreWrite<?> one = post(key, "signal " + round);
            StoreWrite<?> two = post(key, "signal " + round);
            FutureTask<Object> other = BackgroundTask.start(() -> onSecond(one));
            List<SendResult.Sent> answers = new ArrayList<>();
            answers.add((SendResult.Sent) client.apply(two));
            answers.add((SendResult.Sent) other.get());
            assertEquals(1, answers.stream().filter(SendResult.Sent::repeated).count());
            assertTrue(answers.stream().allMatch(answer -> answer.runs().equals(List.of(by.run()))));
            assertEquals(1, signals(by));
        }
    }
}
