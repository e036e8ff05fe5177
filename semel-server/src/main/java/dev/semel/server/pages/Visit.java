package dev.semel.server.pages;

import dev.semel.error.SemelException;
import dev.semel.json.Json;
import dev.semel.server.auth.Visitor;
import dev.semel.server.http.Answer;
import dev.semel.server.http.Inside;
import dev.semel.server.http.Problems;
import dev.semel.server.http.Request;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/** A signed-in user's request for a dashboard page, with API calls on behalf of that user. */
record Visit(Request request, Visitor visitor, Inside inside, Look look) {
    /** Calls the API. A rejection becomes an error page. */
    Doc get(String path, String query) throws Exception {
        return read(inside.ask(visitor.principal(), Inside.Call.get(path, query), request.id()));
    }

    Doc get(String path) throws Exception {
        return get(path, "");
    }

    /** Calls the API. A rejection is an empty result. */
    Doc maybe(String path, String query) throws Exception {
        Answer answer = inside.ask(visitor.principal(), Inside.Call.get(path, query), request.id());
        return answer.status() < 400 ? Doc.of(answer.body()) : Doc.NOTHING;
    }

    Doc send(String method, String path, JsonNode body, String key) throws Exception {
        Inside.Call post = Inside.Call.post(path, Json.bytes(body), key);
        Inside.Call call = new Inside.Call(method, path, "", post.headers(), post.body());
        return read(inside.ask(visitor.principal(), call, request.id()));
    }

    /**
     * Saves a document only if the stored version is still the given one, so that no change is overwritten unseen.
     *
     * @param version 0 if the document must not exist yet
     */
    Doc keep(String path, JsonNode body, String key, long version) throws Exception {
        Inside.Call post = Inside.Call.post(path, Json.bytes(body), key);
        Inside.Call call = new Inside.Call("PUT", path, "", post.headers(), post.body());
        Inside.Call conditional =
                version == 0 ? call.with("If-None-Match", "*") : call.with("If-Match", "\"" + version + "\"");
        return read(inside.ask(visitor.principal(), conditional, request.id()));
    }

    /** The API's response without parsing. */
    Answer raw(String path) throws Exception {
        Answer answer = inside.ask(visitor.principal(), Inside.Call.get(path, ""), request.id());
        if (answer.status() >= 400) {
            throw new Refused(answer.status(), Doc.of(answer.body()));
        }
        return answer;
    }

    /** Any other API call. */
    Doc ask(Inside.Call call) throws Exception {
        return read(inside.ask(visitor.principal(), call, request.id()));
    }

    private static Doc read(Answer answer) {
        Doc doc = Doc.of(answer.body());
        if (answer.status() >= 400) {
            throw new Refused(answer.status(), doc);
        }
        return doc;
    }

    /** The action of a submitted form. */
    interface Deed {
        Answer act() throws Exception;
    }

    /** Shows the page of a rejected form again. */
    interface Redraw {
        Answer show(Again rejection) throws Exception;
    }

    /** Runs the action of a form. If the API rejects it or the input is invalid, shows the form's page again. */
    Answer trying(String name, Form form, Deed action, Redraw page) throws Exception {
        try {
            return action.act();
        } catch (Refused e) {
            return page.show(new Again(e.status(), e.problem(), name, form));
        } catch (SemelException e) {
            Doc problem = new Doc(Problems.document(e, request.id()));
            return page.show(new Again(e.code().status(), problem, name, form));
        }
    }

    boolean may(String method, String path) {
        return inside.offers(visitor.principal(), method, path);
    }

    /** A query parameter; empty if missing. */
    String asked(String name) {
        String value = request.query(name);
        return value == null ? "" : value;
    }

    String part(String name) {
        return request.parameter(name);
    }

    Answer show(String template, String title, String section, Map<String, Object> parts) {
        return show(200, new Look.Sheet(template, title, section, parts));
    }

    /** Renders a page with this status. */
    Answer show(int status, Look.Sheet sheet) {
        return look.show(status, request, visitor, sheet);
    }
}
