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

/** Somebody who looks at a page, and what they asked for. */
record Visit(Request request, Visitor visitor, Inside inside, Look look) {
    /** What the API says to a question of this person; a refusal becomes a page of its own. */
    Doc get(String path, String query) throws Exception {
        return read(inside.ask(visitor.principal(), Inside.Call.get(path, query), request.id()));
    }

    Doc get(String path) throws Exception {
        return get(path, "");
    }

    /** The same, where a refusal is no more than an empty place on the page. */
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
     * Keeps a document over the version that was read, so that nobody's change is lost unseen.
     *
     * @param version 0 where there must be none yet
     */
    Doc keep(String path, JsonNode body, String key, long version) throws Exception {
        Inside.Call post = Inside.Call.post(path, Json.bytes(body), key);
        Inside.Call call = new Inside.Call("PUT", path, "", post.headers(), post.body());
        Inside.Call over =
                version == 0 ? call.with("If-None-Match", "*") : call.with("If-Match", "\"" + version + "\"");
        return read(inside.ask(visitor.principal(), over, request.id()));
    }

    /** What the API says, as it says it. */
    Answer raw(String path) throws Exception {
        Answer answer = inside.ask(visitor.principal(), Inside.Call.get(path, ""), request.id());
        if (answer.status() >= 400) {
            throw new Refused(answer.status(), Doc.of(answer.body()));
        }
        return answer;
    }

    /** Any other question. */
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

    /** Something that a form asked for. */
    interface Deed {
        Answer act() throws Exception;
    }

    /** Shows the page of a form, once more. */
    interface Redraw {
        Answer show(Again again) throws Exception;
    }

    /** Does what a form asked for. Where that is refused, also for what was typed, its own page shows it again. */
    Answer trying(String name, Form form, Deed deed, Redraw page) throws Exception {
        try {
            return deed.act();
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

    /** A parameter of the address; empty where it is not there. */
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

    /** A page whose form was refused shows itself again, with what was refused and its status. */
    Answer show(int status, Look.Sheet sheet) {
        return look.show(status, request, visitor, sheet);
    }
}
