package dev.semel.server.operations.access;

import dev.semel.json.StrictJsonCodec;
import dev.semel.run.RunId;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.ServerHttpResponse;
import dev.semel.server.http.TokenScope;
import dev.semel.server.operations.CommandDeclaration;
import dev.semel.server.operations.Operation;
import dev.semel.server.operations.OperationRouter;
import dev.semel.server.operations.Parameter;
import dev.semel.server.operations.ViewJson;
import dev.semel.server.query.ApiErrors;
import dev.semel.server.query.ApiListFilterParser;
import dev.semel.server.query.PagingParameters;
import dev.semel.server.query.StoreReader;
import dev.semel.server.query.view.AuditEntryView;
import dev.semel.server.query.view.Page;
import dev.semel.store.DatabaseRows;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Serves `GET /v1/audit`: the audit log, newest first, as pages or as one stream of JSON lines. */
public record AuditRoutes(SemelRuntime semel) {
    /** The most rows scanned for one page. If few match, the response has a cursor to continue from. */
    private static final int MAX_SCANNED = 5_000;

    private static final int PAGE_SIZE = 500;
    private static final String LINES = "application/x-ndjson";

    static final Operation<Page<AuditEntryView>> LIST = Operation.get("listAudit", "/v1/audit", TokenScope.READ)
            .tag("Operate")
            .summary("List the audit log, newest first")
            .parameters(
                    Parameter.text(
                            "q",
                            "Filter terms such as `actor:tok_1 action:key.release target:evt_1 since:2h"
                                    + " until:2026-11-15T09:00:00Z`. `action:key` matches all actions that begin with"
                                    + " `key.`."),
                    Parameter.oneOf(
                            "format",
                            "`jsonl`: all matching rows as a stream, one JSON object per line. `Accept: " + LINES
                                    + "` does the same.",
                            List.of("json", "jsonl")))
            .paged()
            .command(CommandDeclaration.of("audit list", "Lists who changed what, newest first.")
                    .filter(
                            "FILTER",
                            "Filter terms such as actor:tok_1 action:key.release target:evt_1 since:2h"
                                    + " until:2026-11-15T09:00:00Z.")
                    .exports()
                    .examples(
                            "semel audit list",
                            "semel audit list action:key.release since:7d",
                            "semel audit list target:evt_1",
                            "semel audit list since:30d --export audit.jsonl")
                    .whenEmpty("no audit entry matches this filter")
                    .time("WHEN", "at")
                    .text("ACTOR", "actor_id")
                    .text("ACTION", "action")
                    .text("TARGET", "target")
                    .text("REASON", "reason"))
            .returnsPageOrLines(
                    AuditEntryView.class, LINES, "Audit rows. A page that is not full can have a next cursor.");

    public static final List<Operation<?>> OPERATIONS = List.of(LIST);

    public void addTo(OperationRouter router) {
        router.addResponse(LIST, this::list);
    }

    private ServerHttpResponse list(ServerHttpRequest request) {
        AuditFilter filter = AuditFilter.parse(ApiListFilterParser.read(request, "format"), StoreReader.now(semel));
        int workspace = request.principal().workspace();
        if (acceptsJsonLines(request)) {
            return ServerHttpResponse.stream(LINES, out -> lines(out, workspace, filter));
        }
        PagingParameters paging = PagingParameters.parse(request);
        AuditPage page = page(workspace, filter, paging.afterId(), paging.limit());
        String next = page.next() == null ? null : PagingParameters.cursor(page.next());
        return LIST.respond(
                new Page<>(page.found().stream().map(AuditEntryView::of).toList(), next));
    }

    private static boolean acceptsJsonLines(ServerHttpRequest request) {
        String format = request.query("format");
        if (format != null && !format.equals("jsonl") && !format.equals("json")) {
            throw ApiErrors.invalidQuery("format must be json or jsonl");
        }
        String accept = request.header("Accept");
        return format == null ? accept != null && accept.contains(LINES) : format.equals("jsonl");
    }

    /** @param next the row to continue after; null at the end */
    public record AuditPage(
            List<DatabaseRows.AuditRow> found, @Nullable RunId next) {}

    public AuditPage page(int workspace, AuditFilter filter, @Nullable RunId after, int limit) {
        List<DatabaseRows.AuditRow> found = new ArrayList<>();
        RunId behind = after == null ? filter.firstCursor() : after;
        for (int scanned = 0; scanned < MAX_SCANNED; scanned += PAGE_SIZE) {
            RunId from = behind;
            List<DatabaseRows.AuditRow> rows =
                    StoreReader.read(semel, reads -> reads.audit(workspace, from, PAGE_SIZE));
            for (DatabaseRows.AuditRow row : rows) {
                if (filter.isBeforeRange(row)) {
                    return new AuditPage(found, null);
                }
                behind = row.id();
                if (filter.matches(row)) {
                    found.add(row);
                    if (found.size() == limit) {
                        return new AuditPage(found, behind);
                    }
                }
            }
            if (rows.size() < PAGE_SIZE) {
                return new AuditPage(found, null);
            }
        }
        return new AuditPage(found, behind);
    }

    /** Streams all matching rows page by page, so that an export of any size needs the memory of one page. */
    private void lines(OutputStream out, int workspace, AuditFilter filter) throws IOException {
        RunId behind = null;
        do {
            AuditPage page = page(workspace, filter, behind, PAGE_SIZE);
            StringBuilder text = new StringBuilder();
            page.found()
                    .forEach(row -> text.append(StrictJsonCodec.write(ViewJson.of(AuditEntryView.of(row))))
                            .append('\n'));
            out.write(text.toString().getBytes(StandardCharsets.UTF_8));
            out.flush();
            behind = page.next();
        } while (behind != null);
    }
}
