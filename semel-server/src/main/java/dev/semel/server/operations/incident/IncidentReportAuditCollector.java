package dev.semel.server.operations.incident;

import dev.semel.run.RunId;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.alerts.AlertMonitor;
import dev.semel.server.operations.ViewJson;
import dev.semel.server.operations.access.AuditFilter;
import dev.semel.server.operations.access.AuditRoutes;
import dev.semel.server.query.RunJsonRenderer;
import dev.semel.server.query.view.AuditEntryView;
import dev.semel.store.DatabaseRows;
import java.util.ArrayDeque;
import java.util.Deque;
import java.util.List;
import java.util.SortedSet;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Collects the audit entries, decisions and fired alerts of an incident's period for its report. */
final class IncidentReportAuditCollector {
    private static final int MOST_PAGES =
            IncidentReportDataCollector.MAX_SCANNED / IncidentReportDataCollector.PAGE_SIZE;
    private static final List<String> COUNTS = List.of("audit_rows", "decided", "alerts");

    private final AuditRoutes audit;
    private final AuditRowWorkflowFilter workflow;
    private final IncidentReportDataCollector.IncidentPeriod span;
    private final SortedSet<String> atLeast;

    IncidentReportAuditCollector(
            SemelRuntime semel, IncidentReportDataCollector.IncidentPeriod span, SortedSet<String> atLeast) {
        this.audit = new AuditRoutes(semel);
        this.workflow = new AuditRowWorkflowFilter(semel, span.workspace(), span.workflowId());
        this.span = span;
        this.atLeast = atLeast;
    }

    void addFindings(ObjectNode out, int maxShown) {
        AuditFilter filter = new AuditFilter(null, null, null, span.since(), span.until());
        ArrayNode shown = out.putArray("audit");
        Deque<DatabaseRows.AuditRow> alerts = new ArrayDeque<>();
        long rows = 0;
        long decided = 0;
        RunId behind = null;
        int pages = 0;
        do {
            AuditRoutes.AuditPage page =
                    audit.page(span.workspace(), filter, behind, IncidentReportDataCollector.PAGE_SIZE);
            for (DatabaseRows.AuditRow row : page.found()) {
                if (!workflow.matches(row)) {
                    continue;
                }
                rows++;
                decided += row.action().startsWith("effect.") ? 1 : 0;
                if (shown.size() < maxShown) {
                    shown.add(ViewJson.of(AuditEntryView.of(row)));
                }
                if (row.action().equals(AlertMonitor.FIRED)) {
                    alerts.push(row); // rows are newest first, and the report lists the first alert first
                }
            }
            behind = page.next();
            pages++;
        } while (behind != null && pages < MOST_PAGES);
        if (behind != null) {
            atLeast.addAll(COUNTS);
        }
        out.put("audit_rows", rows).put("decided", decided);
        ArrayNode fired = out.putArray("alerts");
        alerts.stream()
                .limit(maxShown)
                .forEach(row -> fired.addObject()
                        .put("name", row.target())
                        .put("at", RunJsonRenderer.formatTime(row.at()))
                        .put("reason", row.reason()));
    }
}
