package dev.semel.server.api;

import dev.semel.Resumption;
import dev.semel.Run;
import dev.semel.Semel;
import dev.semel.error.SemelException;
import dev.semel.json.Json;
import dev.semel.replay.Action;
import dev.semel.replay.Resume;
import dev.semel.server.http.Answer;
import dev.semel.server.http.Request;
import dev.semel.server.http.Router;
import dev.semel.server.http.Scope;
import dev.semel.store.Edit;
import dev.semel.store.Rows;
import java.util.ArrayList;
import java.util.List;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** A run that failed goes on in place, after somebody mended what was wrong; shown first, where that is asked for. */
final class ResumeRoutes {
    private final Semel semel;
    private final Views views;
    private final Deeds deeds;

    ResumeRoutes(Semel semel, Views views, Deeds deeds) {
        this.semel = semel;
        this.views = views;
        this.deeds = deeds;
    }

    void addTo(Router router) {
        router.add(Api.changing("POST", "/v1/runs/{run_id}/resume", Scope.OPERATE, this::resume));
    }

    private Answer resume(Request request) {
        Said said = Said.in(request, Set.of("reason", "skip", "version", "include"));
        Resume wish = wish(request, said);
        Rows.Run row = views.find(request.principal(), request.parameter("run_id"));
        Run<JsonNode> run = semel.run(row.ws(), row.runIdText());
        Resumption resumption = run.resumption(wish);
        if ("true".equals(request.query("dry_run"))) {
            ObjectNode out = head(row, false).put("dry_run", true);
            ReplayViews.foretold(out, resumption.outlook().toJson());
            return Views.ok(out);
        }
        if (wish.reason().isBlank()) {
            throw RunActs.refused("reason is missing: whoever looks at this run later wants to know why it went on");
        }
        Deeds.Deed deed = new Deeds.Deed("run.resume", run.id(), Json.write(said.body()));
        return done(request, deed, run, resumption);
    }

    /** Once for its key. What was answered to the same request before is looked for, although it would be refused now. */
    private Answer done(Request request, Deeds.Deed deed, Run<JsonNode> run, Resumption resumption) {
        SemelException refusal = null;
        Edit.Resume edit = null;
        try {
            edit = resumption.edit();
        } catch (SemelException e) {
            refusal = e;
        }
        Deeds.Done done = edit == null
                ? deeds.once(request, deed, new Edit.Wake(List.of()), _ -> null)
                : deeds.once(
                        request,
                        deed,
                        edit,
                        outcome -> outcome == Edit.Resumed.DONE ? Views.object().put("resumed", true) : null);
        if (done == null && refusal != null) {
            throw refusal;
        }
        if (done == null) {
            run.check(resumption, null);
        }
        Answer answer = Views.ok(head(views.find(request.principal(), request.parameter("run_id")), true));
        return done != null && done.replayed() ? Deeds.replayed(answer) : answer;
    }

    private static ObjectNode head(Rows.Run row, boolean resumed) {
        return Views.object()
                .put("run_id", row.runIdText())
                .put("status", row.state().word())
                .put("resumed", resumed);
    }

    private static Resume wish(Request request, Said said) {
        String version = said.text("version");
        if (!Set.of("", "as_it_was", "as_it_is").contains(version)) {
            throw RunActs.refused("version is as_it_was or as_it_is");
        }
        List<Action> include = new ArrayList<>();
        JsonNode words = said.value("include");
        if (words != null) {
            words.forEach(word -> include.add(ReplayRoutes.action(word.asString(""))));
        }
        return Resume.because(request.principal().tokenId(), said.text("reason"))
                .skipping(skip(said.value("skip")))
                .asItIs(version.equals("as_it_is"))
                .including(include);
    }

    private static Resume.@Nullable Skip skip(@Nullable JsonNode given) {
        if (given == null || given.isNull()) {
            return null;
        }
        JsonNode step = given.path("step");
        boolean fits =
                given.isObject() && step.isString() && Set.of("step", "result").containsAll(given.propertyNames());
        if (!fits) {
            throw RunActs.refused("skip has a step, which is the path of the one that failed, and a result");
        }
        JsonNode result = given.get("result");
        return new Resume.Skip(step.stringValue(), result == null ? JsonNodeFactory.instance.nullNode() : result);
    }
}
