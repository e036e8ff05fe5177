package dev.semel.server.dashboard.page;

import dev.semel.error.SemelException;
import dev.semel.json.StrictJsonCodec;
import dev.semel.server.access.SignedInUser;
import dev.semel.server.http.HttpProblemResponseMapper;
import dev.semel.server.http.InProcessApiClient;
import dev.semel.server.http.InProcessApiClient.ApiCall;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.ServerHttpResponse;
import tools.jackson.databind.JsonNode;

/** A signed-in user's request for a dashboard page, with API calls on behalf of that user. */
public record DashboardPageRequest(
        ServerHttpRequest request, SignedInUser user, InProcessApiClient api, PageRenderer renderer) {
    /** Calls the API. A rejection becomes an error page. */
    public DashboardTemplateJsonAccessor get(String path, UrlQuery query) throws Exception {
        return DashboardTemplateJsonAccessor.parse(getRaw(path, query).body());
    }

    public DashboardTemplateJsonAccessor get(String path) throws Exception {
        return get(path, UrlQuery.EMPTY);
    }

    /** Calls the API. A rejection is an empty result. */
    public DashboardTemplateJsonAccessor getOrEmpty(String path, UrlQuery query) throws Exception {
        ServerHttpResponse answer = api.call(user.principal(), ApiCall.get(path, query.text()), request.id());
        return answer.status() < 400
                ? DashboardTemplateJsonAccessor.parse(answer.body())
                : DashboardTemplateJsonAccessor.EMPTY;
    }

    public DashboardTemplateJsonAccessor getOrEmpty(String path) throws Exception {
        return getOrEmpty(path, UrlQuery.EMPTY);
    }

    public DashboardTemplateJsonAccessor send(String method, String path, JsonNode body, String key) throws Exception {
        return call(change(method, path, "", body, key));
    }

    /** @param segments the path below `/v1` */
    public DashboardTemplateJsonAccessor send(String method, SubmittedForm form, JsonNode body, String... segments)
            throws Exception {
        return send(method, "/v1" + InProcessApiClient.path(segments), body, form.text("key"));
    }

    /** A change that the API makes once per key. */
    public static ApiCall change(String method, String path, String query, JsonNode body, String key) {
        ApiCall post = ApiCall.post(path, StrictJsonCodec.bytes(body), key);
        return new ApiCall(method, path, query, post.headers(), post.body());
    }

    /**
     * Saves a document only if the stored version is still the given one, so that no change is overwritten unseen.
     *
     * @param version 0 if the document must not exist yet
     */
    public DashboardTemplateJsonAccessor save(String path, JsonNode body, String key, long version) throws Exception {
        ApiCall put = change("PUT", path, "", body, key);
        return call(
                version == 0
                        ? put.withHeader("If-None-Match", "*")
                        : put.withHeader("If-Match", "\"" + version + "\""));
    }

    /** Saves the document of a form over the version that the page showed. */
    public DashboardTemplateJsonAccessor save(String path, JsonNode body, SubmittedForm form) throws Exception {
        return save(path, body, form.text("key"), form.version());
    }

    public ServerHttpResponse getRaw(String path, UrlQuery query) throws Exception {
        return accepted(api.call(user.principal(), ApiCall.get(path, query.text()), request.id()));
    }

    public DashboardTemplateJsonAccessor call(ApiCall call) throws Exception {
        return DashboardTemplateJsonAccessor.parse(
                accepted(api.call(user.principal(), call, request.id())).body());
    }

    private static ServerHttpResponse accepted(ServerHttpResponse answer) {
        if (answer.status() >= 400) {
            throw new ApiErrorResponseException(answer.status(), DashboardTemplateJsonAccessor.parse(answer.body()));
        }
        return answer;
    }

    /** Redirects to a dashboard page, which confirms the action `did`. */
    public ServerHttpResponse redirect(String did, String... segments) {
        return PageRenderer.redirect(InProcessApiClient.path(segments) + "?did=" + did);
    }

    public interface FormAction {
        ServerHttpResponse run() throws Exception;
    }

    /** Shows the page of a rejected form again. */
    public interface FormPage {
        ServerHttpResponse show(RejectedDashboardForm rejection) throws Exception;
    }

    /** Runs the action of a form. If the API rejects it or the input is invalid, shows the form's page again. */
    public ServerHttpResponse submit(String name, SubmittedForm form, FormAction action, FormPage page)
            throws Exception {
        try {
            return action.run();
        } catch (ApiErrorResponseException e) {
            return page.show(new RejectedDashboardForm(e.status(), e.problem(), name, form));
        } catch (SemelException e) {
            DashboardTemplateJsonAccessor problem =
                    new DashboardTemplateJsonAccessor(HttpProblemResponseMapper.toDocument(e, request.id()));
            return page.show(new RejectedDashboardForm(e.code().status(), problem, name, form));
        }
    }

    public boolean isAllowed(String method, String path) {
        return api.isAllowed(user.principal(), method, path);
    }

    /** A query parameter; empty if missing. */
    public String queryParameter(String name) {
        String value = request.query(name);
        return value == null ? "" : value;
    }

    /** The query for the page of an API list that this page shows. */
    public UrlQuery cursor() {
        return UrlQuery.of("after", queryParameter("after"));
    }

    public String pathParameter(String name) {
        return request.parameter(name);
    }

    public PageBuilder page(String template, String title, String section) {
        return renderer.page(request, user, template, title, section);
    }
}
