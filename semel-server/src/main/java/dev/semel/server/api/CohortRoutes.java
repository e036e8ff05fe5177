package dev.semel.server.api;

import dev.semel.server.http.Answer;
import dev.semel.server.http.Request;
import dev.semel.server.http.Router;
import dev.semel.server.http.Scope;
import dev.semel.server.settings.Cohorts;
import java.util.List;

/** Serves cohorts, which are named groups of recipient profiles, and their members. */
final class CohortRoutes {
    private static final int LARGEST = 16 << 10;
    private static final String MEMBERS = "/v1/cohorts/{name}/members";

    private final Cohorts cohorts;
    private final SettingDeeds actions;

    CohortRoutes(Cohorts cohorts, SettingDeeds actions) {
        this.cohorts = cohorts;
        this.actions = actions;
    }

    void addTo(Router router) {
        var place = new SettingRoutes.Place("/v1/cohorts", "name", Scope.OPERATE, LARGEST);
        new SettingRoutes<>(cohorts.shelf(), actions, place, (_, _) -> List.of()).addTo(router);
        router.add("GET", MEMBERS, Scope.READ, this::members)
                .add(Api.changing("PUT", MEMBERS + "/{profile}", Scope.OPERATE, this::add))
                .add(Api.changing("DELETE", MEMBERS + "/{profile}", Scope.OPERATE, this::remove));
    }

    private Cohorts.Seat membership(Request request) {
        return new Cohorts.Seat(request.principal().workspace(), existing(request), request.parameter("profile"));
    }

    /** Rejects unknown names, so that a misspelt name does not create a cohort. */
    private String existing(Request request) {
        String name = request.parameter("name");
        if (cohorts.shelf().row(request.principal().workspace(), name) == null) {
            throw SettingDeeds.unknown();
        }
        return name;
    }

    Answer members(Request request) {
        Paging paging = Paging.of(request);
        String name = existing(request);
        return Views.page(
                cohorts.members(request.principal().workspace(), name, SettingDeeds.after(paging), paging.limit()),
                paging.limit(),
                row -> Views.object().put("profile_id", Cohorts.profile(row)).put("since", Views.time(row.changedAt())),
                row -> SettingDeeds.cursor(Cohorts.profile(row)));
    }

    Answer add(Request request) {
        Cohorts.Seat membership = membership(request);
        return actions.put(
                request,
                new Deeds.Deed("cohort.add", membership.cohort(), membership.profile()),
                cohorts.adding(membership, request.principal().tokenId()),
                row -> Views.object()
                        .put("cohort", membership.cohort())
                        .put("profile_id", membership.profile())
                        .put("since", Views.time(row.changedAt())));
    }

    Answer remove(Request request) {
        Cohorts.Seat membership = membership(request);
        return actions.remove(
                request,
                new Deeds.Deed("cohort.leave", membership.cohort(), membership.profile()),
                cohorts.removing(membership, request.principal().tokenId()));
    }
}
