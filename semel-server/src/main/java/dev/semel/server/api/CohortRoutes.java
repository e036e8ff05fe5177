package dev.semel.server.api;

import dev.semel.server.http.HttpRequest;
import dev.semel.server.http.HttpResponse;
import dev.semel.server.http.Router;
import dev.semel.server.http.TokenScope;
import dev.semel.server.settings.ProfileCohorts;
import java.util.List;

/** Serves cohorts, which are named groups of recipient profiles, and their members. */
final class CohortRoutes {
    private static final int LARGEST = 16 << 10;
    private static final String MEMBERS = "/v1/cohorts/{name}/members";

    private final ProfileCohorts cohorts;
    private final SettingActions actions;

    CohortRoutes(ProfileCohorts cohorts, SettingActions actions) {
        this.cohorts = cohorts;
        this.actions = actions;
    }

    void addTo(Router router) {
        var place = new SettingRoutes.SettingEndpoint("/v1/cohorts", "name", TokenScope.OPERATE, LARGEST);
        new SettingRoutes<>(cohorts.documents(), actions, place, (_, _) -> List.of()).addTo(router);
        router.add("GET", MEMBERS, TokenScope.READ, this::members)
                .add(ApiRoutes.mutationRoute("PUT", MEMBERS + "/{profile}", TokenScope.OPERATE, this::add))
                .add(ApiRoutes.mutationRoute("DELETE", MEMBERS + "/{profile}", TokenScope.OPERATE, this::remove));
    }

    private ProfileCohorts.Membership membership(HttpRequest request) {
        return new ProfileCohorts.Membership(
                request.principal().workspace(), existing(request), request.parameter("profile"));
    }

    /** Rejects unknown names, so that a misspelt name does not create a cohort. */
    private String existing(HttpRequest request) {
        String name = request.parameter("name");
        if (cohorts.documents().findRow(request.principal().workspace(), name) == null) {
            throw SettingActions.unknownSetting();
        }
        return name;
    }

    HttpResponse members(HttpRequest request) {
        PagingParameters paging = PagingParameters.parse(request);
        String name = existing(request);
        return JsonViews.pageResponse(
                cohorts.members(
                        request.principal().workspace(), name, SettingActions.nameAfter(paging), paging.limit()),
                paging.limit(),
                row -> JsonViews.newObject()
                        .put("profile_id", ProfileCohorts.profile(row))
                        .put("since", JsonViews.formatTime(row.changedAt())),
                row -> SettingActions.nameCursor(ProfileCohorts.profile(row)));
    }

    HttpResponse add(HttpRequest request) {
        ProfileCohorts.Membership membership = membership(request);
        return actions.put(
                request,
                new IdempotentActions.ActionRequest("cohort.add", membership.cohort(), membership.profile()),
                cohorts.prepareAdd(membership, request.principal().tokenId()),
                row -> JsonViews.newObject()
                        .put("cohort", membership.cohort())
                        .put("profile_id", membership.profile())
                        .put("since", JsonViews.formatTime(row.changedAt())));
    }

    HttpResponse remove(HttpRequest request) {
        ProfileCohorts.Membership membership = membership(request);
        return actions.remove(
                request,
                new IdempotentActions.ActionRequest("cohort.leave", membership.cohort(), membership.profile()),
                cohorts.prepareRemove(membership, request.principal().tokenId()));
    }
}
