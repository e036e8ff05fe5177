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

/** Shows what is masked of one run, to whoever says why; who, which run, which fields and the reason are on record first. */
final class RevealRoutes {
    private final Views views;
    private final Masks masks;
    private final Deeds deeds;

    RevealRoutes(Views views, Masks masks, Deeds deeds) {
        this.views = views;
        this.masks = masks;
        this.deeds = deeds;
    }

    void addTo(Router router) {
        router.add(Api.changing("POST", "/v1/runs/{run_id}/reveal", Scope.OPERATE, this::reveal));
    }

    private Answer reveal(Request request) {
        String reason = Said.in(request, Set.of("reason")).text("reason").strip();
        if (reason.isEmpty()) {
            throw refused("reason is missing: it is kept beside your name");
        }
        Rows.Run run = views.find(request.principal(), request.parameter("run_id"));
        List<String> names = masks.of(run).names();
        if (names.isEmpty()) {
            throw refused("the workflow of this run marks no field as pii, so nothing of it is masked");
        }
        String fields = String.join(", ", names);
        var entry = new Deeds.Entry("run.reveal", run.runIdText(), "[" + fields + "] " + reason);
        Edit<Integer> noted = deeds.noting(request, entry, new Edit.Wake(List.of()), _ -> true);
        // What is kept for whoever asks again is that it was asked, never what was shown.
        deeds.once(
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

    private static SemelException refused(String why) {
        return new SemelException(
                ErrorCode.INVALID_INPUT, why + ". Nothing was shown.", "Send {\"reason\": \"…\"}, or look at the run.");
    }
}
