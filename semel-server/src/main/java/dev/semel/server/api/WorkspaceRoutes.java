package dev.semel.server.api;

import dev.semel.Semel;
import dev.semel.server.http.Answer;
import dev.semel.server.http.Request;
import dev.semel.server.http.Router;
import dev.semel.server.http.Scope;
import dev.semel.store.Rows;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;

/**
 * Serves `GET /v1/workspaces`: the workspaces of this server, in order of creation. `POST /v1/tokens` with `workspace`
 * creates one. Only its own tokens and users can access its content.
 */
final class WorkspaceRoutes {
    private static final int BEFORE_ALL = 0;

    private final Semel semel;

    WorkspaceRoutes(Semel semel) {
        this.semel = semel;
    }

    void addTo(Router router) {
        router.add("GET", "/v1/workspaces", Scope.ADMIN, this::list);
    }

    private Answer list(Request request) {
        Paging paging = Paging.of(request);
        String after = SettingDeeds.after(paging);
        if (!after.matches("[0-9]{0,9}")) {
            throw Paging.refused("after must be the next value of an earlier response");
        }
        int from = after.isEmpty() ? BEFORE_ALL : Integer.parseInt(after);
        String own = request.principal().workspaceName();
        return Views.page(
                findAfter(from, paging.limit()),
                paging.limit(),
                row -> Views.object()
                        .put("workspace", row.name())
                        .put("own", row.name().equals(own)),
                row -> SettingDeeds.cursor(Integer.toString(row.ws())));
    }

    private List<Rows.Workspace> findAfter(int from, int limit) {
        return Objects.requireNonNull(semel.view(reads -> {
            List<Rows.Workspace> found = new ArrayList<>();
            Integer next = reads.workspaceAfter(from);
            while (next != null && found.size() < limit) {
                Rows.Workspace row = reads.workspace(next);
                if (row != null) {
                    found.add(row);
                }
                next = reads.workspaceAfter(next);
            }
            return found;
        }));
    }
}
