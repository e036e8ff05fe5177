package dev.semel.server.demo;

import dev.semel.server.demo.DemoExternalApiState.ProviderRequest;
import dev.semel.server.demo.DemoExternalApiState.ProviderResponse;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

final class DemoExternalApiRegistry {
    private static final int NEWEST = 20;
    private static final int SHOWN_KEY = 8;

    private final Map<DemoExternalApi, DemoExternalApiState> states = new EnumMap<>(DemoExternalApi.class);
    private final Map<DemoExternalApi, Runnable> drops = new EnumMap<>(DemoExternalApi.class);
    private final Deque<RecentCall> newest = new ArrayDeque<>();

    /** A call as it is shown, with only the beginning of its key. */
    private record RecentCall(String line, String key, String did, boolean lost) {}

    /**
     * @param response null if the provider has no such endpoint
     * @param onDrop if not null, the server runs this and sends no response
     */
    record CallResult(
            @Nullable ProviderResponse response, @Nullable Runnable onDrop) {}

    DemoExternalApiRegistry() {
        for (DemoExternalApi provider : DemoExternalApi.values()) {
            states.put(provider, new DemoExternalApiState(provider));
        }
    }

    synchronized void dropNextResponse(DemoExternalApi provider, Runnable then) {
        drops.put(provider, then);
    }

    synchronized CallResult handle(DemoExternalApi provider, ProviderRequest request) {
        ProviderResponse response = state(provider).handle(request);
        if (response == null) {
            return new CallResult(null, null);
        }
        Runnable onDrop = request.isRead() ? null : drops.remove(provider);
        if (newest.size() == NEWEST) {
            newest.removeLast();
        }
        String key = request.key().length() > SHOWN_KEY ? request.key().substring(0, SHOWN_KEY) + "…" : request.key();
        String line = (request.isRead() ? "GET /" : "POST /") + provider.pathName();
        newest.addFirst(new RecentCall(line, key, response.outcome(), onDrop != null));
        return new CallResult(response, onDrop);
    }

    private DemoExternalApiState state(DemoExternalApi provider) {
        return states.computeIfAbsent(provider, DemoExternalApiState::new);
    }

    synchronized DemoExternalApiServer.CallCounts counts(DemoExternalApi provider) {
        return new DemoExternalApiServer.CallCounts(
                state(provider).calls(), state(provider).effects());
    }

    synchronized ObjectNode toJson() {
        ObjectNode out = JsonNodeFactory.instance.objectNode();
        ObjectNode providers = out.putObject("providers");
        states.forEach((provider, counts) -> providers
                .putObject(provider.pathName())
                .put("calls", counts.calls())
                .put("effects", counts.effects()));
        ArrayNode calls = out.putArray("newest");
        newest.forEach(recentCall -> calls.addObject()
                .put("call", recentCall.line())
                .put("key", recentCall.key())
                .put("did", recentCall.did())
                .put("answer_lost", recentCall.lost()));
        return out;
    }

    synchronized String toText() {
        StringBuilder out = new StringBuilder("provider   calls  effects\n");
        states.forEach((provider, counts) ->
                out.append("%-10s %5d  %7d%n".formatted(provider.pathName(), counts.calls(), counts.effects())));
        out.append(newest.isEmpty() ? "\nNo calls yet.\n" : "\nnewest calls    key        result\n");
        newest.forEach(recentCall -> out.append("%-15s %-10s %s%s%n"
                .formatted(
                        recentCall.line(),
                        recentCall.key(),
                        recentCall.did(),
                        recentCall.lost() ? ", response dropped" : "")));
        return out.toString();
    }
}
