package dev.semel.server.demo;

import dev.semel.server.demo.Desk.Asked;
import dev.semel.server.demo.Desk.Said;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.EnumMap;
import java.util.Map;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** All fake providers of the demo, with their most recent calls. */
final class Street {
    private static final int NEWEST = 20;
    private static final int SHOWN_KEY = 8;

    private final Map<Provider, Desk> states = new EnumMap<>(Provider.class);
    private final Map<Provider, Runnable> drops = new EnumMap<>(Provider.class);
    private final Deque<Seen> newest = new ArrayDeque<>();

    /** A call as it is shown, with only the beginning of its key. */
    private record Seen(String line, String key, String did, boolean lost) {}

    /**
     * The result of a call.
     *
     * @param said null if the provider has no such endpoint
     * @param loss if not null, the server runs this and sends no response
     */
    record Outcome(@Nullable Said said, @Nullable Runnable loss) {}

    Street() {
        for (Provider provider : Provider.values()) {
            states.put(provider, new Desk(provider));
        }
    }

    synchronized void lose(Provider provider, Runnable then) {
        drops.put(provider, then);
    }

    synchronized Outcome call(Provider provider, Asked request) {
        Said response = state(provider).take(request);
        if (response == null) {
            return new Outcome(null, null);
        }
        Runnable onDrop = request.reads() ? null : drops.remove(provider);
        if (newest.size() == NEWEST) {
            newest.removeLast();
        }
        String key = request.key().length() > SHOWN_KEY ? request.key().substring(0, SHOWN_KEY) + "…" : request.key();
        String line = (request.reads() ? "GET /" : "POST /") + provider.word();
        newest.addFirst(new Seen(line, key, response.did(), onDrop != null));
        return new Outcome(response, onDrop);
    }

    private Desk state(Provider provider) {
        return states.computeIfAbsent(provider, Desk::new);
    }

    synchronized Playground.Counts counts(Provider provider) {
        return new Playground.Counts(state(provider).calls(), state(provider).effects());
    }

    synchronized ObjectNode document() {
        ObjectNode out = JsonNodeFactory.instance.objectNode();
        ObjectNode providers = out.putObject("providers");
        states.forEach((provider, desk) ->
                providers.putObject(provider.word()).put("calls", desk.calls()).put("effects", desk.effects()));
        ArrayNode calls = out.putArray("newest");
        newest.forEach(seen -> calls.addObject()
                .put("call", seen.line())
                .put("key", seen.key())
                .put("did", seen.did())
                .put("answer_lost", seen.lost()));
        return out;
    }

    synchronized String table() {
        StringBuilder out = new StringBuilder("provider   calls  effects\n");
        states.forEach((provider, desk) ->
                out.append("%-10s %5d  %7d%n".formatted(provider.word(), desk.calls(), desk.effects())));
        out.append(newest.isEmpty() ? "\nNo calls yet.\n" : "\nnewest calls    key        did\n");
        newest.forEach(seen -> out.append("%-15s %-10s %s%s%n"
                .formatted(seen.line(), seen.key(), seen.did(), seen.lost() ? ", response dropped" : "")));
        return out.toString();
    }
}
