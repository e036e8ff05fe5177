package dev.semel.server.api;

import dev.semel.runtime.SemelRuntime;
import dev.semel.json.StrictJson;
import dev.semel.run.RunId;
import dev.semel.server.http.HttpResponse;
import dev.semel.server.http.HttpRequest;
import dev.semel.store.StoredRows;
import java.io.IOException;
import java.io.OutputStream;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Serves `GET /v1/audit`: the audit log, newest first, as pages or as one stream of JSON lines. */
final class AuditRoutes {
    /** The most rows scanned for one page. If few match, the response has a cursor to continue from. */
    private static final int MAX_SCANNED = 5_000;

    private static final int PAGE_SIZE = 500;
    private static final String LINES = "application/x-ndjson";

    private final SemelRuntime semel;

    AuditRoutes(SemelRuntime semel) {
        this.semel = semel;
    }

    HttpResponse list(HttpRequest request) {
        AuditFilter filter = AuditFilter.parse(request.query("q"), now());
        int workspace = request.principal().workspace();
        if (acceptsJsonLines(request)) {
            return HttpResponse.stream(LINES, out -> lines(out, workspace, filter));
        }
        PagingParameters paging = PagingParameters.parse(request);
        AuditPage page = page(workspace, filter, paging.afterId(), paging.limit());
        ObjectNode out = JsonViews.newObject();
        ArrayNode items = out.putArray("items");
        page.found().forEach(row -> items.add(view(row)));
        out.put("next", page.next() == null ? null : PagingParameters.cursor(page.next()));
        return JsonViews.ok(out);
    }

    private static boolean acceptsJsonLines(HttpRequest request) {
        String format = request.query("format");
        if (format != null && !format.equals("jsonl") && !format.equals("json")) {
            throw PagingParameters.invalidQuery("format must be json or jsonl");
        }
        String accept = request.header("Accept");
        return format == null ? accept != null && accept.contains(LINES) : format.equals("jsonl");
    }

    private long now() {
        Long now = semel.view(reads -> reads.now());
        return now == null ? 0 : now;
    }

    /** @param next the row to continue after; null at the end */
    record AuditPage(List<StoredRows.AuditRow> found, @Nullable RunId next) {}

    AuditPage page(int workspace, AuditFilter filter, @Nullable RunId after, int limit) {
        List<StoredRows.AuditRow> found = new ArrayList<>();
        RunId behind = after == null ? filter.firstCursor() : after;
        for (int scanned = 0; scanned < MAX_SCANNED; scanned += PAGE_SIZE) {
            List<StoredRows.AuditRow> rows = rows(workspace, behind);
            for (StoredRows.AuditRow row : rows) {
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

    private List<StoredRows.AuditRow> rows(int workspace, @Nullable RunId behind) {
        List<StoredRows.AuditRow> rows = semel.view(reads -> reads.audit(workspace, behind, PAGE_SIZE));
        return rows == null ? List.of() : rows;
    }

    /** Streams all matching rows page by page, so that an export of any size needs the memory of one page. */
    private void lines(OutputStream out, int workspace, AuditFilter filter) throws IOException {
        RunId behind = null;
        do {
            AuditPage page = page(workspace, filter, behind, PAGE_SIZE);
            StringBuilder text = new StringBuilder();
            page.found().forEach(row -> text.append(StrictJson.write(view(row))).append('\n'));
            out.write(text.toString().getBytes(StandardCharsets.UTF_8));
            out.flush();
            behind = page.next();
        } while (behind != null);
    }

    static ObjectNode view(StoredRows.AuditRow row) {
        return JsonViews.newObject()
                .put("at", JsonViews.formatTime(row.at()))
                .put("actor_id", row.actor())
                .put("action", row.action())
                .put("target", row.target())
                .put("reason", row.reason());
    }
}
