package dev.semel.server.dashboard;

import dev.semel.error.SemelException;
import dev.semel.json.StrictJson;
import dev.semel.server.access.SignedInUser;
import dev.semel.server.http.HttpRequest;
import dev.semel.server.http.HttpResponse;
import dev.semel.server.http.InternalApiClient;
import dev.semel.server.http.ProblemResponses;
import java.util.Map;
import tools.jackson.databind.JsonNode;

/** A signed-in user's request for a dashboard page, with API calls on behalf of that user. */
record PageVisit(HttpRequest request, SignedInUser user, InternalApiClient api, PageRenderer renderer) {
    /** Calls the API. A rejection becomes an error page. */
    ApiJson get(String path, String query) throws Exception {
        return read(api.call(user.principal(), InternalApiClient.ApiCall.get(path, query), request.id()));
    }

    ApiJson get(String path) throws Exception {
        return get(path, "");
    }

    /** Calls the API. A rejection is an empty result. */
    ApiJson getOrEmpty(String path, String query) throws Exception {
        HttpResponse answer = api.call(user.principal(), InternalApiClient.ApiCall.get(path, query), request.id());
        return answer.status() < 400 ? ApiJson.parse(answer.body()) : ApiJson.EMPTY;
    }

    ApiJson send(String method, String path, JsonNode body, String key) throws Exception {
        InternalApiClient.ApiCall post = InternalApiClient.ApiCall.post(path, StrictJson.bytes(body), key);
        InternalApiClient.ApiCall call = new InternalApiClient.ApiCall(method, path, "", post.headers(), post.body());
        return read(api.call(user.principal(), call, request.id()));
    }

    /**
     * Saves a document only if the stored version is still the given one, so that no change is overwritten unseen.
     *
     * @param version 0 if the document must not exist yet
     */
    ApiJson save(String path, JsonNode body, String key, long version) throws Exception {
        InternalApiClient.ApiCall post = InternalApiClient.ApiCall.post(path, StrictJson.bytes(body), key);
        InternalApiClient.ApiCall call = new InternalApiClient.ApiCall("PUT", path, "", post.headers(), post.body());
        InternalApiClient.ApiCall conditional = version == 0
                ? call.withHeader("If-None-Match", "*")
                : call.withHeader("If-Match", "\"" + version + "\"");
        return read(api.call(user.principal(), conditional, request.id()));
    }

    /** The API's response without parsing. */
    HttpResponse getRaw(String path) throws Exception {
        HttpResponse answer = api.call(user.principal(), InternalApiClient.ApiCall.get(path, ""), request.id());
        if (answer.status() >= 400) {
            throw new ApiRejectionException(answer.status(), ApiJson.parse(answer.body()));
        }
        return answer;
    }

    /** Any other API call. */
    ApiJson call(InternalApiClient.ApiCall call) throws Exception {
        return read(api.call(user.principal(), call, request.id()));
    }

    private static ApiJson read(HttpResponse answer) {
        ApiJson doc = ApiJson.parse(answer.body());
        if (answer.status() >= 400) {
            throw new ApiRejectionException(answer.status(), doc);
        }
        return doc;
    }

    /** The action of a submitted form. */
    interface FormAction {
        HttpResponse run() throws Exception;
    }

    /** Shows the page of a rejected form again. */
    interface FormPage {
        HttpResponse show(FormRejection rejection) throws Exception;
    }

    /** Runs the action of a form. If the API rejects it or the input is invalid, shows the form's page again. */
    HttpResponse submit(String name, SubmittedForm form, FormAction action, FormPage page) throws Exception {
        try {
            return action.run();
        } catch (ApiRejectionException e) {
            return page.show(new FormRejection(e.status(), e.problem(), name, form));
        } catch (SemelException e) {
            ApiJson problem = new ApiJson(ProblemResponses.toDocument(e, request.id()));
            return page.show(new FormRejection(e.code().status(), problem, name, form));
        }
    }

    boolean isAllowed(String method, String path) {
        return api.isAllowed(user.principal(), method, path);
    }

    /** A query parameter; empty if missing. */
    String queryParameter(String name) {
        String value = request.query(name);
        return value == null ? "" : value;
    }

    String pathParameter(String name) {
        return request.parameter(name);
    }

    HttpResponse show(String template, String title, String section, Map<String, Object> parts) {
        return show(200, new PageRenderer.PageContent(template, title, section, parts));
    }

    /** Renders a page with this status. */
    HttpResponse show(int status, PageRenderer.PageContent sheet) {
        return renderer.render(status, request, user, sheet);
    }
}
