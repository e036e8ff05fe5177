package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.semel.admission.RunDeduplicationKeyRecord;
import dev.semel.admission.TriggerSource;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Values at their limits, and values that a store cannot hold. */
interface LimitRules {
    TestStoreClient client();

    private NewRun withInput(RunId id, String input) {
        return new NewRun(
                id,
                client().ws,
                null,
                TestStoreClient.WORKFLOW,
                1,
                RunState.STARTED,
                new NewRun.TriggerOrigin(TriggerSource.HTTP, "äctor 😀", "k", "correlation \"ß\" 漢字"),
                input,
                new byte[0],
                NewRun.RunParentage.NONE,
                null);
    }

    @Test
    default void the_longest_keys_and_run_ids_are_held_and_differ_in_their_last_character() {
        String key = "k".repeat(254);
        String chosen = "r".repeat(127);
        RunId first = client().fresh(client().key(key + "1"), client().chosen(chosen + "1"));
        RunId second = client().fresh(client().key(key + "2"), client().chosen(chosen + "2"));
        assertEquals(
                first,
                assertInstanceOf(RunDeduplicationKeyRecord.class, client().holder(client().key(key + "1")))
                        .run());
        assertEquals(
                second,
                assertInstanceOf(RunDeduplicationKeyRecord.class, client().holder(client().chosen(chosen + "2")))
                        .run());
        assertEquals(
                second,
                client().reads
                        .keyRecords(client().ws, key + "2")
                        .getFirst()
                        .keyRecord()
                        .run());
    }

    @Test
    default void a_megabyte_of_input_is_read_back_unchanged() {
        String input = "{\"x\":\"" + "€😀\\u0000 a".repeat(80_000) + "\"}";
        RunId id = client().id();
        client().apply(client().admit(withInput(id, input), List.of(), true));
        DatabaseRows.RunRow run = client().runOf(id);
        assertEquals(input, run.input());
        assertEquals("äctor 😀", run.origin().actor());
        assertEquals("correlation \"ß\" 漢字", run.origin().correlationId());
    }

    @Test
    default void a_large_batch_is_one_transaction() {
        List<StoreWrite.AdmitRun> batch = java.util.stream.IntStream.range(0, 512)
                .mapToObj(i -> client().admit(client().id(), client().key("key " + i % 300)))
                .toList();
        List<Object> outcomes = client().applyAll(batch);
        assertEquals(
                300,
                outcomes.stream()
                        .filter(StoreWrite.AdmitResult.Fresh.class::isInstance)
                        .count());
        assertEquals(
                212,
                outcomes.stream()
                        .filter(StoreWrite.AdmitResult.KeysHeld.class::isInstance)
                        .count());
        assertEquals(300, client().fixture.count("semel_run"));
    }

    @Test
    default void an_empty_batch_and_empty_values_are_accepted() {
        assertEquals(List.of(), client().applyAll());
        assertEquals(List.of(true), client().applyAll(new StoreWrite.RecordDuplicates(List.of())));
        RunId id = client().id();
        client().apply(client().admit(withInput(id, ""), List.of(), true));
        assertEquals("", client().runOf(id).input());
        assertEquals(List.of(), TestStoreClient.runs(client().apply(new StoreWrite.ClaimRuns(0))));
        assertEquals(0, client().change(new StoreWriteCommand.DeleteTombstones(List.of())));
    }

    @Test
    default void a_value_that_violates_the_schema_rejects_its_whole_batch() {
        RunId run = client().fresh();
        RunId innocent = client().id();
        assertThrows(
                StoreFailure.ValueRejected.class,
                () -> client().applyAll(
                                client().admit(innocent, client().key("innocent")),
                                client().end(run),
                                new StoreWrite.RecordDuplicates(List.of(client().seen(run, false, 0)))));
        assertEquals(1, client().fixture.count("semel_run"));
        assertEquals(0, client().fixture.count("semel_key"));
        assertEquals(0, client().fixture.count("semel_finished_run"));
        assertEquals(0, client().fixture.count("semel_duplicate_request"));
        client().applyAll(client().admit(innocent, client().key("innocent")), client().end(run));
        assertEquals(2, client().fixture.count("semel_run"));
    }

    @Test
    default void a_run_end_with_a_non_final_state_is_rejected() {
        RunId run = client().fresh();
        var odd = new StoreWrite.EndRun(
                new StoreWrite.RunExecution(run, 1),
                RunState.RUNNING,
                StoreWrite.RunResult.output("1"),
                "[]",
                List.of(),
                false);
        assertThrows(StoreFailure.ValueRejected.class, () -> client().apply(odd));
        assertEquals(RunState.STARTED, client().runOf(run).state());
    }

    /** PostgreSQL has no NUL in its texts and refuses the batch; SQLite stores it. Neither loses half of a value. */
    @Test
    default void a_nul_character_is_stored_or_rejected_completely() {
        RunId id = client().id();
        var admit = client().admit(withInput(id, "a\u0000b"), List.of(client().key("K")), true);
        try {
            client().apply(admit);
            assertEquals("a\u0000b", client().runOf(id).input());
        } catch (StoreFailure.ValueRejected e) {
            assertEquals(0, client().fixture.count("semel_run"));
            assertEquals(0, client().fixture.count("semel_key"));
        }
    }
}
