package dev.semel.server.api;

import dev.semel.Reviews;
import dev.semel.Run;
import dev.semel.Semel;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.Json;
import dev.semel.key.IdempotencyKey;
import dev.semel.server.http.Answer;
import dev.semel.server.http.Request;
import dev.semel.server.http.Scope;
import dev.semel.store.Edit;
import dev.semel.store.Review;
import dev.semel.store.Rows;
import dev.semel.workflow.Key;
import dev.semel.workflow.Signal;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Serves actions on an existing run: cancel, signal and decide. */
final class RunActs {
    private static final Set<String> DECISIONS =
            Set.of("approve", "reject", "send", "suppress", "happened", "did_not_happen");

    private final Semel semel;
    private final Views views;
    private final Deeds actions;

    RunActs(Semel semel, Views views, Deeds actions) {
        this.semel = semel;
        this.views = views;
        this.actions = actions;
    }

    /** A repeat has no further effect; an ended run keeps its state. */
    Answer cancel(Request request) {
        Said json = Said.in(request, Set.of("reason"));
        Run<JsonNode> run = run(request);
        boolean asked = run.cancel(request.principal().tokenId(), json.text("reason"));
        return answer(request, "cancelled", asked);
    }

    /**
     * The request's key is the signal's key: a repeat returns the first response. The store keeps a signal that
     * arrives before the run waits for it.
     */
    Answer signal(Request request) {
        String name = request.parameter("name");
        JsonNode data = Said.in(request, Set.of("data")).value("data");
        IdempotencyKey given = IdempotencyKey.fromHeader(request.headerLines("Idempotency-Key"));
        String key = given == null ? semel.newId().text() : given.text();
        JsonNode value = data == null ? JsonNodeFactory.instance.objectNode() : data;
        Run<JsonNode> run = run(request);
        Run.Ruling signal = run.signalling(named(name), value, Key.of(key));
        // Signal keys are scoped to run and name, so that one event id can signal several runs.
        Deeds.Deed actionRequest = new Deeds.Deed("run.signal " + run.id() + " " + name, Json.write(value));
        return done(request, actionRequest, signal, "delivered");
    }

    /** Executes the change once per key; the response has the current status of the run. */
    @SuppressWarnings("unchecked") // the code only checks whether the change was made
    private Answer done(Request request, Deeds.Deed actionRequest, Run.@Nullable Ruling ruling, String what) {
        // If there is nothing to change, the server still looks for a stored response.
        Edit<?> edit = ruling == null ? new Edit.Wake(List.of()) : ruling.edit();
        String runId = run(request).id();
        Deeds.Done done = actions.once(
                request,
                actionRequest,
                (Edit<Object>) edit,
                outcome -> Reviews.isDone(outcome)
                        ? Views.object().put("run_id", runId).put(what, true)
                        : null);
        if (ruling != null && done != null && !done.replayed()) {
            run(request).told(ruling);
        }
        Answer answer = answer(request, what, done != null);
        return done != null && done.replayed() ? Deeds.replayed(answer) : answer;
    }

    static Signal<JsonNode> named(String name) {
        try {
            return Signal.of(name, JsonNode.class);
        } catch (IllegalArgumentException e) {
            throw refused("the signal name must have 1 to 64 letters, digits, dots, hyphens and underscores");
        }
    }

    /**
     * The first decision wins; later ones get an error unless they are the same request. A decision with a version
     * applies only to that version of the question.
     */
    Answer decide(Request request) {
        Said json = Said.in(request, Set.of("step", "decision", "result", "note", "version"));
        String step = json.text("step");
        String by = request.principal().tokenId();
        int version = ReviewRoutes.versionIn(json);
        Run<JsonNode> run = run(request);
        boolean may = mayDecide(request, step);
        Run.Ruling ruling = !may ? null : version == 0 ? ruling(run, json, by) : ruling(request, json, version);
        Deeds.Deed actionRequest = new Deeds.Deed("run.decide", run.id(), Json.write(json.body()));
        return done(request, actionRequest, ruling, "decided");
    }

    /** False if the review is not stored yet, so that only an administrator may decide it. */
    private boolean mayDecide(Request request, String step) {
        Review.Row row = asked(request, step);
        if (row != null) {
            Deciders.check(request.principal(), row);
        }
        return row != null || request.principal().may(Scope.ADMIN);
    }

    private Run.@Nullable Ruling ruling(Request request, Said json, int version) {
        String decision = decision(json);
        Review.Row row = asked(request, json.text("step"));
        if (row == null || !Reviews.words(row.kind()).contains(decision)) {
            return null;
        }
        JsonNode result = decision.equals("happened") ? result(json.value("result")) : null;
        return semel.reviews()
                .ruling(
                        row,
                        new Reviews.Verdict(decision, result, version),
                        new Reviews.Who(request.principal().tokenId(), json.text("note")));
    }

    private static String decision(Said json) {
        String decision = json.text("decision");
        if (!DECISIONS.contains(decision)) {
            throw refused(
                    "decision must be one of approve, reject, send, suppress, happened (with result), did_not_happen");
        }
        return decision;
    }

    private Review.@Nullable Row asked(Request request, String step) {
        Rows.Run run = views.find(request.principal(), request.parameter("run_id"));
        return semel.reviews().one(run.ws(), Review.id(run.id(), step));
    }

    private static Run.@Nullable Ruling ruling(Run<JsonNode> run, Said json, String by) {
        String step = json.text("step");
        String note = json.text("note");
        return switch (decision(json)) {
            case "approve" -> run.approval(step, true, by, note);
            case "reject" -> run.approval(step, false, by, note);
            case "send" -> run.review(step, true, by, note);
            case "suppress" -> run.review(step, false, by, note);
            case "happened" -> run.settlement(step, result(json.value("result")), by, note);
            default -> run.settlement(step, null, by, note);
        };
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

    static SemelException refused(String rule) {
        return new SemelException(
                ErrorCode.INVALID_INPUT,
                "The request is not valid: " + rule + ". Nothing was changed.",
                "Correct it and send it again.");
    }
}
