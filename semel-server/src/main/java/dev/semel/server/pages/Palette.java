package dev.semel.server.pages;

import dev.semel.server.http.Answer;
import dev.semel.server.http.Inside;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.regex.Pattern;

/** Where whatever was pasted leads. Only what can be read by its exact name is asked, one question each. */
final class Palette {
    /** Ids that this server makes, by how they look, and their pages. */
    private static final Map<Pattern, String> OURS = Map.of(
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
        List<String> ours = OURS.entrySet().stream()
                .filter(one -> one.getKey().matcher(text).matches())
                .map(Map.Entry::getValue)
                .toList();
        for (String place : places(ours)) {
            if (isThere(visit, Inside.path("v1", place, text))) {
                return Look.goTo(Inside.path(place, text));
            }
        }
        // What looks like an id of ours and is gone is explained by its own page.
        return Look.goTo(ours.isEmpty() ? elsewhere(visit, text) : Inside.path(ours.getFirst(), text));
    }

    /** What looks like an id of ours is looked for there first; a key may look so too. */
    private static List<String> places(List<String> ours) {
        List<String> places = new ArrayList<>(ours);
        for (String place : List.of("runs", "keys", "workflows", "events", "hooks")) {
            if (!places.contains(place)) {
                places.add(place);
            }
        }
        return places;
    }

    private static String elsewhere(Visit visit, String text) throws Exception {
        if (isThere(visit, Inside.path("v1", "profiles", text))) {
            return Inside.path("settings", "profiles", text);
        }
        int slash = text.indexOf('/');
        if (slash > 0) {
            String workflow = text.substring(0, slash);
            String name = text.substring(slash + 1);
            if (isThere(visit, Inside.path("v1", "workflows", workflow, "schedules", name))) {
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

    private static boolean isThere(Visit visit, String path) throws Exception {
        return visit.maybe(path, "").node().isObject();
    }
}
