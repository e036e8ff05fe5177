package dev.semel.server.pages;

import dev.semel.json.Json;
import dev.semel.server.http.Answer;
import dev.semel.server.http.Inside;
import dev.semel.server.http.Router;
import dev.semel.server.http.Scope;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Handles dashboard forms that change workflows, keys, events, schedules and users. Each form has a key that the API
 * gets as `Idempotency-Key`, so that a double click is one action.
 */
final class Acts {
    private Acts() {}

    static void addTo(Router router, Door guard) {
        router.add("POST", "/workflows/{id}/pause", Scope.OPEN, guard.deed((visit, form) -> turn(visit, form, "pause")))
                .add(
                        "POST",
                        "/workflows/{id}/resume",
                        Scope.OPEN,
                        guard.deed((visit, form) -> turn(visit, form, "resume")))
                .add("POST", "/keys/{key}/release", Scope.OPEN, guard.deed(Acts::release))
                .add("POST", "/keys/{key}/extend", Scope.OPEN, guard.deed(Acts::extend))
                .add("POST", "/events/{event_id}/reprocess", Scope.OPEN, guard.deed(Acts::reprocess))
                .add("POST", "/schedules/{workflow}/{name}/{turn}", Scope.OPEN, guard.deed(Acts::schedule))
                .add("POST", "/settings/people", Scope.OPEN, guard.deed(Acts::invite));
    }

    private static ObjectNode object() {
        return JsonNodeFactory.instance.objectNode();
    }

    /** Parses the form's JSON field; an empty field is an empty object. */
    static JsonNode data(Form form) {
        String text = form.text("data").strip();
        return text.isEmpty() ? object() : Json.parse(text);
    }

    private static Answer turn(Visit visit, Form form, String which) throws Exception {
        visit.send("POST", Inside.path("v1", "workflows", visit.part("id"), which), object(), form.text("key"));
        return Look.goTo(Inside.path("workflows", visit.part("id")) + "?did=" + which);
    }

    private static Answer release(Visit visit, Form form) throws Exception {
        ObjectNode body = object().put("reason", form.text("reason")).put("run_id", form.text("run_id"));
        visit.send("POST", Inside.path("v1", "keys", visit.part("key"), "release"), body, form.text("key"));
        return Look.goTo(Inside.path("keys", visit.part("key")) + "?did=release&workflow="
                + Inside.encoded(form.text("workflow")));
    }

    private static Answer extend(Visit visit, Form form) throws Exception {
        ObjectNode body = object().put("for", form.text("for").strip()).put("reason", form.text("reason"));
        String path = Inside.path("v1", "keys", visit.part("key"), "extend");
        // Several workflows can have this key; the form names the workflow of the page.
        String of = "workflow=" + Inside.encoded(form.text("workflow"));
        Inside.Call call = Inside.Call.post(path, Json.bytes(body), form.text("key"));
        visit.ask(new Inside.Call("POST", path, of, call.headers(), call.body()));
        return Look.goTo(Inside.path("keys", visit.part("key")) + "?" + of + "&did=extend");
    }

    private static Answer reprocess(Visit visit, Form form) throws Exception {
        visit.send(
                "POST", Inside.path("v1", "events", visit.part("event_id"), "reprocess"), object(), form.text("key"));
        return Look.goTo(Inside.path("events", visit.part("event_id")) + "?did=reprocess");
    }

    private static Answer schedule(Visit visit, Form form) throws Exception {
        if (visit.part("turn").equals("backfill")) {
            return ListPages.backfill(visit, form);
        }
        String turn = visit.part("turn").equals("resume") ? "resume" : "pause";
        String path = Inside.path("v1", "workflows", visit.part("workflow"), "schedules", visit.part("name"), turn);
        visit.send("POST", path, object(), form.text("key"));
        return Look.goTo(Inside.path("schedules", visit.part("workflow"), visit.part("name")) + "?did=" + turn);
    }

    /** Shows the invitation link on the response page only, because the server does not store it. */
    private static Answer invite(Visit visit, Form form) throws Exception {
        ObjectNode body = object().put("role", form.text("role"));
        Doc answer =
                visit.send("PUT", Inside.path("v1", "people", form.text("name").strip()), body, form.text("key"));
        return PersonPages.linked(visit, answer);
    }
}
