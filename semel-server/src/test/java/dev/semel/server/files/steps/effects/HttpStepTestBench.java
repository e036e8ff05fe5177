package dev.semel.server.files.steps.effects;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;

import dev.semel.error.StepFailed;
import dev.semel.run.RunState;
import dev.semel.server.connectors.outbound.OutboundAddressGuard;
import dev.semel.server.connectors.outbound.OutboundHttpClient;
import dev.semel.server.connectors.outbound.OutboundRequest;
import dev.semel.server.connectors.outbound.OutboundRequestAuth;
import dev.semel.server.connectors.outbound.OutboundResponse;
import dev.semel.server.connectors.outbound.RawServer;
import dev.semel.server.files.expressions.ExpressionEvaluationException;
import dev.semel.server.files.steps.YamlStepDependencies;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.nio.file.Path;
import java.time.Duration;
import java.util.List;
import java.util.Map;
import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;
import org.junit.jupiter.api.io.TempDir;

/** A file with one http step, a provider behind a bare socket, and an engine on a store of its own. */
abstract class HttpStepTestBench {
    static final String OK = "HTTP/1.1 200 OK\r\nContent-Type: application/json\r\n\r\n";
    private static final Map<String, String> SECRETS = Map.of("TOKEN", "t0p-s3cret", "USER", "ann", "PASS", "pa55word");

    @TempDir
    Path folder;

    final RawServer server = new RawServer().answers(OK + "{\"id\":7,\"name\":\"n\"}");
    private final OutboundHttpClient outbound = new OutboundHttpClient(OutboundAddressGuard.of(true, List.of()));
    private final YamlStepDependencies outside = reaching(outbound);
    YamlTestBench bench;

    static YamlStepDependencies reaching(OutboundHttpClient client) {
        return new YamlStepDependencies() {
            @Override
            public OutboundResponse send(OutboundRequest request, OutboundRequestAuth auth) throws IOException {
                return client.send(request, auth);
            }

            @Override
            public String secret(String name, dev.semel.server.connectors.outbound.OutboundRequestUrl receiver) {
                String value = SECRETS.get(name);
                if (value == null) {
                    throw new ExpressionEvaluationException("there is no secret " + name);
                }
                return value;
            }

            @Override
            public String redact(String text) {
                String clean = text;
                for (String secret : SECRETS.values()) {
                    clean = clean.replace(secret, "•••");
                }
                return clean;
            }
        };
    }

    @BeforeEach
    void open() {
        bench = new YamlTestBench(folder, outside);
    }

    @AfterEach
    void shut() {
        bench.close();
        outbound.close();
        server.close();
    }

    String get(String path) {
        return "http: {url: \"" + server.url(path) + "\"}";
    }

    String post(String rest) {
        return """
            http:
              method: POST
              url: %s
              body: {order: "${ input.order }"}
            """.formatted(server.url("/orders")) + rest;
    }

    String result(String step, String input) {
        return bench.result(bench.start(step, input)).toString();
    }

    StepFailed failure(String step, String input) {
        String run = bench.start(step, input);
        assertEquals(RunState.FAILED, bench.settled(run));
        return assertThrows(StepFailed.class, () -> bench.run(run).result(Duration.ZERO));
    }

    String only() {
        assertEquals(1, server.requests().size());
        return server.requests().getFirst();
    }

    List<String> keys() {
        return server.requests().stream()
                .filter(text -> text.startsWith("POST"))
                .map(text -> text.replaceAll("(?s).*\r\nIdempotency-Key: ([^\r]*)\r\n.*", "$1"))
                .toList();
    }

    void oneKey(int times) {
        assertEquals(times, keys().size(), server.requests()::toString);
        assertEquals(1, keys().stream().distinct().count(), keys()::toString);
    }

    /** The effect is done and the answer is lost, so many times; then everything is answered. */
    void loses(int times, String answer) {
        server.runs((request, socket) -> {
            long posts =
                    server.requests().stream().filter(r -> r.startsWith("POST")).count();
            if (!request.startsWith("POST") || posts > times) {
                socket.getOutputStream().write(answer.getBytes(StandardCharsets.UTF_8));
            }
        });
    }
}
