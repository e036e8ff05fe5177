package dev.semel.trials.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Queue;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.ConcurrentLinkedQueue;
import java.util.concurrent.CyclicBarrier;
import java.util.concurrent.FutureTask;
import java.util.concurrent.atomic.AtomicBoolean;
import java.util.concurrent.atomic.AtomicInteger;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two server processes on one PostgreSQL, and a workflow whose publishes change again and again how its keys are named.
 * The key and the payload are the same in every request, so every version says that it is the same action; whichever
 * version admitted it, the versions before and after must find it.
 */
@Tag("trial")
class PublishRaceTest {
    private static final int PUBLISHES = 90;
    private static final int AT_EACH = 2;
    private static final List<String> FORMS =
            List.of("\"scope\": \"workspace\"", "\"scope\": \"workflow\"", "\"on_mismatch\": \"distinct\"");

    @TempDir
    Path folder;

    private final String url = RealPostgres.url(RealPostgres.newDatabase());
    private final AtomicInteger keys = new AtomicInteger();
    private final Map<String, Queue<Reply>> replies = new ConcurrentHashMap<>();
    private ProcessServer first;
    private ProcessServer second;

    @BeforeEach
    void start() throws IOException {
        first = ProcessServer.launch(new ProcessServer.Start(Files.createDirectory(folder.resolve("a")), url));
        second = ProcessServer.launch(new ProcessServer.Start(Files.createDirectory(folder.resolve("b")), url));
        first.awaitReady();
        second.awaitReady();
    }

    @AfterEach
    void close() {
        first.close();
        second.close();
    }

    @Test
    void publishes_that_change_key_scopes_never_start_two_runs_for_one_key() throws Exception {
        publish(0);
        AtomicBoolean over = new AtomicBoolean();
        FutureTask<Integer> publishes = new FutureTask<>(() -> {
            try {
                for (int i = 1; i <= PUBLISHES; i++) {
                    int sent = keys.get();
                    Await.holds("another key is on its way", () -> keys.get() > sent);
                    publish(i);
                }
                return PUBLISHES;
            } finally {
                over.set(true);
            }
        });
        Thread.ofVirtual().start(publishes);
        fireUntil(over);
        assertEquals(PUBLISHES, publishes.get());
        System.out.println("publish race: " + keys + " keys during " + PUBLISHES + " publishes");
        for (int i = 0; i < keys.get(); i++) {
            fire((i % 2 == 0 ? first : second).port(), "flip-" + i);
        }
        judge(keys.get());
    }

    private void publish(int number) throws IOException {
        try (KeepAliveClient caller = new KeepAliveClient((number % 2 == 0 ? first : second).port())) {
            String form = FORMS.get(number % FORMS.size());
            // The number makes it a text of its own, so that it is a version of its own.
            Reply reply = caller.send("PUT /v1/workflows/flip", "", """
                {"semel": 1, "workflow": "flip", "description": "number %d", "idempotency": {%s},
                 "steps": [{"id": "note", "set": {"ok": true}}]}\
                """.formatted(number, form));
            assertEquals(200, reply.status(), reply.body());
        }
    }

    /** Sends each key several times at once to both workers. */
    private void fireUntil(AtomicBoolean over) throws Exception {
        AtomicBoolean last = new AtomicBoolean();
        // Decided once for all at the barrier, so that nobody waits there alone.
        CyclicBarrier together = new CyclicBarrier(2 * AT_EACH, () -> {
            last.set(over.get());
            keys.incrementAndGet();
        });
        List<FutureTask<Void>> clients = new ArrayList<>();
        for (int i = 0; i < 2 * AT_EACH; i++) {
            int port = (i % 2 == 0 ? first : second).port();
            clients.add(new FutureTask<>(() -> {
                do {
                    together.await();
                    fire(port, "flip-" + (keys.get() - 1));
                } while (!last.get());
                return null;
            }));
        }
        clients.forEach(client -> Thread.ofVirtual().start(client));
        for (FutureTask<Void> client : clients) {
            client.get();
        }
    }

    private void fire(int port, String key) throws IOException {
        try (KeepAliveClient caller = new KeepAliveClient(port)) {
            Reply reply = caller.send(
                    "POST /v1/workflows/flip/trigger",
                    "Idempotency-Key: " + key + "\r\n",
                    "{\"data\": {\"id\": \"" + key + "\"}}");
            replies.computeIfAbsent(key, _ -> new ConcurrentLinkedQueue<>()).add(reply);
        }
    }

    private void judge(int sent) {
        assertEquals(sent, replies.size());
        replies.forEach((key, answers) -> {
            assertEquals(2 * AT_EACH + 1, answers.size(), key);
            assertTrue(answers.stream().allMatch(reply -> reply.status() == 200), () -> key + ": " + answers);
            assertEquals(
                    1,
                    answers.stream()
                            .map(reply -> reply.json().get("run_id"))
                            .distinct()
                            .count(),
                    () -> key + " has several runs: " + answers);
            assertEquals(
                    1,
                    answers.stream()
                            .filter(reply ->
                                    !reply.json().get("idempotent_replayed").booleanValue())
                            .count(),
                    () -> key + " was not fresh exactly once: " + answers);
        });
        assertEquals(sent, RealPostgres.number(url, "SELECT count(*) FROM semel_run"));
        assertEquals(sent, RealPostgres.number(url, "SELECT count(DISTINCT key) FROM semel_run"));
        // Without this the trial would show nothing: every way of naming a key has admitted some.
        assertEquals(3, RealPostgres.number(url, "SELECT count(DISTINCT kind) FROM semel_key"));
    }
}
