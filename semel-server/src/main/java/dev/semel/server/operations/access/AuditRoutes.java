package dev.semel.server.operations.access;

import dev.semel.json.StrictJsonCodec;
import dev.semel.run.RunId;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.ServerHttpResponse;
import dev.semel.server.query.ApiErrors;
import dev.semel.server.query.ApiListFilterParser;
import dev.semel.server.query.PagingParameters;
import dev.semel.server.query.RunJsonRenderer;
import dev.semel.server.query.StoreReader;
import dev.semel.store.DatabaseRows;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ObjectNode;

/** Serves `GET /v1/audit`: the audit log, newest first, as pages or as one stream of JSON lines. */
public record AuditRoutes(SemelRuntime semel) {
    /** The most rows scanned for one page. If few match, the response has a cursor to continue from. */
    private static final int MAX_SCANNED = 5_000;

    private static final int PAGE_SIZE = 500;
    private static final String LINES = "application/x-ndjson";

    public ServerHttpResponse list(ServerHttpRequest request) {
        AuditFilter filter = AuditFilter.parse(ApiListFilterParser.read(request, "format"), StoreReader.now(semel));
        int workspace = request.principal().workspace();
        if (acceptsJsonLines(request)) {
            return ServerHttpResponse.stream(LINES, out -> lines(out, workspace, filter));
        }
        PagingParameters paging = PagingParameters.parse(request);
        AuditPage page = page(workspace, filter, paging.afterId(), paging.limit());
        String next = page.next() == null ? null : PagingParameters.cursor(page.next());
        return RunJsonRenderer.ok(RunJsonRenderer.pageJson(page.found(), AuditRoutes::view, next));
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
                    .forEach(
                            row -> text.append(StrictJsonCodec.write(view(row))).append('\n'));
            out.write(text.toString().getBytes(StandardCharsets.UTF_8));
            out.flush();
            behind = page.next();
        } while (behind != null);
    }

    public static ObjectNode view(DatabaseRows.AuditRow row) {
        return RunJsonRenderer.newObject()
                .put("at", RunJsonRenderer.formatTime(row.at()))
                .put("actor_id", row.actor())
                .put("action", row.action())
                .put("target", row.target())
                .put("reason", row.reason());
    }
}
