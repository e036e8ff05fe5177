package dev.semel.engine.timer;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.semel.engine.ClockAndRandomSource;
import dev.semel.engine.step.RunExecutionAbort;
import dev.semel.runtime.RunHandle;
import dev.semel.runtime.SqliteTestBase;
import dev.semel.workflow.Workflow;
import java.security.SecureRandom;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.Queue;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CountDownLatch;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.Test;

/** Runs that were active in several worker crashes are tried in small groups, which grow while nothing crashes. */
final class SuspectRecoveryTest extends SqliteTestBase {
    private final AtomicBoolean crashing = new AtomicBoolean(true);

    /** Monotonic time stands still, so that no trial ends because it took long. */
    @Override
    protected ClockAndRandomSource ambient() {
        ClockAndRandomSource real = ClockAndRandomSource.real();
        return new ClockAndRandomSource(real::micros, () -> 1, new SecureRandom());
    }

    /** Starts so many runs, which are then as if they had been active in several crashes. */
    private List<RunHandle<String>> suspects(Workflow<String, String> flow, int count, CountDownLatch halted)
            throws InterruptedException {
        semel.register(flow);
        List<RunHandle<String>> runs = new ArrayList<>();
        for (int i = 0; i < count; i++) {
            runs.add(semel.start(flow, "run " + i));
        }
        halted.await();
        semel.close(Duration.ZERO);
        sql("UPDATE semel_unfinished_run SET owner = NULL, crash_count = 3");
        crashing.set(false);
        open();
        semel.register(flow);
        return runs.stream().map(run -> semel.run(flow, run.id())).toList();
    }

    @Test
    void each_completed_suspect_doubles_the_number_of_runs_tried_at_once() throws Exception {
        CountDownLatch halted = new CountDownLatch(7);
        AtomicInteger begun = new AtomicInteger();
        AtomicInteger active = new AtomicInteger();
        CountDownLatch pair = new CountDownLatch(2);
        CountDownLatch four = new CountDownLatch(4);
        Queue<String> tooMany = new ConcurrentLinkedQueue<>();
        Workflow<String, String> flow = flow((ctx, in) -> ctx.step("work", String.class, _ -> {
            if (crashing.get()) {
                halted.countDown();
                throw new RunExecutionAbort.OwnershipLost();
            }
            int number = begun.incrementAndGet();
            int together = active.incrementAndGet();
            int most = number == 1 ? 1 : number <= 3 ? 2 : 4;
            if (together > most) {
                tooMany.add(number + ": " + together);
            }
            CountDownLatch wave = number <= 3 ? pair : four;
            if (number > 1) {
                wave.countDown();
                wave.await(); // the runs of a group are active together
            }
            active.decrementAndGet();
            return in;
        }));
        List<RunHandle<String>> runs = suspects(flow, 7, halted);
        for (int i = 0; i < runs.size(); i++) {
            assertEquals("run " + i, runs.get(i).result(SOON));
        }
        assertEquals(List.of(), List.copyOf(tooMany));
    }

    @Test
    void a_worker_that_dies_with_several_runs_on_trial_makes_none_of_them_held() throws Exception {
        CountDownLatch halted = new CountDownLatch(2);
        Workflow<String, String> flow = flow((ctx, in) -> ctx.step("work", String.class, _ -> {
            if (crashing.get()) {
                halted.countDown();
                throw new RunExecutionAbort.OwnershipLost();
            }
            return in;
        }));
        semel.register(flow);
        List<RunHandle<String>> runs = List.of(semel.start(flow, "one"), semel.start(flow, "two"));
        halted.await();
        for (int death = 0; death < 8; death++) {
            semel.close(Duration.ZERO);
            sql("UPDATE semel_unfinished_run SET owner = 4711"); // it executed both when it died
            open();
        }
        crashing.set(false);
        semel.register(flow);
        assertEquals("one", semel.run(flow, runs.getFirst().id()).result(SOON));
        assertEquals("two", semel.run(flow, runs.getLast().id()).result(SOON));
    }
}
