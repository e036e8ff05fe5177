package dev.semel.server.demo;

import com.sun.net.httpserver.HttpExchange;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJsonCodec;
import dev.semel.server.demo.LoopbackHttpServer.HttpReply;
import dev.semel.server.http.AllowedHosts;
import java.io.IOException;
import java.io.UncheckedIOException;
import java.net.BindException;
import java.net.URLDecoder;
import java.nio.charset.StandardCharsets;
import java.util.concurrent.ArrayBlockingQueue;
import java.util.concurrent.ThreadPoolExecutor;
import java.util.concurrent.TimeUnit;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * A local HTTP server with fake providers that count calls and effects. `GET /` shows the counts as text, `GET /counts`
 * as JSON. `POST /lose/{provider}` drops the response of the next call after its effect. All state is in memory.
 */
public final class DemoExternalApiServer implements AutoCloseable {
    /** The address in the example files. */
    public static final String DEFAULT_URL = "http://127.0.0.1:8086";

    private static final int THREADS = 8;
    private static final int WAITING_CALLS = 256;
    private static final int LARGEST_BODY = 64 << 10;
    private static final int HIGHEST_PORT = 65_535;

    private final DemoExternalApiRegistry providers = new DemoExternalApiRegistry();
    private final LoopbackHttpServer http;

    public record CallCounts(long calls, long effects) {}

    private DemoExternalApiServer(int port) throws IOException {
        this.http = new LoopbackHttpServer(
                port,
                new ThreadPoolExecutor(
                        THREADS,
                        THREADS,
                        1,
                        TimeUnit.MINUTES,
                        new ArrayBlockingQueue<>(WAITING_CALLS),
                        Thread.ofPlatform().daemon().name("playground-", 0).factory()),
                this::page);
    }

    /** @param port preferred port; if it is in use, or 0, the server uses a free port */
    public static DemoExternalApiServer start(int port) {
        try {
            try {
                return new DemoExternalApiServer(port > HIGHEST_PORT ? 0 : port);
            } catch (BindException inUse) {
                return new DemoExternalApiServer(0);
            }
        } catch (IOException e) {
            throw new UncheckedIOException("The demo providers found no free port. The demo did not start.", e);
        }
    }

    public String url() {
        return "http://127.0.0.1:" + http.port();
    }

    public CallCounts counts(DemoExternalApi provider) {
        return providers.counts(provider);
    }

    /** Drops the response of the next write call: it has its effect, `then` runs, and the client gets no response. */
    public void dropNextResponse(DemoExternalApi provider, Runnable then) {
        providers.dropNextResponse(provider, then);
    }

    /** Null means no response. */
    private @Nullable HttpReply page(HttpExchange exchange) throws IOException {
        String host = exchange.getRequestHeaders().getFirst("Host");
        if (host == null || !AllowedHosts.LOOPBACK.accepts(host)) {
            return json(403, object("error", "the Host header does not name this machine; nothing was done"));
        }
        boolean isRead = exchange.getRequestMethod().equals("GET");
        String[] path = exchange.getRequestURI().getPath().substring(1).split("/", 2);
        String rest = path.length > 1 ? path[1] : "";
        if (isRead && path[0].isEmpty()) {
            return new HttpReply(200, "text/plain; charset=utf-8", providers.toText());
        }
        if (isRead && path[0].equals("counts") && rest.isEmpty()) {
            return json(200, providers.toJson());
        }
        boolean drop = path[0].equals("lose");
        DemoExternalApi provider = DemoExternalApi.fromPathName(drop ? rest : path[0]);
        if (provider == null || !(isRead || exchange.getRequestMethod().equals("POST")) || (drop && isRead)) {
            return missing();
        }
        if (drop) {
            providers.dropNextResponse(provider, () -> {});
            return json(200, object("lost", "the response of the next call to " + provider.pathName()));
        }
        JsonNode body = body(exchange);
        if (body == null) {
            return json(400, object("error", "the body is not a JSON object of at most 64 KiB; nothing was done"));
        }
        String key = exchange.getRequestHeaders().getFirst("Idempotency-Key");
        var request = new DemoExternalApiState.ProviderRequest(
                isRead, rest, externalId(exchange.getRequestURI().getRawQuery()), key == null ? "" : key, body);
        DemoExternalApiRegistry.CallResult outcome = providers.handle(provider, request);
        if (outcome.onDrop() != null) {
            outcome.onDrop().run();
            return null;
        }
        DemoExternalApiState.ProviderResponse response = outcome.response();
        return response == null ? missing() : json(response.status(), response.body());
    }

    private static String externalId(@Nullable String query) {
        return Stream.of(query == null ? new String[0] : query.split("&"))
                .filter(pair -> pair.startsWith("external_id="))
                .map(pair -> URLDecoder.decode(pair.substring("external_id=".length()), StandardCharsets.UTF_8))
                .findFirst()
                .orElse("");
    }

    /** Null if it is not a JSON object or too large. */
    private static @Nullable JsonNode body(HttpExchange exchange) throws IOException {
        byte[] bytes = exchange.getRequestBody().readNBytes(LARGEST_BODY + 1);
        if (bytes.length == 0) {
            return JsonNodeFactory.instance.objectNode();
        }
        if (bytes.length > LARGEST_BODY) {
            return null;
        }
        try {
            JsonNode body = StrictJsonCodec.parse(new String(bytes, StandardCharsets.UTF_8));
            return body.isObject() ? body : null;
        } catch (SemelException e) {
            return null;
        }
    }

    private static HttpReply missing() {
        return json(404, object("error", "no demo provider has this endpoint; GET / lists the providers"));
    }

    private static JsonNode object(String member, String text) {
        return JsonNodeFactory.instance.objectNode().put(member, text);
    }

    private static HttpReply json(int status, JsonNode body) {
        return new HttpReply(status, "application/json", StrictJsonCodec.write(body) + "\n");
    }

    @Override
    public void close() {
        http.close();
    }
}
