package dev.semel.server.cli.server;

import dev.semel.server.cli.command.CliApiClient;
import dev.semel.server.cli.command.CliApiRequest;
import dev.semel.server.cli.command.CliApiResponse;
import dev.semel.server.cli.command.CliCommandEnvironment;
import dev.semel.server.cli.command.CliCommandException;
import dev.semel.server.cli.command.CliDurationFormatter;
import dev.semel.server.cli.command.CliNoServerResponseException;
import dev.semel.server.cli.command.CliServerConnectionOptions;
import dev.semel.server.cli.command.TerminalJsonFormatter;
import java.io.IOException;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.net.ServerSocket;
import java.nio.file.Files;
import java.nio.file.Path;
import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Optional;
import picocli.CommandLine.ParameterException;

/** The checks of `semel doctor`. They change nothing, except that one creates and deletes an empty file. */
public record DoctorChecks(CliCommandEnvironment environment, CliServerConnectionOptions connection) {
    private static final long MIB = 1 << 20;
    private static final CliApiRequest WORKFLOWS =
            CliApiRequest.get("v1", "workflows").withQuery("limit", "1").withTimeout(Duration.ofSeconds(5));

    List<DoctorFinding> runAll(int port, Path data) {
        List<DoctorFinding> findings = new ArrayList<>();
        findings.add(checkJava(Runtime.version().feature(), System.getProperty("java.home", "")));
        findings.add(port(port));
        findings.add(store(data));
        findings.add(checkSecretKey(environment.variable("SEMEL_SECRET_KEY")));
        server(findings);
        return findings;
    }

    public static DoctorFinding checkJava(int version, String home) {
        String detail = "Java " + version + " in " + home;
        return version >= 25
                ? DoctorFinding.ok("java", detail)
                : DoctorFinding.fail("java", detail, "Install a JDK 25 and set SEMEL_JAVA_HOME to its folder.");
    }

    /** A missing key is not an error: `dev` creates its own, and a server without secrets needs none. */
    public static DoctorFinding checkSecretKey(String keys) {
        String make = "openssl rand -base64 32";
        if (keys.isBlank()) {
            return DoctorFinding.ok(
                    "secrets", "SEMEL_SECRET_KEY is not set; to store secrets, `semel serve` needs a key: " + make);
        }
        for (String key : keys.strip().split(",", -1)) {
            if (!isKey(key.strip())) {
                return DoctorFinding.fail(
                        "secrets", "SEMEL_SECRET_KEY is not the base64 of 32 bytes", "Create a key: " + make);
            }
        }
        return DoctorFinding.ok("secrets", "SEMEL_SECRET_KEY is set");
    }

    private static boolean isKey(String base64) {
        try {
            return Base64.getDecoder().decode(base64).length == 32;
        } catch (IllegalArgumentException notBase64) {
            return false;
        }
    }

    private DoctorFinding port(int port) {
        try (ServerSocket socket = new ServerSocket()) {
            // As servers do, so that a port in TIME_WAIT counts as free.
            socket.setReuseAddress(true);
            socket.bind(new InetSocketAddress(InetAddress.getLoopbackAddress(), port));
            return DoctorFinding.ok("port", port + " is free");
        } catch (IOException taken) {
            String address = "http://127.0.0.1:" + port;
            return isSemel(new CliApiClient(address, ""))
                    ? DoctorFinding.ok("port", "a Semel server answers on " + port)
                    : DoctorFinding.warn(
                            "port",
                            port + " is in use by a program that is not Semel",
                            "Use another port: semel dev --port " + (port == 65_535 ? 8086 : port + 1));
        }
    }

    /** Without a token, only Semel answers with this error code. */
    private static boolean isSemel(CliApiClient api) {
        try {
            CliApiResponse answer = api.exchange(WORKFLOWS);
            return answer.isJson()
                    && (answer.code().equals("unauthenticated") || answer.body().has("items"));
        } catch (CliNoServerResponseException none) {
            return false;
        }
    }

    private DoctorFinding store(Path data) {
        if (environment.variable("SEMEL_STORE").startsWith("jdbc:")) {
            return DoctorFinding.ok("store", "SEMEL_STORE is a database server; the check `ready` shows its health");
        }
        Path folder = data.toAbsolutePath();
        while (!Files.exists(folder) && folder.getParent() != null) {
            folder = folder.getParent();
        }
        Path file = data.resolve("semel.db");
        if (!Files.isDirectory(folder) || !writable(folder) || (Files.exists(file) && !Files.isWritable(file))) {
            return DoctorFinding.fail(
                    "store",
                    data + " cannot be written",
                    "Change the owner of the folder, or choose another folder with --data.");
        }
        try {
            return checkDiskSpace(data, Files.getFileStore(folder).getUsableSpace() / MIB);
        } catch (IOException unknown) {
            return DoctorFinding.warn(
                    "store", data + " is writable; its free space is not known", "Check the free space with df.");
        }
    }

    public static DoctorFinding checkDiskSpace(Path data, long freeMib) {
        String detail =
                data + " is writable, " + (freeMib >= 1024 ? freeMib / 1024 + " GiB" : freeMib + " MiB") + " free";
        if (freeMib >= 1024) {
            return DoctorFinding.ok("store", detail);
        }
        String fix =
                "Free some space. On a full disk the server rejects triggers with 503; accepted triggers are not lost.";
        return freeMib >= 100 ? DoctorFinding.warn("store", detail, fix) : DoctorFinding.fail("store", detail, fix);
    }

    /** Creates a file to find out, because root and read-only mounts ignore permission bits. */
    private static boolean writable(Path folder) {
        try {
            Files.delete(Files.createTempFile(folder, ".semel-doctor", ""));
            return true;
        } catch (IOException notWritable) {
            return false;
        }
    }

    private void server(List<DoctorFinding> findings) {
        String address = connection.address();
        CliApiClient apiClient = new CliApiClient(address, "");
        Instant before = environment.clock().instant();
        CliApiResponse health;
        try {
            health = apiClient.exchange(CliApiRequest.get("healthz").withTimeout(Duration.ofSeconds(5)));
        } catch (CliNoServerResponseException none) {
            String detail = address + ": " + none.reason();
            findings.add(
                    connection.hasExplicitAddress()
                            ? DoctorFinding.fail(
                                    "server", detail, "Start the server, or check --server and SEMEL_SERVER.")
                            : DoctorFinding.warn("server", detail, "Start a server: semel dev"));
            return;
        }
        Instant after = environment.clock().instant();
        if (!isSemel(apiClient)) {
            findings.add(DoctorFinding.fail(
                    "server",
                    address + " is answered by a program that is not Semel",
                    "Check --server and SEMEL_SERVER."));
            return;
        }
        findings.add(
                health.isSuccess()
                        ? DoctorFinding.ok("server", address + " is alive")
                        : DoctorFinding.fail(
                                "server",
                                address + "/healthz answers " + health.status(),
                                "Check the log of the server."));
        findings.add(ready(apiClient));
        health.date().ifPresent(date -> findings.add(checkClock(date, before, after)));
        findings.add(token());
    }

    private static DoctorFinding ready(CliApiClient api) {
        try {
            CliApiResponse answer = api.exchange(CliApiRequest.get("readyz").withTimeout(Duration.ofSeconds(10)));
            String warning = TerminalJsonFormatter.text(answer.body(), "warning");
            if (answer.isSuccess() && !warning.isEmpty()) {
                return DoctorFinding.warn(
                        "ready", warning, "Correct the clock, or run `semel clock confirm` if it is right.");
            }
            if (answer.isSuccess()) {
                return DoctorFinding.ok("ready", "the server accepts triggers");
            }
            String detail = TerminalJsonFormatter.text(answer.body(), "detail");
            return DoctorFinding.fail(
                    "ready",
                    "/readyz answers " + answer.status() + (detail.isEmpty() ? "" : ": " + detail),
                    "The server rejects triggers for now; senders may retry. Check the store, then the log.");
        } catch (CliNoServerResponseException none) {
            return DoctorFinding.fail("ready", "/readyz: " + none.reason(), "Check the store, then the log.");
        }
    }

    /** A Date header has whole seconds, and the response arrived between the two readings of the local clock. */
    public static DoctorFinding checkClock(Instant server, Instant before, Instant after) {
        Duration early = Duration.between(server.plusSeconds(1), before);
        Duration late = Duration.between(after, server);
        Duration apart = early.compareTo(late) > 0 ? early : late;
        return apart.compareTo(Duration.ofSeconds(5)) <= 0
                ? DoctorFinding.ok("clock", "the server's clock agrees with the clock of this machine")
                : DoctorFinding.warn(
                        "clock",
                        "the clocks of the server and of this machine are " + CliDurationFormatter.format(apart)
                                + " apart",
                        "Synchronise both machines with NTP. Key windows use only the store's clock.");
    }

    private DoctorFinding token() {
        String fix = "Put a valid token into SEMEL_TOKEN or into the --token-file; `semel token create` creates one.";
        try {
            CliApiResponse answer = connection.api().exchange(WORKFLOWS);
            return switch (answer.status()) {
                case 200 -> DoctorFinding.ok("token", "the server accepts this token");
                case 401 -> DoctorFinding.fail("token", "the server does not know this token", fix);
                case 403 ->
                    DoctorFinding.warn(
                            "token",
                            "the token is valid, but does not have the scope read",
                            "This token is enough to send triggers. To read runs, create a token with the scope read.");
                default ->
                    DoctorFinding.warn("token", "the server answered " + answer.status(), "Try again in a moment.");
            };
        } catch (CliNoServerResponseException none) {
            return DoctorFinding.fail("token", none.reason(), "Try again in a moment.");
        } catch (CliCommandException none) {
            return DoctorFinding.fail("token", "no token is configured", fix);
        } catch (ParameterException unusable) {
            return DoctorFinding.fail(
                    "token", Optional.ofNullable(unusable.getMessage()).orElse("unusable"), fix);
        }
    }
}
