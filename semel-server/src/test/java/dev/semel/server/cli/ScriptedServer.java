package dev.semel.server.cli;

import java.io.IOException;
import java.io.InputStream;
import java.io.UncheckedIOException;
import java.net.InetAddress;
import java.net.ServerSocket;
import java.net.Socket;
import java.nio.charset.StandardCharsets;
import java.util.ArrayDeque;
import java.util.ArrayList;
import java.util.Collections;
import java.util.Deque;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;

/**
 * A small HTTP server on a real socket that answers what a test wrote down, in order; the last answer of a path stays.
 * Not the JDK's own, which puts its own Date into every answer.
 */
final class ScriptedServer implements AutoCloseable {
    record ScriptedResponse(int status, String body, Map<String, String> headers) {
        ScriptedResponse with(String header, String value) {
            Map<String, String> more = new HashMap<>(headers);
            more.put(header, value);
            return new ScriptedResponse(status, body, more);
        }
    }

    record ReceivedRequest(String method, String target, Map<String, String> headers, String body) {
        String header(String name) {
            return headers.getOrDefault(name.toLowerCase(Locale.ROOT), "");
        }
    }

    /** Closes the connection after reading the request: the caller cannot know what happened. */
    static final ScriptedResponse HANG_UP = new ScriptedResponse(-1, "", Map.of());

    final List<ReceivedRequest> seen = Collections.synchronizedList(new ArrayList<>());
    private final Map<String, Deque<ScriptedResponse>> script = new HashMap<>();
    private final ServerSocket server;

    ScriptedServer() throws IOException {
        server = new ServerSocket(0, 50, InetAddress.getLoopbackAddress());
        Thread.ofVirtual().start(this::serve);
    }

    static ScriptedResponse json(int status, String body) {
        return new ScriptedResponse(status, body, Map.of("Content-Type", "application/json"));
    }

    static ScriptedResponse problem(int status, String code, boolean retryable) {
        String body = """
            {"type":"https://semel.dev/errors/%s","title":"Title of %s","status":%d,"detail":"What happened.",
             "instance":"urn:uuid:0","code":"%s","retryable":%s,"fix":"What to do."}\
            """.formatted(code, code, status, code, retryable);
        return new ScriptedResponse(status, body, Map.of("Content-Type", "application/problem+json"));
    }

    /** @param call method and raw target without its query, e.g. {@code GET /v1/runs} */
    ScriptedServer on(String call, ScriptedResponse... replies) {
        script.computeIfAbsent(call, _ -> new ArrayDeque<>()).addAll(List.of(replies));
        return this;
    }

    String address() {
        return "http://127.0.0.1:" + port();
    }

    int port() {
        return server.getLocalPort();
    }

    private void serve() {
        while (!server.isClosed()) {
            try (Socket caller = server.accept()) {
                handle(caller);
            } catch (IOException closedOrGone) {
                // The test has ended, or the caller hung up; the next accept tells which.
            }
        }
    }

    private void handle(Socket caller) throws IOException {
        InputStream in = caller.getInputStream();
        String[] first = line(in).split(" ");
        Map<String, String> headers = new HashMap<>();
        for (String line = line(in); !line.isEmpty(); line = line(in)) {
            String[] parts = line.split(": ?", 2);
            headers.put(parts[0].toLowerCase(Locale.ROOT), parts[1]);
        }
        int length = Integer.parseInt(headers.getOrDefault("content-length", "0"));
        String body = new String(in.readNBytes(length), StandardCharsets.UTF_8);
        seen.add(new ReceivedRequest(first[0], first[1], headers, body));
        ScriptedResponse reply = next(first[0] + " " + first[1].split("\\?")[0]);
        if (reply.status() < 0) {
            return;
        }
        byte[] bytes = reply.body().getBytes(StandardCharsets.UTF_8);
        StringBuilder head = new StringBuilder("HTTP/1.1 " + reply.status() + " X\r\nConnection: close\r\n");
        reply.headers().forEach((name, value) -> head.append(name + ": " + value + "\r\n"));
        head.append(reply.status() == 204 ? "\r\n" : "Content-Length: " + bytes.length + "\r\n\r\n");
        caller.getOutputStream().write(head.toString().getBytes(StandardCharsets.ISO_8859_1));
        caller.getOutputStream().write(bytes);
        caller.getOutputStream().flush();
    }

    private ScriptedResponse next(String call) {
        Deque<ScriptedResponse> replies = script.get(call);
        if (replies == null) {
            return problem(404, "not-found", false);
        }
        return replies.size() > 1 ? replies.pop() : replies.getFirst();
    }

    private static String line(InputStream in) throws IOException {
        StringBuilder line = new StringBuilder();
        for (int c = in.read(); c != '\n'; c = in.read()) {
            if (c < 0) {
                throw new IOException("the caller hung up");
            }
            line.append((char) c);
        }
        return line.toString().stripTrailing();
    }

    @Override
    public void close() {
        try {
            server.close();
        } catch (IOException gone) {
            throw new UncheckedIOException(gone);
        }
    }
}
