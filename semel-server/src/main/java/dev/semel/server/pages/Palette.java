package dev.semel.server.pages;

import dev.semel.server.http.Answer;
import dev.semel.server.http.Inside;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/** Finds the page for an id, key or name that the user entered in the search box. Uses only exact lookups. */
final class Palette {
    /** The patterns of Semel's ids, and their pages. */
    private static final Map<Pattern, String> ID_PATTERNS = Map.of(
            Pattern.compile("run_[A-Za-z0-9]{22}"), "runs",
            Pattern.compile("rpl_[A-Za-z0-9]{22}"), "replays",
            Pattern.compile("rev_[0-9a-f]{20}"), "reviews",
            Pattern.compile("evt_[A-Za-z0-9_-]{32}"), "events",
            Pattern.compile("inc_[A-Za-z0-9]+"), "incidents");

    private Palette() {}

    static Answer go(Visit visit) throws Exception {
        String text = visit.asked("to").strip();
        if (text.isEmpty()) {
            return Look.goTo(Way.HOME);
        }
        List<String> matches = ID_PATTERNS.entrySet().stream()
                .filter(one -> one.getKey().matcher(text).matches())
                .map(Map.Entry::getValue)
                .toList();
        for (String place : candidates(matches)) {
            if (exists(visit, Inside.path("v1", place, text))) {
                return Look.goTo(Inside.path(place, text));
            }
        }
        // For an id that no longer exists, its page explains why.
        return Look.goTo(matches.isEmpty() ? searchFurther(visit, text) : Inside.path(matches.getFirst(), text));
    }

    /** The page that matches the id's pattern first; a key can look like an id. */
    private static List<String> candidates(List<String> matches) {
        List<String> places = new ArrayList<>(matches);
        for (String place : List.of("runs", "keys", "workflows", "events", "hooks")) {
            if (!places.contains(place)) {
                places.add(place);
            }
        }
        return places;
    }

    private static String searchFurther(Visit visit, String text) throws Exception {
        if (exists(visit, Inside.path("v1", "profiles", text))) {
            return Inside.path("settings", "profiles", text);
        }
        int slash = text.indexOf('/');
        if (slash > 0) {
            String workflow = text.substring(0, slash);
            String name = text.substring(slash + 1);
            if (exists(visit, Inside.path("v1", "workflows", workflow, "schedules", name))) {
                return Inside.path("schedules", workflow, name);
            }
        }
        for (String what : text.contains(" ") ? List.<String>of() : List.of("key", "object")) {
            String q = what + ":" + text;
            List<Doc> effects =
                    visit.maybe("/v1/effects", "limit=1&q=" + Inside.encoded(q)).items();
            if (!effects.isEmpty()) {
                return "/effects?q=" + Inside.encoded(q);
            }
        }
        return "/keys?prefix=" + Inside.encoded(text);
    }

    private static boolean exists(Visit visit, String path) throws Exception {
        return visit.maybe(path, "").node().isObject();
    }
}
