package dev.semel.server.operations.system;

import dev.semel.runtime.SemelRuntime;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.ServerHttpResponse;
import dev.semel.server.http.TokenScope;
import dev.semel.server.operations.ApiRouter;
import dev.semel.server.query.ApiErrors;
import dev.semel.server.query.PagingParameters;
import dev.semel.server.query.RunJsonRenderer;
import dev.semel.server.query.StoreReader;
import dev.semel.store.DatabaseRows;
import java.util.ArrayList;
import java.util.List;

/**
 * Serves `GET /v1/workspaces`: with scope `server` all workspaces of this server, in order of creation, otherwise only
 * the caller's own. `POST /v1/tokens` with `workspace` creates one. Only its own tokens and users can access its content.
 */
public record WorkspaceRoutes(SemelRuntime semel) {
    private static final int BEFORE_ALL = 0;

    public void addTo(ApiRouter router) {
        router.get("/v1/workspaces", TokenScope.ADMIN, this::list);
    }

    private ServerHttpResponse list(ServerHttpRequest request) {
        PagingParameters paging = PagingParameters.parse(request);
        String after = paging.afterText();
        if (!after.matches("[0-9]{0,9}")) {
            throw ApiErrors.invalidQuery("`after` must be the `next` value of an earlier response");
        }
        int from = after.isEmpty() ? BEFORE_ALL : Integer.parseInt(after);
        String own = request.principal().workspaceName();
        List<DatabaseRows.WorkspaceRow> shown = request.principal().hasScope(TokenScope.SERVER)
                ? findAfter(from, paging.limit())
                : findOwn(request.principal().workspace(), from);
        return RunJsonRenderer.pageResponse(
                shown,
                paging.limit(),
                row -> RunJsonRenderer.newObject()
                        .put("workspace", row.name())
                        .put("current", row.name().equals(own)),
                row -> PagingParameters.encode(Integer.toString(row.ws())));
    }

    private List<DatabaseRows.WorkspaceRow> findOwn(int workspace, int from) {
        return StoreReader.read(semel, reads -> {
            DatabaseRows.WorkspaceRow own = workspace > from ? reads.workspace(workspace) : null;
            return own == null ? List.of() : List.of(own);
        });
    }

    private List<DatabaseRows.WorkspaceRow> findAfter(int from, int limit) {
        return StoreReader.read(semel, reads -> {
            List<DatabaseRows.WorkspaceRow> found = new ArrayList<>();
            Integer next = reads.workspaceAfter(from);
            while (next != null && found.size() < limit) {
                DatabaseRows.WorkspaceRow row = reads.workspace(next);
                if (row != null) {
                    found.add(row);
                }
                next = reads.workspaceAfter(next);
            }
            return found;
        });
    }
}
