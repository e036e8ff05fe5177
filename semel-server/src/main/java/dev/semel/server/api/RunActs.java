package dev.semel.server.api;

import dev.semel.Run;
import dev.semel.Semel;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.key.IdempotencyKey;
import dev.semel.server.http.Answer;
import dev.semel.server.http.Request;
import dev.semel.store.Rows;
import dev.semel.workflow.Key;
import dev.semel.workflow.Signal;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** What people and systems say to a run that exists: a signal, a decision, an end. */
final class RunActs {
    private final Semel semel;
    private final Views views;

    RunActs(Semel semel, Views views) {
        this.semel = semel;
        this.views = views;
    }

    /** Asked twice it is the same wish; a run that has ended stays as it ended. */
    Answer cancel(Request request) {
        Said said = Said.in(request, Set.of("reason"));
        Run<JsonNode> run = run(request);
        boolean asked = run.cancel(request.principal().tokenId(), said.text("reason"));
        return answer(request, "cancelled", asked);
    }

    /** The key of the request is the key of the signal: sent again, it arrived before. */
    Answer signal(Request request) {
        String name = request.parameter("name");
        JsonNode data = Said.in(request, Set.of("data")).value("data");
        IdempotencyKey given = IdempotencyKey.fromHeader(request.headerLines("Idempotency-Key"));
        String key = given == null ? semel.newId().text() : given.text();
        JsonNode value = data == null ? JsonNodeFactory.instance.objectNode() : data;
        boolean delivered = run(request).signal(named(name), value, Key.of(key));
        return answer(request, "delivered", delivered);
    }

    private static Signal<JsonNode> named(String name) {
        try {
            return Signal.of(name, JsonNode.class);
        } catch (IllegalArgumentException e) {
            throw refused("The name of a signal has 1 to 64 letters, digits, dots, hyphens and underscores");
        }
    }

    /** The first decision counts; whoever comes later is told that it was not theirs. */
    Answer decide(Request request) {
        Said said = Said.in(request, Set.of("step", "decision", "result", "note"));
        String step = said.text("step");
        String by = request.principal().tokenId();
        String note = said.text("note");
        Run<JsonNode> run = run(request);
        boolean decided = switch (said.text("decision")) {
            case "approve" -> run.approve(step, by, note);
            case "reject" -> run.reject(step, by, note);
            case "send" -> run.reviewed(step, true, by, note);
            case "suppress" -> run.reviewed(step, false, by, note);
            case "happened" -> run.happened(step, result(said.value("result")), by);
            case "did_not_happen" -> run.didNotHappen(step, by);
            default ->
                throw refused(
                        "decision is one of approve, reject, send, suppress, happened (with result), did_not_happen");
        };
        return answer(request, "decided", decided);
    }

    private static JsonNode result(@Nullable JsonNode given) {
        return given == null ? JsonNodeFactory.instance.nullNode() : given;
    }

    private Run<JsonNode> run(Request request) {
        Rows.Run row = views.find(request.principal(), request.parameter("run_id"));
        return semel.run(row.ws(), row.runIdText());
    }

    private Answer answer(Request request, String what, boolean done) {
        Rows.Run row = views.find(request.principal(), request.parameter("run_id"));
        ObjectNode out = Views.object();
        out.put("run_id", row.runIdText()).put("status", row.state().word()).put(what, done);
        return Views.ok(out);
    }

    private static SemelException refused(String rule) {
        return new SemelException(ErrorCode.INVALID_INPUT, rule + ". Nothing was changed.", "Correct the request.");
    }
}
