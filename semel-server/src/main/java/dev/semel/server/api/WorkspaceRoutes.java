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
 * The workspaces of this server, in the order in which they were made. One is made with its first token (`POST
 * /v1/tokens` with `workspace`); what is in it is for its own tokens and people alone.
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
            throw Paging.refused("after is not a cursor that a list gave");
        }
        int from = after.isEmpty() ? BEFORE_ALL : Integer.parseInt(after);
        String own = request.principal().workspaceName();
        return Views.page(
                behind(from, paging.limit()),
                paging.limit(),
                row -> Views.object()
                        .put("workspace", row.name())
                        .put("own", row.name().equals(own)),
                row -> SettingDeeds.cursor(Integer.toString(row.ws())));
    }

    private List<Rows.Workspace> behind(int from, int limit) {
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
