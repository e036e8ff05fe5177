package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.admission.StartConditions;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import java.util.List;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** A check that cannot fail is a defect: each rule is broken once. */
final class InvariantsTest {
    @ParameterizedTest
    @CsvSource(delimiter = '|', textBlock = """
        a name stands for a run            | UPDATE semel_key SET run = zeroblob(16)
        both at work and ended, or neither | DELETE FROM semel_unfinished_run
        both at work and ended, or neither | INSERT INTO semel_finished_run SELECT run, 10, 0, NULL, NULL, NULL, NULL, '', 0, NULL, NULL FROM semel_unfinished_run
        row of semel_unfinished_run is about no run  | INSERT INTO semel_unfinished_run (run, workflow_id, claim_count, state, start_blocked) VALUES (zeroblob(16), 'wf', 0, 2, 0)
        row of semel_finished_run is about no run   | INSERT INTO semel_finished_run VALUES (zeroblob(16), 10, 0, NULL, NULL, NULL, NULL, '', 0, NULL, NULL)
        row of semel_journal is about no   | INSERT INTO semel_journal VALUES (zeroblob(16), 0, 0, '')
        row of semel_duplicate_request is about no   | UPDATE semel_duplicate_request SET run = zeroblob(16)
        row of semel_duplicate_count is about no run   | UPDATE semel_duplicate_count SET run = zeroblob(16)
        lineage leads to no run            | UPDATE semel_run SET lineage = zeroblob(16)
        previous_run leads to no run         | UPDATE semel_run SET previous_run = zeroblob(16)
        duplicate_of leads to no run       | UPDATE semel_run SET duplicate_of = zeroblob(16)
        counts are not the sums            | UPDATE semel_duplicate_count SET replays = replays + 1
        counts are not the sums            | UPDATE semel_duplicate_count SET conflicts = 9
        requests are not counted           | DELETE FROM semel_duplicate_count
        two runs have one chosen id        | UPDATE semel_run SET chosen_id = 'same'
        a journal has a hole               | UPDATE semel_journal SET seq = 1
        belongs to a lease that is gone    | UPDATE semel_unfinished_run SET owner = 9
        a fence slot is left of a lease    | INSERT INTO semel_fence (lease, slot) VALUES (9, 0)
        a fence slot knows another catalog | UPDATE semel_fence SET catalog_revision = 0
        belongs to another workspace       | UPDATE semel_key SET ws = 9
        a workflow has no text             | UPDATE semel_workflow SET version = 9
        a candidate has no text            | UPDATE semel_workflow SET candidate_version = 9, rollout_percent = 10
        a version that nobody published    | UPDATE semel_run SET version = 9
        row of semel_run_link is about no run  | UPDATE semel_run_link SET run = zeroblob(16)
        row of semel_effect is about no    | UPDATE semel_effect SET run = zeroblob(16)
        row of semel_signal is about no    | UPDATE semel_signal SET run = zeroblob(16)
        row of semel_debounce is about no run | UPDATE semel_debounce SET run = zeroblob(16)
        parent leads to no run             | UPDATE semel_run_link SET parent = zeroblob(16)
        replay_of leads to no run          | UPDATE semel_run_link SET replay_of = zeroblob(16)
        that is not at work has a place    | UPDATE semel_queue_entry SET run = zeroblob(16)
        a place is in no queue             | DELETE FROM semel_queue
        a place is in no queue             | UPDATE semel_queue SET last_ticket = 0
        more runs of a queue are begun     | UPDATE semel_queue_entry SET started = 1
        a run waits behind nobody          | UPDATE semel_queue_entry SET started = 0
        was let past one before it         | UPDATE semel_queue_entry SET started = 1 - started
        that waits for a place is free     | UPDATE semel_unfinished_run SET start_blocked = 0
        waits for a place and has all      | UPDATE semel_queue_entry SET started = 1
        has its places and has not         | UPDATE semel_unfinished_run SET queue_state = 1
        enters a queue later has a place   | UPDATE semel_queue_entry SET ticket = -ticket
        effect belongs to another          | UPDATE semel_effect SET ws = 9
        row of semel_signal_wait is about no  | UPDATE semel_signal_wait SET run = zeroblob(16)
        is kept and somebody listens for   | UPDATE semel_keyed_signal SET key = 'heard'
        a wait listens and has its signal  | UPDATE semel_signal_wait SET path = 'done'
        or one that is kept has no value   | UPDATE semel_keyed_signal SET value = ''
        is accepted and not done           | UPDATE semel_effect SET state = 2
        """)
    void every_invariant_can_fail(String rule, String tampering) {
        TestStoreClient client = new TestStoreClient(Dialect.SQLITE);
        try {
            RunId run = client.fresh(client.key("K"));
            client.fresh();
            client.apply(client.append(run, 0, "[]"));
            var conditions = new StartConditions(
                    List.of(new StartConditions.QueueLimit("Q", 1)),
                    null,
                    0,
                    new StartConditions.DebounceWindow("D", 1, 1));
            var links = new NewRun.RunParentage(null, run, run);
            client.apply(
                    client.admit(client.linked(client.id(), links, conditions, RunState.STARTED), List.of(), false));
            client.apply(client.gated(client.id(), new StartConditions(conditions.queueLimits(), null, 0, null)));
            client.apply(TestStoreClient.ops(run, TestEffect.of(client.ws, "d").reserve(run)));
            client.change(new StoreWriteCommand.SendSignal(client.ws, run, "s", "k", "{}"));
            client.apply(new StoreWrite.RecordDuplicates(List.of(client.seen(run, false, 3))));
            signals(client, run);
            Invariants.check(client.fixture);
            client.store.close();
            client.fixture.execute(tampering);
            AssertionError broken = assertThrows(AssertionError.class, () -> Invariants.check(client.fixture));
            assertTrue(String.valueOf(broken.getMessage()).contains(rule), broken.getMessage());
        } finally {
            client.reads.close();
            client.fixture.close();
        }
    }

    /** One that is kept, one that was heard, and a wait that listens. */
    private static void signals(TestStoreClient client, RunId run) {
        for (String key : List.of("heard", "done")) {
            var to = new KeyedSignalStoreWriteCommand.SignalAddress(client.ws, "s", key);
            var ear = new KeyedSignalStoreWriteCommand.SignalWaiter(new StoreWrite.RunExecution(run, 1), key);
            client.change(new StoreWriteCommand.KeyedSignalCommand<>(
                    new KeyedSignalStoreWriteCommand.StartListening(to, ear, false, 0)));
        }
        for (String key : List.of("done", "kept")) {
            var to = new KeyedSignalStoreWriteCommand.SignalAddress(client.ws, "s", key);
            client.change(new StoreWriteCommand.KeyedSignalCommand<>(new KeyedSignalStoreWriteCommand.SendKeyedSignal(
                    to, key, client.id(), TestStoreClient.bytes("d"), "{}")));
        }
    }
}
