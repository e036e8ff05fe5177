package dev.semel.server.pages;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.Json;
import dev.semel.server.http.Answer;
import dev.semel.server.http.Inside;
import dev.semel.server.http.Router;
import dev.semel.server.http.Scope;
import java.util.ArrayList;
import java.util.List;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * What people do on pages. Each form carries a key that was made when the page was, and the API gets it as
 * `Idempotency-Key`: a double click, or a form that is sent again, is one deed.
 */
final class Acts {
    private Acts() {}

    static void addTo(Router router, Door door) {
        router.add("POST", "/workflows/{id}/trigger", Scope.OPEN, door.deed(Acts::trigger))
                .add(
                        "POST",
                        "/workflows/{id}/pause",
                        Scope.OPEN,
                        door.deed((visit, form) -> turn(visit, form, "pause")))
                .add(
                        "POST",
                        "/workflows/{id}/resume",
                        Scope.OPEN,
                        door.deed((visit, form) -> turn(visit, form, "resume")))
                .add("POST", "/runs/{run_id}/cancel", Scope.OPEN, door.deed(Acts::cancel))
                .add("POST", "/runs/{run_id}/signal", Scope.OPEN, door.deed(Acts::signal))
                .add("POST", "/runs/{run_id}/decide", Scope.OPEN, door.deed(Acts::decide))
                .add("POST", "/keys/{key}/release", Scope.OPEN, door.deed(Acts::release))
                .add("POST", "/events/{event_id}/reprocess", Scope.OPEN, door.deed(Acts::reprocess))
                .add("POST", "/schedules/{workflow}/{name}/{turn}", Scope.OPEN, door.deed(Acts::schedule))
                .add("POST", "/settings/people", Scope.OPEN, door.deed(Acts::invite));
    }

    private static ObjectNode object() {
        return JsonNodeFactory.instance.objectNode();
    }

    private static JsonNode data(Form form) {
        String text = form.text("data").strip();
        return text.isEmpty() ? object() : Json.parse(text);
    }

    /** The key that the form says, or else the one that it carries: either way, sending twice is one run. */
    private static Answer trigger(Visit visit, Form form) throws Exception {
        ObjectNode body = object();
        body.set("data", data(form));
        String key = form.text("wanted_key").isBlank()
                ? form.text("key")
                : form.text("wanted_key").strip();
        Doc answer = visit.send("POST", Inside.path("v1", "workflows", visit.part("id"), "trigger"), body, key);
        return Look.goTo(Inside.path("runs", answer.text("run_id")));
    }

    private static Answer turn(Visit visit, Form form, String which) throws Exception {
        visit.send("POST", Inside.path("v1", "workflows", visit.part("id"), which), object(), form.text("key"));
        return Look.goTo(Inside.path("workflows", visit.part("id")) + "?did=" + which);
    }

    private static Answer cancel(Visit visit, Form form) throws Exception {
        ObjectNode body = object().put("reason", form.text("reason"));
        visit.send("POST", Inside.path("v1", "runs", visit.part("run_id"), "cancel"), body, form.text("key"));
        return Look.goTo(Inside.path("runs", visit.part("run_id")) + "?did=cancel");
    }

    private static Answer signal(Visit visit, Form form) throws Exception {
        ObjectNode body = object();
        body.set("data", data(form));
        String path = Inside.path(
                "v1", "runs", visit.part("run_id"), "signals", form.text("name").strip());
        visit.send("POST", path, body, form.text("key"));
        return Look.goTo(Inside.path("runs", visit.part("run_id")) + "?did=signal");
    }

    private static Answer decide(Visit visit, Form form) throws Exception {
        ObjectNode body = object().put("step", form.text("step"))
                .put("decision", form.text("decision"))
                .put("note", form.text("note"));
        if (form.text("decision").equals("happened") && !form.text("data").isBlank()) {
            body.set("result", data(form));
        }
        ReviewPages.meaning(form, body);
        Doc answer =
                visit.send("POST", Inside.path("v1", "runs", visit.part("run_id"), "decide"), body, form.text("key"));
        if (!answer.is("decided")) {
            throw new SemelException(
                    ErrorCode.PRECONDITION_FAILED,
                    "This step does not wait for that decision: it was decided before, or it has moved on. Nothing was"
                            + " changed.",
                    "Go back and load the page again.");
        }
        return Look.goTo(Inside.path("runs", visit.part("run_id")) + "?did=decide");
    }

    private static Answer release(Visit visit, Form form) throws Exception {
        ObjectNode body = object().put("reason", form.text("reason")).put("run_id", form.text("run_id"));
        visit.send("POST", Inside.path("v1", "keys", visit.part("key"), "release"), body, form.text("key"));
        return Look.goTo(Inside.path("keys", visit.part("key")) + "?did=release");
    }

    private static Answer reprocess(Visit visit, Form form) throws Exception {
        visit.send(
                "POST", Inside.path("v1", "events", visit.part("event_id"), "reprocess"), object(), form.text("key"));
        return Look.goTo(Inside.path("events", visit.part("event_id")) + "?did=reprocess");
    }

    private static Answer schedule(Visit visit, Form form) throws Exception {
        String turn = visit.part("turn").equals("resume") ? "resume" : "pause";
        String path = Inside.path("v1", "workflows", visit.part("workflow"), "schedules", visit.part("name"), turn);
        visit.send("POST", path, object(), form.text("key"));
        return Look.goTo(Inside.path("schedules", visit.part("workflow"), visit.part("name")) + "?did=" + turn);
    }

    /** The link is shown on the very page that answers the form: it is kept nowhere. */
    private static Answer invite(Visit visit, Form form) throws Exception {
        ObjectNode body = object().put("role", form.text("role"));
        Doc answer =
                visit.send("PUT", Inside.path("v1", "people", form.text("name").strip()), body, form.text("key"));
        return PersonPages.linked(visit, answer);
    }

    /** What begins like an id of ours is looked for there first; a key may begin so too. */
    private static List<String> places(String text) {
        List<String> places = new ArrayList<>();
        if (text.startsWith("rpl_")) {
            places.add("replays");
        } else if (text.startsWith("rev_")) {
            places.add("reviews");
        } else if (text.matches("inc_[A-Za-z0-9]+")) {
            places.add("incidents");
        }
        places.addAll(List.of("runs", "keys", "workflows"));
        return places;
    }

    /** Where whatever was pasted leads: a run, a key, a workflow, a plan…, else the keys that begin so. */
    static Answer go(Visit visit) throws Exception {
        String text = visit.asked("to").strip();
        if (text.isEmpty()) {
            return Look.goTo("/workflows");
        }
        for (String place : places(text)) {
            if (visit.maybe(Inside.path("v1", place, text), "").node().isObject()) {
                return Look.goTo(Inside.path(place, text));
            }
        }
        return Look.goTo("/keys?prefix=" + Inside.encoded(text));
    }
}
