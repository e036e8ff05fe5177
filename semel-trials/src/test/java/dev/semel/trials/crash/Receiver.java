package dev.semel.trials.crash;

import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** {@link CountingProvider} in a process of its own, started from its source so that not even our class path is in its reach. */
public final class Receiver implements AutoCloseable {
    private static final Path SOURCE = Path.of("src/test/java/dev/semel/trials/crash/CountingProvider.java");

    private final Process process;
    private final Path log;
    private final int port;

    /** One request as the receiver noted it, before it answered. */
    record ReceivedRequest(String method, String path, String key, String bodyHash, String decision) {
        static ReceivedRequest parse(String line) {
            String[] parts = line.split("\t", -1);
            return new ReceivedRequest(parts[2], parts[3], parts[4], parts[5], parts[6]);
        }

        boolean isPost() {
            return method.equals("POST");
        }

        boolean accepted() {
            return decision.equals("accepted");
        }
    }

    private Receiver(Process process, Path log, int port) {
        this.process = process;
        this.log = log;
        this.port = port;
    }

    public static Receiver start(Path folder) {
        Path log = folder.resolve("effectd.log");
        try {
            Process process = new ProcessBuilder(
                            Path.of(System.getProperty("java.home"), "bin", "java")
                                    .toString(),
                            "-Xmx64m",
                            "-XX:+UseSerialGC",
                            "-XX:TieredStopAtLevel=1",
                            SOURCE.toAbsolutePath().toString(),
                            log.toString())
                    .directory(folder.toFile())
                    .redirectError(folder.resolve("effectd.err").toFile())
                    .start();
            BufferedReader said =
                    new BufferedReader(new InputStreamReader(process.getInputStream(), StandardCharsets.UTF_8));
            String first = Objects.requireNonNullElse(said.readLine(), "nothing");
            if (!first.startsWith("listening ")) {
                throw new AssertionError("the receiver said " + first + "\n"
                        + Files.readString(folder.resolve("effectd.err"), StandardCharsets.UTF_8));
            }
            return new Receiver(process, log, Integer.parseInt(first.substring("listening ".length())));
        } catch (IOException e) {
            throw new AssertionError("the receiver did not start", e);
        }
    }

    public String url() {
        return "http://127.0.0.1:" + port;
    }

    /** Where it notes every request. */
    public Path log() {
        return log;
    }

    /** All that came for one name, in the order in which it came. */
    List<ReceivedRequest> of(String name) {
        try {
            return Files.readAllLines(log, StandardCharsets.UTF_8).stream()
                    .map(ReceivedRequest::parse)
                    .filter(line -> line.path().endsWith("/" + name))
                    .toList();
        } catch (IOException e) {
            throw new AssertionError("the receiver's log cannot be read", e);
        }
    }

    /** All that ever came, by the last part of the path. */
    Map<String, List<ReceivedRequest>> byName() {
        try (Stream<String> lines = Files.lines(log, StandardCharsets.UTF_8)) {
            return lines.map(ReceivedRequest::parse)
                    .collect(Collectors.groupingBy(
                            line -> line.path().substring(line.path().lastIndexOf('/') + 1)));
        } catch (IOException e) {
            throw new AssertionError("the receiver's log cannot be read", e);
        }
    }

    @Override
    public void close() {
        process.destroy();
    }
}
