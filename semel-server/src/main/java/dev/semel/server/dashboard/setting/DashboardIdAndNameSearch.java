package dev.semel.server.dashboard.setting;

import dev.semel.server.dashboard.page.DashboardPageRequest;
import dev.semel.server.dashboard.page.DashboardRedirectUrlValidator;
import dev.semel.server.dashboard.page.DashboardTemplateJsonAccessor;
import dev.semel.server.dashboard.page.PageRenderer;
import dev.semel.server.dashboard.page.UrlQuery;
import dev.semel.server.http.InProcessApiClient;
import dev.semel.server.http.ServerHttpResponse;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/** Finds the page for an id, key or name that the user entered in the search box. Uses only exact lookups. */
public final class DashboardIdAndNameSearch {
    /** The patterns of Semel's ids, and their pages. */
    private static final Map<Pattern, String> ID_PATTERNS = Map.of(
            Pattern.compile("run_[A-Za-z0-9]{22}"), "runs",
            Pattern.compile("rpl_[A-Za-z0-9]{22}"), "replays",
            Pattern.compile("rev_[0-9a-f]{20}"), "reviews",
            Pattern.compile("evt_[A-Za-z0-9_-]{32}"), "events",
            Pattern.compile("inc_[A-Za-z0-9]+"), "incidents");

    private DashboardIdAndNameSearch() {}

    public static ServerHttpResponse go(DashboardPageRequest visit) throws Exception {
        String text = visit.queryParameter("to").strip();
        if (text.isEmpty()) {
            return PageRenderer.redirect(DashboardRedirectUrlValidator.HOME);
        }
        List<String> matches = ID_PATTERNS.entrySet().stream()
                .filter(one -> one.getKey().matcher(text).matches())
                .map(Map.Entry::getValue)
                .toList();
        for (String place : candidates(matches)) {
            if (exists(visit, InProcessApiClient.path("v1", place, text))) {
                return PageRenderer.redirect(InProcessApiClient.path(place, text));
            }
        }
        // For an id that no longer exists, its page explains why.
        return PageRenderer.redirect(
                matches.isEmpty() ? searchFurther(visit, text) : InProcessApiClient.path(matches.getFirst(), text));
    }

    /** The page that matches the id's pattern first; a key can look like an id. */
    private static List<String> candidates(List<String> matches) {
        List<String> places = new ArrayList<>(matches);
        for (String place : List.of("runs", "keys", "workflows", "events", "webhooks")) {
            if (!places.contains(place)) {
                places.add(place);
            }
        }
        return places;
    }

    private static String searchFurther(DashboardPageRequest visit, String text) throws Exception {
        if (exists(visit, InProcessApiClient.path("v1", "profiles", text))) {
            return InProcessApiClient.path("settings", "profiles", text);
        }
        int slash = text.indexOf('/');
        if (slash > 0) {
            String workflow = text.substring(0, slash);
            String name = text.substring(slash + 1);
            if (exists(visit, InProcessApiClient.path("v1", "workflows", workflow, "schedules", name))) {
                return InProcessApiClient.path("schedules", workflow, name);
            }
        }
        for (String what : text.contains(" ") ? List.<String>of() : List.of("sent_key", "key", "object")) {
            String q = what + ":" + text;
            List<DashboardTemplateJsonAccessor> effects = visit.getOrEmpty(
                            "/v1/effects", UrlQuery.of("limit", "1").and("q", q))
                    .items();
            if (!effects.isEmpty()) {
                return "/effects?q=" + InProcessApiClient.encode(q);
            }
        }
        return "/keys?prefix=" + InProcessApiClient.encode(text);
    }

    private static boolean exists(DashboardPageRequest visit, String path) throws Exception {
        return visit.getOrEmpty(path).node().isObject();
    }
}
