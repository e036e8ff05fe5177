package dev.semel.server.api;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.http.Answer;
import dev.semel.server.http.Request;
import dev.semel.server.http.Router;
import dev.semel.server.http.Scope;
import dev.semel.store.Edit;
import dev.semel.store.Rows;
import java.util.List;
import java.util.Set;
import tools.jackson.databind.node.ObjectNode;

/**
 * Serves `POST /v1/runs/{run_id}/reveal`: returns the unmasked PII of one run. The audit log first records the user,
 * the run, the fields and the reason.
 */
final class RevealRoutes {
    private final Views views;
    private final Masks masks;
    private final Deeds actions;

    RevealRoutes(Views views, Masks masks, Deeds actions) {
        this.views = views;
        this.masks = masks;
        this.actions = actions;
    }

    void addTo(Router router) {
        router.add(Api.changing("POST", "/v1/runs/{run_id}/reveal", Scope.OPERATE, this::reveal));
    }

    private Answer reveal(Request request) {
        String reason = Said.in(request, Set.of("reason")).text("reason").strip();
        if (reason.isEmpty()) {
            throw rejection("reason is missing: the audit log records it with your name");
        }
        Rows.Run run = views.find(request.principal(), request.parameter("run_id"));
        List<String> names = masks.of(run).names();
        if (names.isEmpty()) {
            throw rejection("The workflow of this run marks no field as pii, so no value is masked");
        }
        String fields = String.join(", ", names);
        var entry = new Deeds.Entry("run.reveal", run.runIdText(), "[" + fields + "] " + reason);
        Edit<Integer> noted = actions.noting(request, entry, new Edit.Wake(List.of()), _ -> true);
        // The stored idempotency record contains the request only, never the revealed values.
        actions.once(
                request,
                new Deeds.Deed("run.reveal", run.runIdText(), reason),
                noted,
                _ -> Views.object().put("run_id", run.runIdText()));
        ObjectNode all = views.run(run, Masks.lifted());
        ObjectNode out = Views.object().put("run_id", run.runIdText());
        names.forEach(out.putArray("revealed")::add);
        for (String member : List.of("input", "output", "error")) {
            out.set(member, all.path(member));
        }
        return Views.ok(out);
    }

    private static SemelException rejection(String why) {
        return new SemelException(
                ErrorCode.INVALID_INPUT,
                why + ". Nothing was revealed.",
                "Send {\"reason\": \"…\"}, or read the run.");
    }
}
