package dev.semel.trials.crash;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.net.URI;
import java.net.http.HttpClient;
import java.net.http.HttpRequest;
import java.net.http.HttpResponse;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import org.junit.jupiter.api.Tag;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.api.io.TempDir;

/**
 * Two servers on one PostgreSQL, many schedules every second, kill -9 in between: each nominal time is one row with one
 * run of its own, and none is missing. `semel-trials/ticks` plays the long form.
 */
@Tag("trial")
class TicksTest {
    private static final int SCHEDULES = Integer.getInteger("ticks.schedules", 60);
    private static final int SECONDS = Integer.getInteger("ticks.seconds", 10);
    private static final int EACH = 20;
    private static final int BETWEEN_KILLS = 4;

    @TempDir
    Path folder;

    @Test
    void every_nominal_time_is_one_row_and_one_run_despite_kills() throws Exception {
        String url = RealPostgres.url(RealPostgres.newDatabase());
        ProcessServer[] servers = {start("one", url), start("two", url)};
        try {
            for (int i = 0; i * EACH < SCHEDULES; i++) {
                publish(servers[i % 2].port(), i);
            }
            long begun = now(url);
            for (int at = BETWEEN_KILLS; at < SECONDS; at += BETWEEN_KILLS) {
                long moment = begun + at * 1_000_000L;
                Await.holds("some seconds have passed", () -> now(url) >= moment);
                int victim = at / BETWEEN_KILLS % 2;
                servers[victim].kill();
                servers[victim] = start(victim == 0 ? "one" : "two", url);
            }
            long end = now(url) / 1_000_000 * 1_000_000;
            Await.holds(
                    "every tick until then is seen to",
                    () -> number(url, "SELECT min(next_nominal) FROM semel_schedule") > end);
            judge(url, end);
        } finally {
            servers[0].close();
            servers[1].close();
        }
    }

    private static void judge(String url, long end) {
        long rows = number(url, "SELECT count(*) FROM semel_schedule_tick WHERE nominal <= " + end);
        System.out.println("ticks: " + rows + " rows of " + SCHEDULES + " schedules");
        assertTrue(rows > SCHEDULES * (long) BETWEEN_KILLS, "too little happened: " + rows);
        assertEquals(SCHEDULES, number(url, "SELECT count(DISTINCT workflow_id || schedule) FROM semel_schedule_tick"));
        assertEquals(0, number(url, """
            SELECT count(*) FROM (
                SELECT count(*) AS rows, (max(nominal) - min(nominal)) / 1000000 + 1 AS seconds FROM semel_schedule_tick
                WHERE nominal <= %d GROUP BY workflow_id, schedule) s WHERE rows <> seconds
            """.formatted(end)), "schedules with a nominal time that is not a row");
        assertEquals(0, number(url, "SELECT count(*) FROM semel_schedule_tick WHERE nominal % 1000000 <> 0"));
        assertEquals(0, number(url, "SELECT count(*) FROM semel_schedule_tick WHERE state > 2"), "all are made up for");
        assertEquals(0, number(url, """
            SELECT count(*) FROM semel_schedule_tick t LEFT JOIN semel_run r ON r.run = t.run WHERE r.run IS NULL
            """), "ticks whose run is not there");
        assertEquals(
                0,
                number(
                        url,
                        "SELECT count(*) FROM (SELECT run FROM semel_schedule_tick GROUP BY run HAVING count(*) > 1)"
                                + " d"),
                "runs of two ticks");
        assertEquals(0, number(url, """
            SELECT count(*) FROM semel_run r LEFT JOIN semel_schedule_tick t ON t.run = r.run
            WHERE r.trigger_source = 7 AND t.run IS NULL AND r.created_at <= %d - 20000000
            """.formatted(end)), "runs that no tick knows");
        assertEquals(0, number(url, """
            SELECT count(*) FROM semel_schedule_tick t JOIN semel_run r ON r.run = t.run WHERE r.created_at < t.nominal
            """), "ticks that fired before their time");
    }

    private ProcessServer start(String name, String url) throws Exception {
        return ProcessServer.start(new ProcessServer.Start(Files.createDirectories(folder.resolve(name)), url));
    }

    private static void publish(int port, int number) throws Exception {
        String name = "ticking_" + number;
        String schedules = IntStream.range(0, EACH)
                .mapToObj(i -> "    - {id: s" + i + ", every: 1s, overlap: allow, catch_up: {mode: all, within: 1h}}\n")
                .collect(Collectors.joining());
        String file = "semel: 1\nworkflow: " + name + "\ntrigger:\n  schedules:\n" + schedules
                + "steps: [{id: note, set: {at: \"${ input.scheduled_at }\"}}]\n";
        try (HttpClient client = HttpClient.newHttpClient()) {
            HttpRequest request = HttpRequest.newBuilder(
                            URI.create("http://127.0.0.1:" + port + "/v1/workflows/" + name))
                    .header("Authorization", "Bearer dev")
                    .header("Content-Type", "application/yaml")
                    .PUT(HttpRequest.BodyPublishers.ofString(file))
                    .build();
            HttpResponse<String> answer = client.send(request, HttpResponse.BodyHandlers.ofString());
            assertEquals(200, answer.statusCode(), answer.body());
        }
    }

    private static long now(String url) {
        return number(url, "SELECT (extract(epoch FROM clock_timestamp()) * 1000000)::bigint");
    }

    private static long number(String url, String sql) {
        return RealPostgres.number(url, sql);
    }
}
