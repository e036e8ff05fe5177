package dev.semel.runtime;

import static org.junit.jupiter.api.Assertions.assertEquals;

import dev.semel.engine.ClockAndRandomSource;
import dev.semel.engine.EngineLimits;
import dev.semel.run.RunId;
import dev.semel.store.Await;
import dev.semel.workflow.Workflow;
import java.time.Duration;
import java.util.List;
import java.util.Objects;
import java.util.concurrent.CopyOnWriteArrayList;
import org.junit.jupiter.api.Test;

/** The key on the wire never repeats, however short runs are kept. */
final class EffectRetentionTest extends SqliteTestBase {
    private final ManualClock clock = ManualClock.startingNow();
    private final List<String> sent = new CopyOnWriteArrayList<>();
    private final Workflow<String, String> flow = flow(
            String.class,
            (ctx, in) -> ctx.effect("mail")
                    .key("reminder", in)
                    .oncePer(Duration.ofSeconds(2))
                    .providerHonoursKey(Duration.ofHours(24))
                    .call(String.class, sending -> {
                        sent.add(sending.key());
                        return "sent";
                    }));

    @Override
    protected ClockAndRandomSource ambient() {
        return clock.ambient();
    }

    @Override
    protected EngineLimits limits() {
        return EngineLimits.DEFAULT.withFinishedRuns(Duration.ofMinutes(1));
    }

    private boolean isThere(RunHandle<String> run) {
        RunId id = Objects.requireNonNull(RunId.parse(run.id()));
        return semel.view(reads -> reads.claimedRun(id)) != null;
    }

    private RunHandle<String> send() {
        RunHandle<String> run = semel.start(flow, "x");
        assertEquals("sent", run.result(SOON));
        return run;
    }

    @Test
    void an_intended_send_gets_a_new_key_after_the_earlier_runs_were_deleted() {
        semel.register(flow);
        RunHandle<String> first = send();
        clock.advance(Duration.ofSeconds(3));
        RunHandle<String> second = send();
        clock.advance(Duration.ofDays(8));
        Await.until("both runs are deleted", () -> !isThere(first) && !isThere(second));
        send();
        assertEquals(3, List.copyOf(sent).stream().distinct().count(), sent + " has no key twice");
    }
}
