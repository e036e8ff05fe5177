package dev.semel.server.pages;

import dev.semel.server.http.Inside;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.stream.Collectors;

/**
 * The five monitoring metrics for display: each with its chart and a link to the rows behind it.
 *
 * @param doc the API's response
 */
public record Signals(Doc doc, List<Card> cards, List<Link> also) {
    /**
     * A link to the rows behind a number.
     *
     * @param href URL of the list
     */
    public record Link(String text, String href) {}

    /** One metric: title, value, chart and links. */
    public record Card(String title, String figure, Plot plot, List<Link> links, String says) {}

    /** @param workflow empty for all */
    static Signals of(Visit visit, String workflow, String since) throws Exception {
        String query = "since=" + Inside.encoded(since.isEmpty() ? "24h" : since)
                + (workflow.isEmpty() ? "" : "&workflow=" + Inside.encoded(workflow));
        Doc doc = visit.get("/v1/signals", query);
        return new Signals(
                doc, List.of(conflicts(doc), prevented(doc), recoveries(doc), expired(doc), writes(doc)), also(doc));
    }

    /** The dashboard URL of an API list: the API path without its version. */
    public static String page(String list) {
        return list.startsWith("/v1/") ? list.substring("/v1".length()) : list;
    }

    private static Link link(String text, Doc signal, String member) {
        return new Link(text, page(signal.text(member)));
    }

    private static Card conflicts(Doc doc) {
        Doc rate = doc.at("conflict_rate");
        String percent =
                String.format(Locale.ROOT, "%.2f", rate.node().path("rate").asDouble(0) * 100) + " %";
        String text = rate.count("conflicts") + " of " + rate.count("keyed_triggers") + " keyed triggers";
        return new Card("Conflict rate", percent, Plot.of(doc, "conflicts"), List.of(link(text, rate, "list")), "");
    }

    private static Card prevented(Doc doc) {
        Doc prevented = doc.at("duplicates_prevented");
        String worth = prevented.list("worth").stream()
                .map(one -> one.text("amount") + " " + one.text("currency"))
                .collect(Collectors.joining(", "));
        return new Card(
                "Duplicates prevented",
                prevented.count("count"),
                Plot.of(doc, "replayed_requests", "suppressed_effects"),
                List.of(
                        link(prevented.count("replayed_requests") + " requests", prevented, "list"),
                        link(prevented.count("suppressed_effects") + " effects", prevented, "effects")),
                worth.isEmpty() ? "" : "Amount saved: " + worth + ".");
    }

    private static Card recoveries(Doc doc) {
        Doc recoveries = doc.at("retry_recoveries");
        return new Card(
                "Retry recoveries",
                recoveries.count("count"),
                Plot.of(doc, "retry_recoveries"),
                List.of(link(recoveries.count("count") + " runs", recoveries, "list")),
                "Runs that completed after a failed attempt or a crash.");
    }

    private static Card expired(Doc doc) {
        Doc expired = doc.at("expired_key_retries");
        return new Card(
                "Expired-key retries",
                expired.count("count"),
                Plot.of(doc, "expired_key_retries"),
                List.of(link(expired.count("count") + " triggers", expired, "list")),
                "The key's window had ended, so each started a new run.");
    }

    private static Card writes(Doc doc) {
        Doc writes = doc.at("writes_versus_objects");
        return new Card(
                "Writes versus unique objects",
                writes.count("writes_with_object") + " : " + writes.count("objects"),
                Plot.of(doc, "writes"),
                List.of(
                        link("objects written more than once", writes, "list"),
                        new Link(
                                writes.count("writes_with_object") + " writes with an object",
                                page(writes.text("list"))
                                        .replace("/objects?having=writes%3E1", "/facts?kind=written"))),
                writes.count("writes") + " writes in total.");
    }

    private static List<Link> also(Doc doc) {
        Doc also = doc.at("also");
        String of = doc.text("workflow").isEmpty() ? "" : "&workflow=" + Inside.encoded(doc.text("workflow"));
        List<Link> links = new ArrayList<>();
        links.add(new Link(also.at("in_doubt").count("count") + " in doubt", "/reviews?tab=in_doubt" + of));
        links.add(
                new Link(also.count("unprotected_effects") + " unprotected effects", "/effects?protection=none" + of));
        links.add(link(
                also.count("requests_without_key") + " of " + also.count("triggers") + " triggers without a key",
                also,
                "without_key_list"));
        links.add(link(
                also.count("same_payload_refused") + " rejected: same payload under another key",
                also,
                "same_payload_list"));
        return List.copyOf(links);
    }
}
