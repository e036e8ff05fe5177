package dev.semel.server.dashboard.idempotency;

import dev.semel.server.dashboard.page.BarChart;
import dev.semel.server.dashboard.page.DashboardPageRequest;
import dev.semel.server.dashboard.page.DashboardTemplateJsonAccessor;
import dev.semel.server.dashboard.page.UrlQuery;
import dev.semel.server.http.InProcessApiClient;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/** @param json the API's response */
public record IdempotencyMetricsView(
        DashboardTemplateJsonAccessor json, List<MetricCard> cards, List<ListLink> otherCounts) {
    public record ListLink(String text, String href) {}

    public record MetricCard(String title, String figure, BarChart plot, List<ListLink> links, String note) {}

    /** @param workflow empty for all */
    public static IdempotencyMetricsView of(DashboardPageRequest visit, String workflow, String since)
            throws Exception {
        DashboardTemplateJsonAccessor doc = visit.get(
                "/v1/monitoring",
                UrlQuery.of("since", since.isEmpty() ? "24h" : since).and("workflow", workflow));
        return new IdempotencyMetricsView(
                doc,
                List.of(conflicts(doc), prevented(doc), recoveries(doc), expired(doc), writes(doc)),
                otherCounts(doc));
    }

    /** The dashboard URL of an API list: the API path without its version. */
    public static String pageUrl(String list) {
        return list.startsWith("/v1/") ? list.substring("/v1".length()) : list;
    }

    private static ListLink link(String text, DashboardTemplateJsonAccessor signal, String member) {
        return new ListLink(text, pageUrl(signal.text(member)));
    }

    private static MetricCard conflicts(DashboardTemplateJsonAccessor doc) {
        DashboardTemplateJsonAccessor rate = doc.at("conflict_rate");
        String percent =
                String.format(Locale.ROOT, "%.2f", rate.node().path("rate").asDouble(0) * 100) + " %";
        String text = rate.count("conflicts") + " of " + rate.count("keyed_triggers") + " triggers with a key";
        return new MetricCard(
                "Conflict rate", percent, BarChart.of(doc, "conflicts"), List.of(link(text, rate, "list")), "");
    }

    private static MetricCard prevented(DashboardTemplateJsonAccessor doc) {
        DashboardTemplateJsonAccessor prevented = doc.at("duplicates_prevented");
        String worth = prevented.list("amount_saved").stream()
                .map(one -> one.text("amount") + " " + one.text("currency"))
                .collect(Collectors.joining(", "));
        return new MetricCard(
                "Duplicates prevented",
                prevented.count("count"),
                BarChart.of(doc, "replayed_requests", "suppressed_effects"),
                List.of(
                        link(prevented.count("replayed_requests") + " requests", prevented, "list"),
                        link(prevented.count("suppressed_effects") + " effects", prevented, "effects")),
                worth.isEmpty() ? "" : "Amount saved: " + worth + ".");
    }

    private static MetricCard recoveries(DashboardTemplateJsonAccessor doc) {
        DashboardTemplateJsonAccessor recoveries = doc.at("retry_recoveries");
        return new MetricCard(
                "Retry recoveries",
                recoveries.count("count"),
                BarChart.of(doc, "retry_recoveries"),
                List.of(link(recoveries.count("count") + " runs", recoveries, "list")),
                "Runs that completed after a failed attempt or a crash.");
    }

    private static MetricCard expired(DashboardTemplateJsonAccessor doc) {
        DashboardTemplateJsonAccessor expired = doc.at("expired_key_retries");
        return new MetricCard(
                "Expired-key retries",
                expired.count("count"),
                BarChart.of(doc, "expired_key_retries"),
                List.of(link(expired.count("count") + " triggers", expired, "list")),
                "These triggers came after the window of their key had ended, so each started a new run.");
    }

    private static MetricCard writes(DashboardTemplateJsonAccessor doc) {
        DashboardTemplateJsonAccessor writes = doc.at("writes_versus_objects");
        return new MetricCard(
                "Writes versus unique objects",
                writes.count("writes_with_object") + " : " + writes.count("objects"),
                BarChart.of(doc, "writes"),
                List.of(
                        link("objects written more than once", writes, "list"),
                        new ListLink(
                                writes.count("writes_with_object") + " writes that name their object",
                                pageUrl(writes.text("list"))
                                        .replace("/objects?having=writes%3E1", "/facts?kind=written"))),
                writes.count("writes") + " writes in total.");
    }

    private static List<ListLink> otherCounts(DashboardTemplateJsonAccessor doc) {
        DashboardTemplateJsonAccessor also = doc.at("additional");
        String of =
                doc.text("workflow").isEmpty() ? "" : "&workflow=" + InProcessApiClient.encode(doc.text("workflow"));
        List<ListLink> links = new ArrayList<>();
        links.add(new ListLink(also.at("in_doubt").count("count") + " effects in doubt", "/reviews?tab=in_doubt" + of));
        links.add(new ListLink(
                also.count("unprotected_effects") + " unprotected effects", "/effects?protection=none" + of));
        links.add(link(
                also.count("requests_without_key") + " of " + also.count("triggers") + " triggers without a key",
                also,
                "without_key_list"));
        links.add(link(
                also.count("duplicate_payloads_rejected") + " triggers rejected: same payload under another key",
                also,
                "duplicate_payload_list"));
        return List.copyOf(links);
    }
}
