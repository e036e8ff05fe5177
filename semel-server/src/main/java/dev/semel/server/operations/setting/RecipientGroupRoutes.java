package dev.semel.server.operations.setting;

import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.ServerHttpResponse;
import dev.semel.server.http.TokenScope;
import dev.semel.server.operations.ActionRequest;
import dev.semel.server.operations.ApiRouter;
import dev.semel.server.query.PagingParameters;
import dev.semel.server.query.RunJsonRenderer;
import dev.semel.server.settings.RecipientGroupStore;
import java.util.List;

/** Serves cohorts, which are named groups of recipient profiles, and their members. */
record RecipientGroupRoutes(RecipientGroupStore cohorts, WorkspaceSettingUpdater actions) {
    private static final int LARGEST = 16 << 10;
    private static final String MEMBERS = "/v1/cohorts/{name}/members";

    void addTo(ApiRouter router) {
        var settingEndpoint =
                new WorkspaceSettingCrudRoutes.SettingEndpoint("/v1/cohorts", "name", TokenScope.OPERATE, LARGEST);
        new WorkspaceSettingCrudRoutes<>(cohorts.documents(), actions, settingEndpoint, (_, _) -> List.of())
                .addTo(router);
        router.get(MEMBERS, TokenScope.READ, this::members)
                .put(MEMBERS + "/{profile}", TokenScope.OPERATE, this::add)
                .delete(MEMBERS + "/{profile}", TokenScope.OPERATE, this::remove);
    }

    private RecipientGroupStore.Membership membership(ServerHttpRequest request) {
        return new RecipientGroupStore.Membership(
                request.principal().workspace(), existing(request), request.parameter("profile"));
    }

    /** Rejects unknown names, so that a misspelt name does not create a cohort. */
    private String existing(ServerHttpRequest request) {
        String name = request.parameter("name");
        if (cohorts.documents().findRow(request.principal().workspace(), name) == null) {
            throw WorkspaceSettingUpdater.unknownSetting();
        }
        return name;
    }

    ServerHttpResponse members(ServerHttpRequest request) {
        PagingParameters paging = PagingParameters.parse(request);
        String name = existing(request);
        return RunJsonRenderer.pageResponse(
                cohorts.members(request.principal().workspace(), name, paging.afterText(), paging.limit()),
                paging.limit(),
                row -> RunJsonRenderer.newObject()
                        .put("profile_id", RecipientGroupStore.profile(row))
                        .put("since", RunJsonRenderer.formatTime(row.changedAt())),
                row -> PagingParameters.encode(RecipientGroupStore.profile(row)));
    }

    ServerHttpResponse add(ServerHttpRequest request) {
        RecipientGroupStore.Membership membership = membership(request);
        return actions.put(
                request,
                new ActionRequest("cohort.add", membership.cohort(), membership.profile()),
                cohorts.prepareAdd(membership, request.principal().tokenId()),
                row -> RunJsonRenderer.newObject()
                        .put("cohort", membership.cohort())
                        .put("profile_id", membership.profile())
                        .put("since", RunJsonRenderer.formatTime(row.changedAt())));
    }

    ServerHttpResponse remove(ServerHttpRequest request) {
        RecipientGroupStore.Membership membership = membership(request);
        return actions.remove(
                request,
                new ActionRequest("cohort.leave", membership.cohort(), membership.profile()),
                cohorts.prepareRemove(membership, request.principal().tokenId()));
    }
}
