package dev.semel.server.operations.system;

import dev.semel.runtime.SemelRuntime;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.TokenScope;
import dev.semel.server.operations.CommandDeclaration;
import dev.semel.server.operations.Operation;
import dev.semel.server.operations.OperationRouter;
import dev.semel.server.query.ApiErrors;
import dev.semel.server.query.PagingParameters;
import dev.semel.server.query.StoreReader;
import dev.semel.server.query.view.Page;
import dev.semel.server.query.view.WorkspaceView;
import dev.semel.store.DatabaseRows;
import java.util.ArrayList;
import java.util.List;

/**
 * Serves `GET /v1/workspaces`: with scope `server` all workspaces of this server, in order of creation, otherwise only
 * the caller's own. `POST /v1/tokens` with `workspace` creates one. Only its own tokens and users can access its content.
 */
public record WorkspaceRoutes(SemelRuntime semel) {
    private static final int BEFORE_ALL = 0;

    static final Operation<Page<WorkspaceView>> LIST = Operation.get(
                    "listWorkspaces", "/v1/workspaces", TokenScope.ADMIN)
            .tag("Settings")
            .summary("List the workspaces of this server, oldest first")
            .description("All of them with scope `server`, otherwise only the caller's own. The first token creates a"
                    + " workspace: POST /v1/tokens with `workspace`, which needs scope `server`. Only its own tokens"
                    + " and users can access it.")
            .paged()
            .command(CommandDeclaration.of(
                            "workspace list",
                            "Lists the workspaces of the server. `semel token create` creates a workspace with its"
                                    + " first token.")
                    .whenEmpty("no workspaces")
                    .text("WORKSPACE", "workspace")
                    .column("OWN", one -> one.path("current").asBoolean(false) ? "this one" : ""))
            .returnsPage(WorkspaceView.class, "Workspace names.");

    public static final List<Operation<?>> OPERATIONS = List.of(LIST);

    public void addTo(OperationRouter router) {
        router.add(LIST, this::list);
    }

    private Page<WorkspaceView> list(ServerHttpRequest request) {
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
        return Page.of(
                shown,
                paging.limit(),
                row -> new WorkspaceView(row.name(), row.name().equals(own)),
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
