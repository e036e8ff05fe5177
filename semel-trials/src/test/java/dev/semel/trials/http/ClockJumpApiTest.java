package dev.semel.trials.http;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.engine.ClockAndRandomSource;
import dev.semel.server.SemelServer;
import dev.semel.server.cli.server.ServerOptions;
import dev.semel.store.TrustedClock;
import dev.semel.trials.support.ApiCaller;
import dev.semel.trials.support.HttpReply;
import java.nio.file.Path;
import java.time.Duration;
import java.util.concurrent.atomic.AtomicLong;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/** What a server says about a machine whose clock jumped, and how an administrator confirms the clock. */
class ClockJumpApiTest {
    private final ClockAndRandomSource real = ClockAndRandomSource.real();
    private final AtomicLong machine = new AtomicLong(real.micros());

    @TempDir
    Path folder;

    private SemelServer serve;

    @BeforeEach
    void start() {
        String store = "sqlite:" + folder.resolve("semel.db");
        ClockAndRandomSource clocks = new ClockAndRandomSource(
                machine::get,
                real::nanos,
                real.random(),
                ClockAndRandomSource.TestInstrumentation.NONE,
                new TrustedClock.BootClock("boot", () -> 1));
        serve = SemelServer.start(new ServerOptions(true, false, "127.0.0.1", 0, folder, store, null), clocks);
        admin().publish("""
            semel: 1
            workflow: note
            owner: o
            steps:
              - {id: note, set: {ok: true}}
            """).expect(200);
    }

    @AfterEach
    void stop() {
        serve.close();
    }

    private ApiCaller admin() {
        return new ApiCaller(serve.port(), "dev", _ -> {});
    }

    private void jump(Duration by) {
        machine.addAndGet(by.toNanos() / 1_000);
    }

    /** Waits for the end of the run: the key of an unfinished run does not expire. */
    private HttpReply trigger() {
        return admin().post("/v1/workflows/note/trigger?wait=30s", "{\"data\":{}}", "Idempotency-Key: key-1")
                .expect(200);
    }

    @Test
    void an_unconfirmed_jump_is_reported_and_ends_no_key_window() {
        String first = trigger().text("run_id");
        assertFalse(admin().get("/readyz").expect(200).body().contains("warning"));
        assertTrue(admin().get("/v1/clock").expect(200).body().contains("\"trusted\":true"));
        jump(Duration.ofDays(100));
        HttpReply ready = admin().get("/readyz").expect(200);
        assertEquals("ready", ready.text("status"));
        assertTrue(ready.text("warning").contains("jumped"), ready.body());
        HttpReply clock = admin().get("/v1/clock").expect(200);
        assertTrue(clock.body().contains("\"trusted\":false"), clock.body());
        assertTrue(clock.text("machine_time").compareTo(clock.text("store_time")) > 0, clock.body());
        assertEquals(first, trigger().text("run_id"));
    }

    private HttpReply confirm() {
        HttpReply reply =
                admin().post("/v1/clock/confirm", "", "Idempotency-Key: c1").expect(200);
        assertTrue(reply.body().contains("\"trusted\":true"), reply.body());
        return reply;
    }

    @Test
    void after_a_confirmation_windows_end_by_the_clock_of_the_machine() {
        String first = trigger().text("run_id");
        jump(Duration.ofDays(100));
        assertEquals(first, trigger().text("run_id"));
        confirm();
        assertFalse(admin().get("/readyz").expect(200).body().contains("warning"));
        HttpReply next = trigger();
        assertFalse(next.text("run_id").equals(first), "the confirmed time is after the window");
        assertEquals(first, next.text("previous_run_id"));
    }

    @Test
    void a_repeated_confirmation_does_not_confirm_the_next_jump() {
        jump(Duration.ofHours(10));
        confirm();
        assertFalse(admin().get("/readyz").expect(200).body().contains("warning"));
        jump(Duration.ofHours(10));
        assertEquals("true", confirm().header("X-Idempotent-Replayed"));
        assertTrue(admin().get("/readyz").expect(200).body().contains("warning"), "the same request confirms once");
    }
}
