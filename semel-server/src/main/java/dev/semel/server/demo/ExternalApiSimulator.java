package dev.semel.server.demo;

import com.sun.net.httpserver.HttpExchange;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJsonCodec;
import dev.semel.server.demo.LoopbackHttpServer.HttpReply;
import java.io.IOException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.LinkedHashMap;
import java.util.LinkedHashSet;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.concurrent.Executors;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Simulates every provider that a workflow calls and records each call and each effect. A response echoes the request
 * with an id and the configured fields. It can drop one response after the effect.
 */
public final class ExternalApiSimulator implements AutoCloseable {
    private static final int THREADS = 8;
    private static final int LARGEST_BODY = 4 << 20;
    private static final int MOST_CALLS = 10_000;

    private final LoopbackHttpServer http;
    private final List<RecordedCall> calls = new ArrayList<>();
    private final Map<String, ObjectNode> known = new HashMap<>();
    private List<SimulatedProvider> roles = List.of();
    private @Nullable String dropResponseOf;

    /**
     * A provider that steps call.
     *
     * @param step the steps that call it, for display
     * @param url pattern for `host/path`, without the scheme
     * @param remembersKeys whether a repeated key gets the first response without a second effect
     * @param extraFields fields that the response has in addition to the request
     */
    public record SimulatedProvider(
            String step, String method, Pattern url, boolean remembersKeys, int status, JsonNode extraFields) {}

    /**
     * @param effectId identifies the effect: the request's key, else the whole request
     * @param isEffect whether it caused an effect; the same name twice is then a duplicate
     */
    public record RecordedCall(
            String step, String method, String effectId, boolean isEffect, boolean responseDropped) {}

    private ExternalApiSimulator() throws IOException {
        var factory = Thread.ofPlatform().daemon().name("demo-provider-", 0).factory();
        this.http = new LoopbackHttpServer(0, Executors.newFixedThreadPool(THREADS, factory), this::answer);
    }

    public static ExternalApiSimulator start() throws IOException {
        return new ExternalApiSimulator();
    }

    public int port() {
        return http.port();
    }

    /** Resets all records and simulates these providers. @param lose step whose next response is dropped, or null */
    public synchronized void configure(List<SimulatedProvider> providers, @Nullable String lose) {
        roles = List.copyOf(providers);
        dropResponseOf = lose;
        calls.clear();
        known.clear();
    }

    public synchronized List<RecordedCall> calls() {
        return List.copyOf(calls);
    }

    /** How often each effect happened, by step and effect id. */
    public synchronized Map<String, Integer> effectCounts() {
        Map<String, Integer> out = new LinkedHashMap<>();
        calls.stream()
                .filter(RecordedCall::isEffect)
                .forEach(call -> out.merge(call.step() + "\n" + call.effectId(), 1, Integer::sum));
        return out;
    }

    /** The steps that caused effects, in order of their first effect. */
    public synchronized Set<String> stepsWithEffects() {
        Set<String> out = new LinkedHashSet<>();
        calls.stream().filter(RecordedCall::isEffect).forEach(call -> out.add(call.step()));
        return out;
    }

    /** Null means no response. */
    private @Nullable HttpReply answer(HttpExchange exchange) throws IOException {
        byte[] body = exchange.getRequestBody().readNBytes(LARGEST_BODY);
        return answer(exchange, new String(body, StandardCharsets.UTF_8));
    }

    private synchronized @Nullable HttpReply answer(HttpExchange exchange, String body) {
        String method = exchange.getRequestMethod();
        String url = exchange.getRequestHeaders().getFirst("Host") + exchange.getRequestURI();
        SimulatedProvider role = roles.stream()
                .filter(one ->
                        one.method().equals(method) && one.url().matcher(url).matches())
                .findFirst()
                .orElseGet(() -> new SimulatedProvider(
                        method + " " + url.replaceAll("[?].*", ""),
                        method,
                        Pattern.compile(".*"),
                        false,
                        200,
                        object()));
        boolean reads = method.equals("GET") || method.equals("HEAD");
        String name = name(exchange, method + " " + url + " " + body);
        ObjectNode before = role.remembersKeys() ? known.get(name) : null;
        String type = String.valueOf(exchange.getRequestHeaders().getFirst("Content-Type"));
        boolean grants = type.contains("form-urlencoded") && body.contains("grant_type=");
        boolean effect = !reads && !grants && before == null;
        boolean dropped = effect && role.step().equals(dropResponseOf);
        if (calls.size() < MOST_CALLS) {
            calls.add(new RecordedCall(role.step(), method, name, effect, dropped));
        }
        ObjectNode response = before == null ? response(role, body) : before;
        if (grants) {
            response.put("access_token", "scratch").put("token_type", "Bearer").put("expires_in", 3_600);
        }
        if (effect) {
            known.put(name, response);
        }
        if (dropped) {
            dropResponseOf = null;
            return null;
        }
        return new HttpReply(role.status(), "application/json", StrictJsonCodec.write(response));
    }

    /** The key from any idempotency header, else the given default. */
    private static String name(HttpExchange exchange, String otherwise) {
        for (Map.Entry<String, List<String>> header :
                exchange.getRequestHeaders().entrySet()) {
            if (header.getKey().toLowerCase(java.util.Locale.ROOT).contains("idempot")) {
                return header.getValue().getFirst();
            }
        }
        return otherwise;
    }

    private ObjectNode response(SimulatedProvider role, String body) {
        ObjectNode out = object();
        try {
            if (StrictJsonCodec.parse(body) instanceof ObjectNode sent) {
                out.setAll(sent);
            }
        } catch (SemelException notJson) {
            out.put("received", body.length());
        }
        out.put("id", "id_" + (calls.size() + 1));
        if (role.extraFields() instanceof ObjectNode more) {
            out.setAll(more);
        }
        return out;
    }

    private static ObjectNode object() {
        return JsonNodeFactory.instance.objectNode();
    }

    @Override
    public void close() {
        http.close();
    }
}
