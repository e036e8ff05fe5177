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

/** What people and systems say to a run that exists: a signal, a decision, an end. */
final class RunActs {
    private static final Set<String> DECISIONS =
            Set.of("approve", "reject", "send", "suppress", "happened", "did_not_happen");

    private final Semel semel;
    private final Views views;
    private final Deeds deeds;

    RunActs(Semel semel, Views views, Deeds deeds) {
        this.semel = semel;
        this.views = views;
        this.deeds = deeds;
    }

    /** Asked twice it is the same wish; a run that has ended stays as it ended. */
    Answer cancel(Request request) {
        Said said = Said.in(request, Set.of("reason"));
        Run<JsonNode> run = run(request);
        boolean asked = run.cancel(request.principal().tokenId(), said.text("reason"));
        return answer(request, "cancelled", asked);
    }

    /**
     * The key of the request is the key of the signal: sent again, it is told what it was told first. One that comes
     * before the run waits is kept for it.
     */
    Answer signal(Request request) {
        String name = request.parameter("name");
        JsonNode data = Said.in(request, Set.of("data")).value("data");
        IdempotencyKey given = IdempotencyKey.fromHeader(request.headerLines("Idempotency-Key"));
        String key = given == null ? semel.newId().text() : given.text();
        JsonNode value = data == null ? JsonNodeFactory.instance.objectNode() : data;
        Run<JsonNode> run = run(request);
        Run.Ruling signal = run.signalling(named(name), value, Key.of(key));
        // Keys of signals are counted for each run and name, so that one event may be told to several runs.
        Deeds.Deed deed = new Deeds.Deed("run.signal " + run.id() + " " + name, Json.write(value));
        return done(request, deed, signal, "delivered");
    }

    /** Does it once for its key; the status of the run is told as it is now. */
    @SuppressWarnings("unchecked") // whatever the change answers, it is only asked whether it was done
    private Answer done(Request request, Deeds.Deed deed, Run.@Nullable Ruling ruling, String what) {
        // Where there is nothing to do, an answer that was kept is looked for all the same.
        Edit<?> edit = ruling == null ? new Edit.Wake(List.of()) : ruling.edit();
        String runId = run(request).id();
        Deeds.Done done = deeds.once(
                request,
                deed,
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
            throw refused("The name of a signal has 1 to 64 letters, digits, dots, hyphens and underscores");
        }
    }

    /**
     * The first decision counts; whoever comes later is told that it was not theirs, unless it is the same request. One
     * that names a version is about that question only: sent once more, the same step asks another one.
     */
    Answer decide(Request request) {
        Said said = Said.in(request, Set.of("step", "decision", "result", "note", "version"));
        String step = said.text("step");
        String by = request.principal().tokenId();
        int version = ReviewRoutes.versionIn(said);
        Run<JsonNode> run = run(request);
        boolean may = mayDecide(request, step);
        Run.Ruling ruling = !may ? null : version == 0 ? ruling(run, said, by) : ruling(request, said, version);
        Deeds.Deed deed = new Deeds.Deed("run.decide", run.id(), Json.write(said.body()));
        return done(request, deed, ruling, "decided");
    }

    /** False: it is not asked in the store yet, so nobody but an administrator can know whom it is for. */
    private boolean mayDecide(Request request, String step) {
        Review.Row row = asked(request, step);
        if (row != null) {
            Deciders.check(request.principal(), row);
        }
        return row != null || request.principal().may(Scope.ADMIN);
    }

    private Run.@Nullable Ruling ruling(Request request, Said said, int version) {
        String decision = decision(said);
        Review.Row row = asked(request, said.text("step"));
        if (row == null || !Reviews.words(row.kind()).contains(decision)) {
            return null;
        }
        JsonNode result = decision.equals("happened") ? result(said.value("result")) : null;
        return semel.reviews()
                .ruling(
                        row,
                        new Reviews.Verdict(decision, result, version),
                        new Reviews.Who(request.principal().tokenId(), said.text("note")));
    }

    private static String decision(Said said) {
        String decision = said.text("decision");
        if (!DECISIONS.contains(decision)) {
            throw refused("decision is one of approve, reject, send, suppress, happened (with result), did_not_happen");
        }
        return decision;
    }

    private Review.@Nullable Row asked(Request request, String step) {
        Rows.Run run = views.find(request.principal(), request.parameter("run_id"));
        return semel.reviews().one(run.ws(), Review.id(run.id(), step));
    }

    private static Run.@Nullable Ruling ruling(Run<JsonNode> run, Said said, String by) {
        String step = said.text("step");
        String note = said.text("note");
        return switch (decision(said)) {
            case "approve" -> run.approval(step, true, by, note);
            case "reject" -> run.approval(step, false, by, note);
            case "send" -> run.review(step, true, by, note);
            case "suppress" -> run.review(step, false, by, note);
            case "happened" -> run.settlement(step, result(said.value("result")), by, note);
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
        return new SemelException(ErrorCode.INVALID_INPUT, rule + ". Nothing was changed.", "Correct the request.");
    }
}
