package dev.semel.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.Bench;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.Json;
import dev.semel.key.IdempotencyKey;
import dev.semel.key.KeyPolicy;
import dev.semel.run.RunId;
import dev.semel.store.Dialect;
import dev.semel.store.Edit;
import dev.semel.store.Invariants;
import dev.semel.store.Place;
import dev.semel.store.Waiting;
import dev.semel.store.Write;
import dev.semel.trigger.Answer;
import dev.semel.trigger.Door;
import dev.semel.trigger.Trigger;
import dev.semel.workflow.Current;
import dev.semel.workflow.Durable;
import dev.semel.workflow.Published;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** What a caller is told when the store fails: row 16, and that a retry with the same key is always safe. */
@ParameterizedClass
@EnumSource
final class IntakeTest {
    private final Place place;
    private final FaultyStore store;
    private final AtomicLong nanos = new AtomicLong(1);
    private final LeaseKeeper leases;
    private final Committer committer;
    private final Readers readers;
    private final Requests requests;
    private final RunLoop runs;
    private final Intake intake;
    private final Counters counters = new Counters();
    private final Published workflow = new Published("wf_one", "one", 1, KeyPolicy.DEFAULT, Bench.ECHO, List.of());

    IntakeTest(Dialect dialect) {
        place = dialect.open();
        store = new FaultyStore(place.store());
        Ambient ambient = new Ambient(place::time, nanos::get, new SecureRandom());
        var around = new Committer.Surroundings(ambient, counters);
        leases = new LeaseKeeper(store, new LeaseKeeper.Worker("worker", "1"), Limits.DEFAULT, around);
        committer = new Committer(store, leases, Limits.DEFAULT, around);
        readers = new Readers(store);
        requests = new Requests(committer, ambient, Limits.DEFAULT, (_, _) -> {});
        RunLoop.Engine engine = new RunLoop.Engine(
                committer,
                readers,
                new TxDesk(store, committer, leases),
                new Children.Starter() {
                    @Override
                    public RunId start(RunLoop.Resident parent, Durable.Child child, String stepId) {
                        throw new UnsupportedOperationException("no children here");
                    }

                    @Override
                    public String workflowId(RunLoop.Resident parent, Durable.Child child) {
                        throw new UnsupportedOperationException("no children here");
                    }

                    @Override
                    public void stop(RunLoop.Resident parent, RunId child) {
                        throw new UnsupportedOperationException("no children here");
                    }
                },
                (_, _, _) -> {
                    throw new UnsupportedOperationException("no signals here");
                },
                Limits.DEFAULT,
                around);
        runs = new RunLoop(engine, new Completions());
        intake = new Intake(
                new Intake.Parts(committer, readers, requests, runs), new Catalog(readers, _ -> workflow), around);
        committer
                .submit(0, new Write.Change<>(new Edit.OpenWorkspace("one", new byte[1])))
                .join();
        committer
                .submit(0, new Write.Change<>(new Edit.Publish(1, "one", "wf_one", "text", "tester")))
                .join();
    }

    @AfterEach
    void close() {
        store.down = false;
        store.open();
        runs.close(Duration.ofSeconds(10));
        requests.close();
        committer.close();
        readers.close();
        leases.close();
        store.close();
        Invariants.check(place);
        place.close();
    }

    private Answer send(String key) {
        return send(key, "{}", false);
    }

    private Answer send(String key, String input, boolean strict) {
        Trigger trigger = new Trigger(
                new Trigger.Space(1, new byte[32]),
                new Current(workflow, false, place.number("SELECT revision FROM semel_catalog")),
                Json.parse(input),
                input,
                new Trigger.Names(IdempotencyKey.of(key), null),
                new Trigger.Sender(Door.LIBRARY, "tester", null),
                strict,
                Trigger.Checks.NONE);
        return intake.trigger(1, trigger.current(), trigger::under);
    }

    private SemelException refused(String key) {
        return assertThrows(SemelException.class, () -> send(key));
    }

    @Test
    void row_16_a_store_that_does_not_answer_in_time_is_a_503_and_nothing_ran() {
        store.down = true;
        FutureTask<SemelException> caller = new FutureTask<>(() -> refused("K"));
        Thread.ofVirtual().start(caller);
        Waiting.until("the store was tried", () -> counters.storeFailures.sum() > 0);
        nanos.addAndGet(Limits.DEFAULT.writeDeadline().toNanos() + 1);
        Waiting.until("the caller is told", caller::isDone);
        SemelException refused = caller.resultNow();
        assertEquals(ErrorCode.STORE_UNAVAILABLE, refused.code());
        assertTrue(refused.code().retryable());
        assertTrue(refused.fix().contains("same key"), refused.fix());
        store.down = false;
        assertEquals(0, place.count("semel_run"));
        assertFalse(send("K").replayed(), "the retry is the first to arrive");
    }

    @Test
    void row_16_a_retry_after_a_lost_answer_finds_the_one_run() {
        store.next.add(FaultyStore.Fault.ANSWER_LOST);
        Answer first = send("K");
        assertFalse(first.replayed(), "the caller is told of its own run");
        Answer again = send("K");
        assertTrue(again.replayed());
        assertEquals(first.runId(), again.runId());
        assertEquals(1, place.count("semel_run"));
        Waiting.until("the run is driven and ends", () -> place.count("semel_finished_run") == 1);
    }

    @Test
    void a_conflict_that_cannot_be_recorded_in_time_is_a_503_and_no_conflict() {
        Answer first = send("K");
        Waiting.until("the run has ended", () -> place.count("semel_finished_run") == 1);
        store.down = true;
        long before = counters.storeFailures.sum();
        FutureTask<SemelException> caller =
                new FutureTask<>(() -> assertThrows(SemelException.class, () -> send("K", "{\"a\":1}", true)));
        Thread.ofVirtual().start(caller);
        Waiting.until("the store was tried", () -> counters.storeFailures.sum() > before);
        nanos.addAndGet(Limits.DEFAULT.writeDeadline().toNanos() + 1);
        Waiting.until("the caller is told", caller::isDone);
        assertEquals(ErrorCode.STORE_UNAVAILABLE, caller.resultNow().code());
        store.down = false;
        assertEquals(0, place.count("semel_duplicate_request"), "what was not answered as a conflict is not on record as one");
        SemelException again = assertThrows(SemelException.class, () -> send("K", "{\"a\":1}", true));
        assertEquals(ErrorCode.IDEMPOTENCY_KEY_CONFLICT, again.code());
        assertEquals(first.runId(), again.members().get("run_id"));
        assertEquals(1, place.count("semel_duplicate_request"));
    }

    @Test
    void row_6_a_name_that_another_transaction_holds_is_in_use() {
        store.next.add(FaultyStore.Fault.LOCKED);
        SemelException refused = refused("K");
        assertEquals(ErrorCode.IDEMPOTENCY_KEY_IN_USE, refused.code());
        assertTrue(refused.code().retryable());
        assertEquals("K", refused.members().get("idempotency_key"));
        assertFalse(send("K").replayed());
    }

    @Test
    void a_value_that_the_store_refuses_is_the_callers_error() {
        store.poison = write -> write instanceof Write.Admit;
        SemelException refused = refused("K");
        assertEquals(ErrorCode.INVALID_INPUT, refused.code());
        assertTrue(refused.detail().contains("No run was started"));
        store.poison = _ -> false;
        assertFalse(send("K").replayed());
    }

    @Test
    void a_worker_that_shuts_down_refuses_new_keys() {
        committer.close();
        assertEquals(ErrorCode.SHUTTING_DOWN, refused("K").code());
        assertEquals(0, place.count("semel_run"));
    }

    @Test
    void a_run_admitted_while_the_lease_was_lost_belongs_to_no_dead_lease() {
        store.next.add(FaultyStore.Fault.FENCED);
        Answer answer = send("K");
        assertFalse(answer.replayed());
        assertEquals(1, counters.fencedBatches.sum());
        assertEquals(0, place.number("""
            SELECT count(*) FROM semel_unfinished_run w
            WHERE w.owner IS NOT NULL AND NOT EXISTS (SELECT 1 FROM semel_lease l WHERE l.lease = w.owner)
            """));
        // Either nobody drives it yet, or this worker does under its next lease; the room comes back both ways.
        Waiting.until("its room is given back", () -> runs.residents() == 0);
    }
}
