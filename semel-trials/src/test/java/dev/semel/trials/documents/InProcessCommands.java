package dev.semel.trials.documents;

import com.sun.net.httpserver.HttpExchange;
import com.sun.net.httpserver.HttpServer;
import dev.semel.server.cli.CliRootCommand;
import dev.semel.server.cli.command.CliCommandEnvironment;
import java.io.ByteArrayInputStream;
import java.io.IOException;
import java.io.PrintWriter;
import java.io.StringWriter;
import java.net.InetAddress;
import java.net.InetSocketAddress;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.nio.file.Path;
import java.nio.file.attribute.PosixFilePermissions;
import java.util.Arrays;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.concurrent.Executors;

/**
 * The commands of documents without a process each: a script called {@code semel} hands its words, folder, variables and
 * input to the command line in this process, and prints what that says. What starts servers, or looks at the installation
 * itself, is left to the real launcher; so is the page that a reader meets first, which does not come here at all.
 */
final class InProcessCommands implements AutoCloseable {
    private static final String SCRIPT = """
        #!/bin/bash
        case "${1-}" in dev | serve | demo | doctor | -* | '') exec '%s' "$@" ;; esac
        asked=$(mktemp -d)
        trap 'rm -rf "$asked"' EXIT
        # One stream or two: where both go to the same place the lines keep their order.
        streams=2
        [ /proc/self/fd/1 -ef /proc/self/fd/2 ] && streams=1
        {
            printf '%%s\\0' "$PWD" "$asked" "$streams" "$#" "$@"
            env -0 | grep -z -E '^(SEMEL_|NO_COLOR)'
            printf '\\0'
            cat
        } >"$asked/words"
        code=$(curl -sS --data-binary @"$asked/words" '%s') || exit 70
        cat "$asked/out"
        cat "$asked/err" >&2
        exit "$code"
        """;

    private final HttpServer http;
    private final Path folder;

    /** @param checkout where the real launcher and the examples are */
    InProcessCommands(Path checkout) throws IOException {
        folder = Files.createTempDirectory("semel-resident");
        http = HttpServer.create(new InetSocketAddress(InetAddress.getLoopbackAddress(), 0), 0);
        http.setExecutor(Executors.newVirtualThreadPerTaskExecutor());
        http.createContext("/", InProcessCommands::answer);
        http.start();
        String url = "http://127.0.0.1:" + http.getAddress().getPort() + "/";
        Path script = folder.resolve("semel");
        Files.writeString(script, SCRIPT.formatted(checkout.resolve("semel"), url));
        Files.setPosixFilePermissions(script, PosixFilePermissions.fromString("rwx------"));
        Files.createSymbolicLink(folder.resolve("examples"), checkout.resolve("examples"));
    }

    /** Stands in for the checkout: in front of the path, and linked into the folder of a document. */
    Path commands() {
        return folder;
    }

    private static void answer(HttpExchange exchange) throws IOException {
        try (exchange) {
            byte[] code = String.valueOf(run(exchange.getRequestBody().readAllBytes()))
                    .getBytes(StandardCharsets.UTF_8);
            exchange.sendResponseHeaders(200, code.length);
            exchange.getResponseBody().write(code);
        }
    }

    private static int run(byte[] asked) throws IOException {
        NulTerminatedReader words = new NulTerminatedReader(asked);
        Path here = Path.of(words.next());
        Path out = Path.of(words.next());
        boolean together = words.next().equals("1");
        String[] arguments = new String[Integer.parseInt(words.next())];
        Arrays.setAll(arguments, _ -> words.next());
        Map<String, String> environment = new HashMap<>();
        for (String pair = words.next(); !pair.isEmpty(); pair = words.next()) {
            List<String> parts = List.of(pair.split("=", 2));
            environment.put(parts.getFirst(), parts.getLast());
        }
        StringWriter said = new StringWriter();
        StringWriter talked = together ? said : new StringWriter();
        CliCommandEnvironment real = CliCommandEnvironment.system();
        CliCommandEnvironment around = new CliCommandEnvironment(
                environment,
                new ByteArrayInputStream(words.rest()),
                new PrintWriter(said, true),
                new PrintWriter(talked, true),
                false,
                real.clock(),
                real.sleeper(),
                here);
        int exit = CliRootCommand.commandLine(around, _ -> 70).execute(arguments);
        around.out().flush();
        around.err().flush();
        Files.writeString(out.resolve("out"), as(here, said));
        Files.writeString(out.resolve("err"), together ? "" : as(here, talked));
        return exit;
    }

    /** A process has its folder and shows a file as it was named; here the folder is put in front. */
    private static String as(Path here, StringWriter text) {
        return text.toString().replace(here + "/", "");
    }

    /** Texts that end with NUL, and what is behind them. */
    private static final class NulTerminatedReader {
        private final byte[] bytes;
        private int at;

        NulTerminatedReader(byte[] bytes) {
            this.bytes = bytes;
        }

        String next() {
            int end = at;
            while (bytes[end] != 0) {
                end++;
            }
            String word = new String(bytes, at, end - at, StandardCharsets.UTF_8);
            at = end + 1;
            return word;
        }

        byte[] rest() {
            return Arrays.copyOfRange(bytes, at, bytes.length);
        }
    }

    @Override
    public void close() throws IOException {
        http.stop(0);
        Folders.delete(folder);
    }
}
