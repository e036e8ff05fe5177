package dev.semel.engine;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertInstanceOf;
import static org.junit.jupiter.api.Assertions.assertNotEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.key.Known;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.Batch;
import dev.semel.store.Dialect;
import dev.semel.store.Edit;
import dev.semel.store.Invariants;
import dev.semel.store.Name;
import dev.semel.store.NewRun;
import dev.semel.store.Place;
import dev.semel.store.Rows;
import dev.semel.store.StoreFailure;
import dev.semel.store.Waiting;
import dev.semel.store.Wish;
import dev.semel.store.Write;
import dev.semel.store.Write.Admitted;
import dev.semel.trigger.Door;
import java.security.SecureRandom;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import java.util.concurrent.atomic.AtomicLong;
import org.jspecify.annotations.Nullable;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.EnumSource;

/** Every caller gets its own outcome, whatever happens to the batch it was in. */
@ParameterizedClass
@EnumSource
final class CommitterTest {
    private static final long WINDOW = 1_000_000_000L;

    private final Place place;
    private final FaultyStore store;
    private final AtomicLong nanos = new AtomicLong(1);
    private final Counters counters = new Counters();
    private final Ambient ambient;
    private final LeaseKeeper leases;
    private final Committer committer;

    CommitterTest(Dialect dialect) {
        place = dialect.open();
        store = new FaultyStore(place.store());
        ambient = new Ambient(place::time, nanos::get, new SecureRandom());
        var around = new Committer.Surroundings(ambient, counters);
        Limits limits = Limits.DEFAULT.withQueuedTriggers(100);
        leases = new LeaseKeeper(store, new LeaseKeeper.Worker("worker", "1"), limits, around);
        committer = new Committer(store, leases, limits, around);
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
        committer.close();
        leases.close();
        store.close();
        Invariants.check(place);
        place.close();
    }

    private Write.Admit admit(String key) {
        var run = new NewRun(
                ambient.id(),
                1,
                null,
                "wf_one",
                1,
                RunState.STARTED,
                new NewRun.Origin(Door.LIBRARY, "actor", key, null),
                "{}",
                new byte[0]);
        var wish = new Wish(new Name(1, Name.Kind.KEY, key), new byte[32], WINDOW, Known.HOLD, true);
        return new Write.Admit(run, List.of(wish), true, place.number("SELECT revision FROM semel_catalog"));
    }

    /** Hands these over so that they are one batch. */
    private <O> List<CompletableFuture<O>> gathered(List<? extends Write<O>> writes) {
        store.shut();
        CompletableFuture<List<Write.Driver>> first = committer.submit(0, new Write.Claim(0));
        Waiting.until("the lane stands at the gate", store::somebodyWaits);
        List<CompletableFuture<O>> answers = new ArrayList<>();
        writes.forEach(write -> answers.add(committer.submit(0, write)));
        assertFalse(first.isDone());
        return answers;
    }

    private static Admitted.Fresh fresh(CompletableFuture<Admitted> answer) {
        return assertInstanceOf(Admitted.Fresh.class, answer.join());
    }

    private static @Nullable Throwable failure(CompletableFuture<?> answer) {
        return assertThrows(CompletionException.class, answer::join).getCause();
    }

    @Test
    void writes_that_gathered_are_one_transaction_and_each_gets_its_own_answer() {
        Write.Admit first = admit("K");
        var answers = gathered(List.of(first, admit("K"), admit("L")));
        long before = counters.batches.sum();
        store.open();
        fresh(answers.get(0));
        Known holder = assertInstanceOf(Admitted.Held.class, answers.get(1).join())
                .known()
                .getFirst();
        assertNotNull(holder);
        assertEquals(first.run().id(), holder.run());
        fresh(answers.get(2));
        Waiting.until("both batches are counted", () -> counters.batches.sum() == before + 2);
    }

    @Test
    void a_change_that_locks_names_or_answers_has_a_transaction_of_its_own() {
        var sweep = new Write.Change<>(new Edit.DeleteNames(List.of()));
        var asked = new Edit.Asked(ambient.id(), 1, "sweep", "k", new byte[1], WINDOW);
        var once = new Write.Change<>(new Edit.Once<>(asked, new Edit.DeleteNames(List.of()), String::valueOf));
        store.shut();
        List<CompletableFuture<?>> answers = new ArrayList<>();
        answers.add(committer.submit(0, new Write.Claim(0)));
        Waiting.until("the lane stands at the gate", store::somebodyWaits);
        List<Write<?>> writes = List.of(admit("K"), sweep, once, admit("L"), admit("M"));
        writes.forEach(write -> answers.add(committer.submit(0, write)));
        int before = store.applied.size() + 1; // the claim that waits
        store.open();
        answers.forEach(CompletableFuture::join);
        List<List<Write<?>>> batches =
                store.applied.stream().skip(before).map(Batch::writes).toList();
        assertEquals(
                List.of(writes.subList(0, 1), writes.subList(1, 2), writes.subList(2, 3), writes.subList(3, 5)),
                batches,
                "in the order in which they came");
    }

    @Test
    void after_a_while_without_the_store_everything_is_applied() {
        var answers = gathered(List.of(admit("K"), admit("L"), admit("M")));
        store.next.addAll(List.of(FaultyStore.Fault.DOWN, FaultyStore.Fault.DOWN, FaultyStore.Fault.DOWN));
        store.open();
        answers.forEach(CommitterTest::fresh);
        assertEquals(3, counters.storeFailures.sum());
        assertEquals(3, place.count("semel_run"));
    }

    @Test
    void a_commit_whose_answer_was_lost_is_one_run_and_still_fresh() {
        Write.Admit first = admit("K");
        var answers = gathered(List.of(first, admit("K"), admit("L")));
        store.next.addAll(List.of(FaultyStore.Fault.ANSWER_LOST, FaultyStore.Fault.COMMIT_LOST));
        store.open();
        assertTrue(fresh(answers.get(0)).owned());
        assertInstanceOf(Admitted.Held.class, answers.get(1).join());
        assertTrue(fresh(answers.get(2)).owned());
        assertEquals(2, place.count("semel_run"));
        assertEquals(2, counters.unknownCommits.sum());
    }

    @Test
    void a_batch_applied_twice_because_its_answer_was_lost_counts_once() {
        Write.Admit admit = admit("K");
        fresh(committer.admit(0, admit));
        RunId run = admit.run().id();
        Write.Tally tally = new Write.Tally(
                List.of(new Write.Seen(ambient.id(), 1, run, false, place.time(), 200, "actor", null, 7)));
        store.next.add(FaultyStore.Fault.ANSWER_LOST);
        assertTrue(committer.submit(0, tally).join());
        store.next.add(FaultyStore.Fault.ANSWER_LOST);
        assertEquals(
                Write.Owned.RECORDED,
                committer
                        .submit(0, new Write.Append(run, 0, "[]", RunState.RUNNING))
                        .join());
        store.next.add(FaultyStore.Fault.ANSWER_LOST);
        var end = new Write.End(run, RunState.COMPLETED, Write.Ending.output("1"), "[]");
        assertEquals(Write.Owned.RECORDED, committer.submit(0, end).join());
        store.next.add(FaultyStore.Fault.ANSWER_LOST);
        assertFalse(fresh(committer.admit(0, admit)).owned(), "the run has ended and is not brought back");
        assertEquals(7, place.number("SELECT replays FROM semel_duplicate_count"));
        assertEquals(1, place.count("semel_journal"));
        assertEquals(0, place.count("semel_unfinished_run"));
    }

    @Test
    void a_bad_write_fails_alone() {
        List<Write.Admit> writes = new ArrayList<>();
        for (int i = 0; i < 9; i++) {
            writes.add(admit("K" + i));
        }
        var answers = gathered(writes);
        store.poison = write -> write.equals(writes.get(4)) || write.equals(writes.get(7));
        store.open();
        for (int i = 0; i < 9; i++) {
            if (i == 4 || i == 7) {
                assertInstanceOf(StoreFailure.Poisoned.class, failure(answers.get(i)));
            } else {
                fresh(answers.get(i));
            }
        }
        assertEquals(7, place.count("semel_run"));
        assertEquals(2, counters.poisonedWrites.sum());
    }

    private static Write.Append entry(Write.Driver by, int seq) {
        return new Write.Append(by, seq, "[]", RunState.RUNNING, List.of(), null);
    }

    /** Otherwise the record of a run would have a hole, and its code would be replayed against another past. */
    @Test
    void an_execution_that_was_refused_once_does_not_write_when_its_run_is_its_own_again() {
        Write.Admit admitted = admit("K");
        fresh(committer.admit(0, admitted));
        Write.Driver first = new Write.Driver(admitted.run().id(), 1);
        Write.Driver second = new Write.Driver(admitted.run().id(), 2);
        assertFalse(committer.submit(0, entry(second, 0)).join().recorded(), "it is not the second's turn yet");
        committer.submit(0, new Write.Change<>(new Edit.GiveBack(first))).join();
        assertEquals(List.of(second), committer.submit(0, new Write.Claim(1)).join());
        assertFalse(committer.submit(0, entry(second, 1)).join().recorded(), "what comes after it would leave a hole");
        assertEquals(0, place.count("semel_journal"));
    }

    @Test
    void behind_a_value_that_the_store_cannot_hold_a_run_is_only_put_away() {
        Write.Admit admitted = admit("K");
        fresh(committer.admit(0, admitted));
        Write.Driver by = new Write.Driver(admitted.run().id(), 1);
        var unfit = new Write.Append(by, 0, "[1]", RunState.COMPLETED, List.of(), null);
        assertThrows(CompletionException.class, () -> committer.submit(0, unfit).join());
        assertThrows(
                CompletionException.class,
                () -> committer.submit(0, entry(by, 1)).join());
        assertEquals(0, place.count("semel_journal"), "what comes after it would leave a hole");
        var rest = new Write.Rest(Write.Rest.NEVER, "{\"for\":\"store\"}", 0);
        var away = new Write.Append(by, 0, "", RunState.WAITING, List.of(), rest);
        assertTrue(committer.submit(0, away).join().recorded());
    }

    @Test
    void a_lock_holds_up_only_the_trigger_that_meets_it() {
        var answers = gathered(List.of(admit("K"), admit("L"), admit("M")));
        FaultyStore.Fault locked = FaultyStore.Fault.LOCKED;
        // The batch, then the first trigger alone; the others go through.
        store.next.addAll(List.of(locked, locked));
        store.open();
        assertInstanceOf(Admitted.InUse.class, answers.get(0).join());
        fresh(answers.get(1));
        fresh(answers.get(2));
        assertEquals(2, place.count("semel_run"));
    }

    @Test
    void a_name_that_stays_locked_is_in_use() {
        store.next.add(FaultyStore.Fault.LOCKED);
        assertInstanceOf(Admitted.InUse.class, committer.admit(0, admit("K")).join());
        assertEquals(0, place.count("semel_run"));
        fresh(committer.admit(0, admit("K")));
    }

    @Test
    void a_fenced_batch_is_applied_without_the_lease_that_is_gone() {
        fresh(committer.admit(0, admit("before")));
        var old = leases.hold(0);
        store.next.add(FaultyStore.Fault.FENCED);
        fresh(committer.admit(0, admit("K")));
        assertNotEquals(old, store.applied.getLast().hold(), "without one, or under the next");
        assertEquals(1, counters.fencedBatches.sum());
        Waiting.until("the worker has a new lease", () -> leases.hold(0) != null);
        assertTrue(fresh(committer.admit(0, admit("L"))).owned());
        long leasesUsed = store.applied.stream()
                .map(batch -> batch.hold() == null ? 0 : batch.hold().lease())
                .filter(lease -> lease != 0)
                .distinct()
                .count();
        assertEquals(2, leasesUsed, "a lost lease is never taken up again");
    }

    @Test
    void a_trigger_that_waits_too_long_for_the_store_is_given_up_and_so_are_those_behind_it() {
        store.down = true;
        List<CompletableFuture<Admitted>> answers = new ArrayList<>();
        for (int i = 0; i < 20; i++) {
            answers.add(committer.admit(0, admit("K" + i)));
        }
        CompletableFuture<Rows.Workspace> patient =
                committer.submit(0, new Write.Change<>(new Edit.OpenWorkspace("two", new byte[1])));
        Waiting.until("the store was tried", () -> counters.storeFailures.sum() > 0);
        nanos.addAndGet(Limits.DEFAULT.writeDeadline().toNanos() + 1);
        for (CompletableFuture<Admitted> answer : answers) {
            assertInstanceOf(StoreFailure.class, failure(answer));
        }
        assertFalse(patient.isDone(), "what is no trigger waits for the store");
        store.down = false;
        assertEquals(2, patient.join().ws());
        assertEquals(0, place.count("semel_run"));
        fresh(committer.admit(0, admit("K0")));
    }

    @Test
    void a_write_that_somebody_waits_for_is_given_up_in_time_and_done_when_it_is_asked_again() {
        store.down = true;
        var change = new Write.Change<>(new Edit.OpenWorkspace("two", new byte[1]));
        CompletableFuture<Rows.Workspace> soon = committer.submitSoon(0, change);
        CompletableFuture<Rows.Workspace> patient = committer.submit(0, change);
        Waiting.until("the store was tried", () -> counters.storeFailures.sum() > 0);
        assertFalse(soon.isDone(), "it has time until its deadline");
        nanos.addAndGet(Limits.DEFAULT.writeDeadline().toNanos() + 1);
        assertInstanceOf(StoreFailure.class, failure(soon));
        assertFalse(patient.isDone());
        store.down = false;
        assertEquals(2, patient.join().ws());
        assertEquals(2, committer.submitSoon(0, change).join().ws());
        assertEquals(2, place.count("semel_workspace"));
    }

    @Test
    void more_triggers_than_may_wait_are_refused_at_once() {
        store.shut();
        List<CompletableFuture<Admitted>> waiting = new ArrayList<>();
        for (int i = 0; i < 100; i++) {
            waiting.add(committer.admit(0, admit("K" + i)));
        }
        SemelException refused = assertThrows(
                SemelException.class,
                () -> committer.admit(0, admit("too many")).join());
        assertEquals(ErrorCode.OVERLOADED, refused.code());
        assertTrue(refused.code().retryable());
        assertTrue(refused.detail().contains("No run was started"));
        assertEquals(1, counters.overload.sum());
        store.open();
        waiting.forEach(CommitterTest::fresh);
        fresh(committer.admit(0, admit("room again")));
    }

    @Test
    void closing_finishes_what_was_handed_over_and_refuses_what_comes_later() {
        var answers = gathered(List.of(admit("K"), admit("L")));
        Thread closing = Thread.ofPlatform().start(committer::close);
        store.open();
        answers.forEach(CommitterTest::fresh);
        Waiting.until("it is closed", () -> !closing.isAlive());
        SemelException refused = assertThrows(
                SemelException.class, () -> committer.admit(0, admit("M")).join());
        assertEquals(ErrorCode.SHUTTING_DOWN, refused.code());
        CompletableFuture<List<Write.Driver>> late = committer.submit(0, new Write.Claim(1));
        Waiting.until("a late write gets an answer too", late::isDone);
        assertInstanceOf(SemelException.class, failure(late));
        assertEquals(2, place.count("semel_run"));
    }
}
