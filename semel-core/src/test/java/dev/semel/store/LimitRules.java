package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.semel.admission.RunDeduplicationKeyRecord;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.trigger.TriggerSource;
import java.util.List;
import org.junit.jupiter.api.Test;

/** Values at their limits, and values that a store cannot hold. */
interface LimitRules {
    TestStoreClient desk();

    private NewRun withInput(RunId id, String input) {
        return new NewRun(
                id,
                desk().ws,
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
        RunId first = desk().fresh(desk().key(key + "1"), desk().chosen(chosen + "1"));
        RunId second = desk().fresh(desk().key(key + "2"), desk().chosen(chosen + "2"));
        assertEquals(
                first,
                assertInstanceOf(RunDeduplicationKeyRecord.class, desk().holder(desk().key(key + "1")))
                        .run());
        assertEquals(
                second,
                assertInstanceOf(RunDeduplicationKeyRecord.class, desk().holder(desk().chosen(chosen + "2")))
                        .run());
        assertEquals(
                second,
                desk().reads
                        .keyRecords(desk().ws, key + "2")
                        .getFirst()
                        .keyRecord()
                        .run());
    }

    @Test
    default void a_megabyte_of_input_is_read_back_unchanged() {
        String input = "{\"x\":\"" + "€😀\\u0000 a".repeat(80_000) + "\"}";
        RunId id = desk().id();
        desk().apply(desk().admit(withInput(id, input), List.of(), true));
        DatabaseRows.RunRow run = desk().runOf(id);
        assertEquals(input, run.input());
        assertEquals("äctor 😀", run.origin().actor());
        assertEquals("correlation \"ß\" 漢字", run.origin().correlationId());
    }

    @Test
    default void a_large_batch_is_one_transaction() {
        List<StoreWrite.AdmitRun> batch = java.util.stream.IntStream.range(0, 512)
                .mapToObj(i -> desk().admit(desk().id(), desk().key("key " + i % 300)))
                .toList();
        List<Object> outcomes = desk().applyAll(batch);
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
        assertEquals(300, desk().fixture.count("semel_run"));
    }

    @Test
    default void an_empty_batch_and_empty_values_are_accepted() {
        assertEquals(List.of(), desk().applyAll());
        assertEquals(List.of(true), desk().applyAll(new StoreWrite.RecordDuplicates(List.of())));
        RunId id = desk().id();
        desk().apply(desk().admit(withInput(id, ""), List.of(), true));
        assertEquals("", desk().runOf(id).input());
        assertEquals(List.of(), TestStoreClient.runs(desk().apply(new StoreWrite.ClaimRuns(0))));
        assertEquals(0, desk().change(new StoreWriteCommand.DeleteTombstones(List.of())));
    }

    @Test
    default void a_value_that_violates_the_schema_rejects_its_whole_batch() {
        RunId run = desk().fresh();
        RunId innocent = desk().id();
        assertThrows(
                StoreFailure.ValueRejected.class,
                () -> desk().applyAll(
                                desk().admit(innocent, desk().key("innocent")),
                                desk().end(run),
                                new StoreWrite.RecordDuplicates(List.of(desk().seen(run, false, 0)))));
        assertEquals(1, desk().fixture.count("semel_run"));
        assertEquals(0, desk().fixture.count("semel_key"));
        assertEquals(0, desk().fixture.count("semel_finished_run"));
        assertEquals(0, desk().fixture.count("semel_duplicate_request"));
        desk().applyAll(desk().admit(innocent, desk().key("innocent")), desk().end(run));
        assertEquals(2, desk().fixture.count("semel_run"));
    }

    @Test
    default void a_run_end_with_a_non_final_state_is_rejected() {
        RunId run = desk().fresh();
        var odd = new StoreWrite.EndRun(
                new StoreWrite.RunExecution(run, 1),
                RunState.RUNNING,
                StoreWrite.RunResult.output("1"),
                "[]",
                List.of(),
                false);
        assertThrows(StoreFailure.ValueRejected.class, () -> desk().apply(odd));
        assertEquals(RunState.STARTED, desk().runOf(run).state());
    }

    /** PostgreSQL has no NUL in its texts and refuses the batch; SQLite stores it. Neither loses half of a value. */
    @Test
    default void a_nul_character_is_stored_or_rejected_completely() {
        RunId id = desk().id();
        var admit = desk().admit(withInput(id, "a\u0000b"), List.of(desk().key("K")), true);
        try {
            desk().apply(admit);
            assertEquals("a\u0000b", desk().runOf(id).input());
        } catch (StoreFailure.ValueRejected e) {
            assertEquals(0, desk().fixture.count("semel_run"));
            assertEquals(0, desk().fixture.count("semel_key"));
        }
    }
}
