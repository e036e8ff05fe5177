package dev.semel.engine.admission;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.admission.Trigger;
import dev.semel.admission.TriggerQuota;
import dev.semel.admission.TriggerResult;
import dev.semel.admission.TriggerSource;
import dev.semel.definition.DurableWorkflowOperations;
import dev.semel.definition.WorkflowCatalogEntry;
import dev.semel.definition.WorkflowVersion;
import dev.semel.engine.ClockAndRandomSource;
import dev.semel.engine.EngineLimits;
import dev.semel.engine.EngineMetricCounters;
import dev.semel.engine.commit.FaultyStore;
import dev.semel.engine.commit.GroupCommitter;
import dev.semel.engine.commit.StoreQueryThreadPool;
import dev.semel.engine.commit.WorkerLeaseRenewer;
import dev.semel.engine.run.RunCompletionWaiter;
import dev.semel.engine.run.RunExecutor;
import dev.semel.engine.run.WorkflowCatalog;
import dev.semel.engine.step.ActiveRun;
import dev.semel.engine.step.ChildRunStarter;
import dev.semel.engine.step.RunDependencies;
import dev.semel.engine.step.TransactionStepExecutor;
import dev.semel.engine.step.WorkspaceSecretCache;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.idempotency.IdempotencyKey;
import dev.semel.idempotency.KeyPolicy;
import dev.semel.json.StrictJsonCodec;
import dev.semel.run.RunId;
import dev.semel.runtime.EngineTestBench;
import dev.semel.store.Await;
import dev.semel.store.Dialect;
import dev.semel.store.Invariants;
import dev.semel.store.StoreFixture;
import dev.semel.store.StoreWrite;
import dev.semel.store.StoreWriteCommand;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.List;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** What a caller is notified when the store fails: row 16, and that a retry with the same key is always safe. */
@ParameterizedClass
@EnumSource
final class TriggerAdmissionControllerTest {
    private final StoreFixture fixture;
    private final FaultyStore store;
    private final AtomicLong nanos = new AtomicLong(1);
    private final WorkerLeaseRenewer leases;
    private final GroupCommitter committer;
    private final StoreQueryThreadPool readers;
    private final DuplicateRequestRecorder requests;
    private final RunExecutor runs;
    private final TriggerIngress intake;
    private final EngineMetricCounters counters = new EngineMetricCounters();
    private final WorkflowVersion workflow = new WorkflowVersion(
            "wf_one",
            "one",
            1,
            KeyPolicy.DEFAULT,
            EngineTestBench.ECHO,
            List.of(),
            WorkflowVersion.VersionOptions.NONE);

    TriggerAdmissionControllerTest(Dialect dialect) {
        fixture = dialect.open();
        store = new FaultyStore(fixture.store());
        ClockAndRandomSource ambient = new ClockAndRandomSource(fixture::time, nanos::get, new SecureRandom());
        var dependencies = new GroupCommitter.EngineDependencies(ambient, counters);
        leases = new WorkerLeaseRenewer(
                store, new WorkerLeaseRenewer.WorkerIdentity("worker", "1"), EngineLimits.DEFAULT, dependencies);
        committer = new GroupCommitter(store, leases, EngineLimits.DEFAULT, dependencies);
        readers = new StoreQueryThreadPool(store);
        requests = new DuplicateRequestRecorder(committer, ambient, EngineLimits.DEFAULT, (_, _) -> {});
        RunDependencies engine = new RunDependencies(
                committer,
                readers,
                new TransactionStepExecutor(store, committer, leases),
                new ChildRunStarter() {
                    @Override
                    public RunId start(
                            ActiveRun parent, DurableWorkflowOperations.ChildWorkflowCall child, String stepId) {
                        throw new UnsupportedOperationException("no children here");
                    }

                    @Override
                    public String workflowId(ActiveRun parent, DurableWorkflowOperations.ChildWorkflowCall child) {
                        throw new UnsupportedOperationException("no children here");
                    }

                    @Override
                    public void stop(ActiveRun parent, RunId child) {
                        throw new UnsupportedOperationException("no children here");
                    }
                },
                (_, _, _) -> {
                    throw new UnsupportedOperationException("no signals here");
                },
                EngineLimits.DEFAULT,
                dependencies,
                new WorkspaceSecretCache());
        runs = new RunExecutor(engine, new RunCompletionWaiter());
        WorkflowCatalog catalog = new WorkflowCatalog(readers, _ -> workflow);
        intake = new TriggerIngress(
                new TriggerAdmissionController(committer, readers, requests, runs, catalog, dependencies),
                catalog,
                ambient);
        committer
                .submit(0, new StoreWrite.ExecuteCommand<>(new StoreWriteCommand.CreateWorkspace("one", new byte[1])))
                .join();
        committer
                .submit(
                        0,
                        new StoreWrite.ExecuteCommand<>(
                                new StoreWriteCommand.PublishVersion(1, "one", "wf_one", "text", "tester")))
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
        Invariants.check(fixture);
        fixture.close();
    }

    private TriggerResult send(String key) {
        return send(key, "{}", false);
    }

    private TriggerResult send(String key, String input, boolean strict) {
        Trigger trigger = new Trigger(
                new Trigger.TriggerWorkspace(1, new byte[32]),
                new WorkflowCatalogEntry(workflow, false, null, fixture.number("SELECT revision FROM semel_catalog")),
                StrictJsonCodec.parse(input),
                input,
                new Trigger.Identifiers(IdempotencyKey.of(key), null),
                new Trigger.Sender(TriggerSource.LIBRARY, "tester", null),
                strict,
                null);
        return intake.submit(1, trigger.current(), TriggerQuota.NONE, trigger::withWorkflow);
    }

    private SemelException refused(String key) {
        return assertThrows(SemelException.class, () -> send(key));
    }

    @Test
    void row_16_a_store_timeout_is_a_503_and_nothing_ran() {
        store.down = true;
        FutureTask<SemelException> caller = new FutureTask<>(() -> refused("K"));
        Thread.ofVirtual().start(caller);
        Await.until("the store was tried", () -> counters.storeFailures.sum() > 0);
        nanos.addAndGet(EngineLimits.DEFAULT.writeDeadline().toNanos() + 1);
        Await.until("the caller is notified", caller::isDone);
        SemelException refused = caller.resultNow();
        assertEquals(ErrorCode.STORE_UNAVAILABLE, refused.code());
        assertTrue(refused.code().retryable());
        assertTrue(refused.fix().contains("same key"), refused.fix());
        store.down = false;
        assertEquals(0, fixture.count("semel_run"));
        assertFalse(send("K").replayed(), "the retry is the first to arrive");
    }

    @Test
    void row_16_a_retry_after_a_lost_response_finds_the_one_run() {
        store.next.add(FaultyStore.Fault.ANSWER_LOST);
        TriggerResult first = send("K");
        assertFalse(first.replayed(), "the caller is notified of its own run");
        TriggerResult again = send("K");
        assertTrue(again.replayed());
        assertEquals(first.runId(), again.runId());
        assertEquals(1, fixture.count("semel_run"));
        Await.until("the run is executed and ends", () -> fixture.count("semel_finished_run") == 1);
    }

    @Test
    void a_conflict_that_cannot_be_recorded_in_time_is_a_503() {
        TriggerResult first = send("K");
        Await.until("the run has ended", () -> fixture.count("semel_finished_run") == 1);
        store.down = true;
        long before = counters.storeFailures.sum();
        FutureTask<SemelException> caller =
                new FutureTask<>(() -> assertThrows(SemelException.class, () -> send("K", "{\"a\":1}", true)));
        Thread.ofVirtual().start(caller);
        Await.until("the store was tried", () -> counters.storeFailures.sum() > before);
        nanos.addAndGet(EngineLimits.DEFAULT.writeDeadline().toNanos() + 1);
        Await.until("the caller is notified", caller::isDone);
        assertEquals(ErrorCode.STORE_UNAVAILABLE, caller.resultNow().code());
        store.down = false;
        assertEquals(
                0,
                fixture.count("semel_duplicate_request"),
                "what was not answered as a conflict is not on record as one");
        SemelException again = assertThrows(SemelException.class, () -> send("K", "{\"a\":1}", true));
        assertEquals(ErrorCode.IDEMPOTENCY_KEY_CONFLICT, again.code());
        assertEquals(first.runId(), again.members().get("run_id"));
        assertEquals(1, fixture.count("semel_duplicate_request"));
    }

    @Test
    void row_6_a_key_locked_by_another_transaction_is_in_use() {
        store.next.add(FaultyStore.Fault.LOCKED);
        SemelException refused = refused("K");
        assertEquals(ErrorCode.IDEMPOTENCY_KEY_IN_USE, refused.code());
        assertTrue(refused.code().retryable());
        assertEquals("K", refused.members().get("idempotency_key"));
        assertFalse(send("K").replayed());
    }

    @Test
    void a_value_that_the_store_rejects_is_the_callers_error() {
        store.poison = write -> write instanceof StoreWrite.AdmitRun;
        SemelException refused = refused("K");
        assertEquals(ErrorCode.INVALID_INPUT, refused.code());
        assertTrue(refused.detail().contains("No run was started"));
        store.poison = _ -> false;
        assertFalse(send("K").replayed());
    }

    @Test
    void a_worker_that_shuts_down_rejects_new_keys() {
        committer.close();
        assertEquals(ErrorCode.SHUTTING_DOWN, refused("K").code());
        assertEquals(0, fixture.count("semel_run"));
    }

    @Test
    void a_run_admitted_while_the_lease_was_lost_belongs_to_no_dead_lease() {
        store.next.add(FaultyStore.Fault.FENCED);
        TriggerResult answer = send("K");
        assertFalse(answer.replayed());
        assertEquals(1, counters.fencedBatches.sum());
        assertEquals(0, fixture.number("""
            SELECT count(*) FROM semel_unfinished_run w
            WHERE w.owner IS NOT NULL AND NOT EXISTS (SELECT 1 FROM semel_lease l WHERE l.lease = w.owner)
            """));
        // Either nobody drives it yet, or this worker does under its next lease; the room comes back both ways.
        Await.until("its room is given back", () -> runs.activeRunCount() == 0);
    }
}
