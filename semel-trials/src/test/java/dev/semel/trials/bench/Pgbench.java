package dev.semel.trials.bench;

import java.io.IOException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.concurrent.TimeUnit;

/** PostgreSQL's own yardstick in the same run: one-row inserts of 64 clients, each its own commit. */
final class Pgbench {
    private Pgbench() {}

    static void measure(int port, double seconds) throws IOException, InterruptedException {
        Path script = Files.createTempFile("insert", ".sql");
        Files.writeString(script, """
            INSERT INTO bench_row (id, body) VALUES (gen_random_uuid(), 'payment pay_abc 4900 usd');
            """);
        run(
                "psql",
                "-q",
                "-h",
                "127.0.0.1",
                "-p",
                String.valueOf(port),
                "-U",
                "postgres",
                "-c",
                "CREATE TABLE IF NOT EXISTS bench_row (id uuid PRIMARY KEY, body text NOT NULL)",
                "postgres");
        String out = run(
                "pgbench",
                "-n",
                "-h",
                "127.0.0.1",
                "-p",
                String.valueOf(port),
                "-U",
                "postgres",
                "-f",
                script.toString(),
                "-c",
                "64",
                "-j",
                "2",
                "-M",
                "prepared",
                "-T",
                String.valueOf((int) seconds),
                "postgres");
        out.lines()
                .filter(line -> line.startsWith("tps"))
                .forEach(line -> System.out.println("pgbench one-row insert   " + line));
    }

    private static String run(String... command) throws IOException, InterruptedException {
        Process process = new ProcessBuilder(command).redirectErrorStream(true).start();
        String out = new String(process.getInputStream().readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
        if (!process.waitFor(10, TimeUnit.MINUTES) || process.exitValue() != 0) {
            throw new IOException(command[0] + " failed: " + out);
        }
        return out;
    }
}
