package dev.semel.server.api;

import dev.semel.runtime.SemelRuntime;
import dev.semel.server.http.HttpResponse;
import dev.semel.server.http.HttpRequest;
import dev.semel.server.http.Router;
import dev.semel.server.http.TokenScope;
import dev.semel.store.StoredRows;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * Serves `GET /v1/workspaces`: the workspaces of this server, in order of creation. `POST /v1/tokens` with `workspace`
 * creates one. Only its own tokens and users can access its content.
 */
final class WorkspaceRoutes {
    private static final int BEFORE_ALL = 0;

    private final SemelRuntime semel;

    WorkspaceRoutes(SemelRuntime semel) {
        this.semel = semel;
    }

    void addTo(Router router) {
        router.add("GET", "/v1/workspaces", TokenScope.ADMIN, this::list);
    }

    private HttpResponse list(HttpRequest request) {
        PagingParameters paging = PagingParameters.parse(request);
        String after = SettingActions.nameAfter(paging);
        if (!after.matches("[0-9]{0,9}")) {
            throw PagingParameters.invalidQuery("after must be the next value of an earlier response");
        }
        int from = after.isEmpty() ? BEFORE_ALL : Integer.parseInt(after);
        String own = request.principal().workspaceName();
        return JsonViews.pageResponse(
                findAfter(from, paging.limit()),
                paging.limit(),
                row -> JsonViews.newObject()
                        .put("workspace", row.name())
                        .put("own", row.name().equals(own)),
                row -> SettingActions.nameCursor(Integer.toString(row.ws())));
    }

    private List<StoredRows.WorkspaceRow> findAfter(int from, int limit) {
        return Objects.requireNonNull(semel.view(reads -> {
            List<StoredRows.WorkspaceRow> found = new ArrayList<>();
            Integer next = reads.workspaceAfter(from);
            while (next != null && found.size() < limit) {
                StoredRows.WorkspaceRow row = reads.workspace(next);
                if (row != null) {
                    found.add(row);
                }
                next = reads.workspaceAfter(next);
            }
            return found;
        }));
    }
}
