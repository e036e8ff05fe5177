package dev.semel.server.api;

import dev.semel.runtime.SemelRuntime;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJson;
import dev.semel.admission.CanonicalJson;
import dev.semel.server.webhooks.WebhookSample;
import dev.semel.server.webhooks.WebhookSourceId;
import dev.semel.server.http.HttpResponse;
import dev.semel.server.http.HttpRequest;
import dev.semel.server.http.Router;
import dev.semel.server.http.TokenScope;
import dev.semel.server.settings.WebhookSetting;
import dev.semel.server.settings.SettingNames;
import dev.semel.server.settings.WorkspaceSettings;
import dev.semel.server.settings.SettingRepository;
import dev.semel.store.StoredRows;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Serves the configuration of inbound webhooks (`/v1/hooks/{name}`) and creates the secret source id of each path. */
final class WebhookRoutes {
    private static final int LARGEST = 64 << 10;
    private static final int MOST_ATTEMPTS = 5;
    /** A public secret for samples, valid in every signature scheme: text, and base64 of 24 bytes after the prefix. */
    private static final String SAMPLE_SECRET = "whsec_c2VtZWwgc2FtcGxlOiAyNCBieXRlcyEh";

    private final SemelRuntime semel;
    private final WorkspaceSettings settings;
    private final SettingActions actions;
    private final InstantSource clock;

    WebhookRoutes(SemelRuntime semel, WorkspaceSettings settings, SettingActions actions, InstantSource clock) {
        this.semel = semel;
        this.settings = settings;
        this.actions = actions;
        this.clock = clock;
    }

    void addTo(Router router) {
        router.add("GET", "/v1/hooks", TokenScope.READ, this::list)
                .add("GET", "/v1/hooks/{name}", TokenScope.READ, this::get)
                .add(ApiRoutes.mutationRoute("PUT", "/v1/hooks/{name}", TokenScope.ADMIN, this::put)
                        .withMaxBody(LARGEST))
                .add(ApiRoutes.mutationRoute("DELETE", "/v1/hooks/{name}", TokenScope.ADMIN, this::delete))
                .add(ApiRoutes.mutationRoute("POST", "/v1/hooks/{name}/sample", TokenScope.ADMIN, this::sample));
    }

    HttpResponse list(HttpRequest request) {
        PagingParameters paging = PagingParameters.parse(request);
        int workspace = request.principal().workspace();
        return JsonViews.pageResponse(
                settings.webhooks().page(workspace, SettingActions.nameAfter(paging), paging.limit()),
                paging.limit(),
                row -> toJson(withDocument(row)),
                row -> SettingActions.nameCursor(row.name()));
    }

    /** Lists omit long documents. This loads the document of a webhook again. */
    private StoredRows.SettingRow withDocument(StoredRows.SettingRow row) {
        StoredRows.SettingRow whole = row.body().isEmpty() ? settings.webhooks().findRow(row.ws(), row.name()) : row;
        return whole == null ? row : whole;
    }

    private static ObjectNode toJson(StoredRows.SettingRow row) {
        ObjectNode out = SettingActions.head(row);
        JsonNode document = row.body().isEmpty() ? JsonViews.newObject() : StrictJson.parse(row.body());
        out.put("path", "/v1/hooks/" + document.path("source").asString(""));
        out.set("document", document);
        return out;
    }

    HttpResponse get(HttpRequest request) {
        StoredRows.SettingRow row = settings.webhooks().findRow(request.principal().workspace(), request.parameter("name"));
        if (row == null) {
            throw unknownWebhook();
        }
        return SettingActions.withEtag(JsonViews.ok(toJson(row)), row.version());
    }

    static SemelException unknownWebhook() {
        return new SemelException(
                ErrorCode.NOT_FOUND,
                "This workspace has no webhook with this name. Nothing was changed.",
                "List the webhooks with GET /v1/hooks.");
    }

    /** With `?new_source=true` the webhook gets a new path, and the server rejects deliveries to the old one. */
    HttpResponse put(HttpRequest request) {
        String name = SettingNames.requireValid("hook", request.parameter("name"));
        ContentTypeCheck.requireJson(request);
        JsonNode parsed = StrictJson.parse(request.body());
        WebhookSetting webhook = settings.webhooks().parse(parsed);
        ObjectNode draft = (ObjectNode) parsed;
        draft.remove("source");
        Integer expected = SettingActions.expectedVersion(request);
        boolean move = "true".equals(request.query("new_source"));
        List<String> warnings = missingSecrets(request.principal().workspace(), webhook);
        var action = new IdempotentActions.ActionRequest(
                "hook.put",
                name,
                new String(CanonicalJson.bytes(draft), StandardCharsets.UTF_8),
                expected + " " + move);
        for (int attempt = 1; ; attempt++) {
            try {
                return put(request, new WebhookDraft(name, draft, expected, move), action, warnings);
            } catch (SemelException e) {
                // Another request created or moved the webhook in between, so its source changed.
                if (e.code() != ErrorCode.PRECONDITION_FAILED || expected != null || attempt == MOST_ATTEMPTS) {
                    throw e;
                }
            }
        }
    }

    private record WebhookDraft(
            String name, ObjectNode document, @Nullable Integer expected, boolean move) {}

    private HttpResponse put(HttpRequest request, WebhookDraft draft, IdempotentActions.ActionRequest action, List<String> warnings) {
        int workspace = request.principal().workspace();
        StoredRows.SettingRow existing = settings.webhooks().findRow(workspace, draft.name());
        String source = existing == null || draft.move()
                ? WebhookSourceId.of(workspace, draft.name(), semel.newSecret(WebhookSourceId.RANDOM_BYTES))
                        .text()
                : StrictJson.parse(existing.body()).path("source").asString("");
        int read = existing == null ? 0 : existing.version();
        ObjectNode document = draft.document().deepCopy().put("source", source);
        Integer expected = draft.expected() == null ? Integer.valueOf(read) : draft.expected();
        String actor = request.principal().tokenId();
        return actions.put(
                request,
                action,
                settings.webhooks().preparePut(new SettingRepository.SettingDraft(workspace, draft.name(), document, expected, actor)),
                row -> {
                    ObjectNode out = toJson(row);
                    ArrayNode list = out.putArray("warnings");
                    warnings.forEach(list::add);
                    return out;
                });
    }

    private List<String> missingSecrets(int workspace, WebhookSetting webhook) {
        return webhook.secrets().stream()
                .filter(name -> !settings.secrets().exists(workspace, name))
                .map(name -> "there is no secret " + name + " yet; store it with `semel secret set " + name + "`")
                .toList();
    }

    HttpResponse delete(HttpRequest request) {
        Integer expected = SettingActions.expectedVersion(request);
        String name = request.parameter("name");
        if (!SettingNames.isValid(name)) {
            throw unknownWebhook();
        }
        return actions.remove(
                request,
                new IdempotentActions.ActionRequest("hook.remove", name, String.valueOf(expected)),
                settings.webhooks()
                        .prepareRemove(
                                request.principal().workspace(),
                                name,
                                expected,
                                request.principal().tokenId()));
    }

    /**
     * Returns a signed sample delivery for the caller to post; the webhook's secret stays on the server. If only a
     * preset has this name, the sample is signed with a public secret that the response contains.
     */
    HttpResponse sample(HttpRequest request) {
        int workspace = request.principal().workspace();
        String name = request.parameter("name");
        SettingRepository.StoredSetting<WebhookSetting> stored = settings.webhooks().find(workspace, name);
        String id = "sample_" + PagingParameters.cursor(semel.newId());
        long seconds = clock.instant().getEpochSecond();
        if (stored != null) {
            String secret =
                    settings.secrets().reveal(workspace, stored.value().secrets().getFirst());
            ObjectNode out =
                    JsonViews.newObject().put("path", "/v1/hooks/" + stored.value().source());
            HttpResponse answer = sample(out, WebhookSample.of(stored.value(), secret, id, seconds));
            actions.recordAudit(request, new IdempotentActions.AuditNote("hook.sample", name, ""));
            return answer;
        }
        if (!WebhookSetting.PRESETS.contains(name)) {
            throw unknownWebhook();
        }
        if (name.equals("generic")) {
            throw new SemelException(
                    ErrorCode.INVALID_INPUT,
                    "This workspace has no webhook named generic, and the preset generic defines neither a signature"
                            + " nor an event id. No sample was created.",
                    "Create a webhook with signature and id first, and test that one.");
        }
        WebhookSetting plain =
                settings.webhooks().parse(StrictJson.parse("{\"preset\":\"" + name + "\",\"secrets\":[\"sample\"]}"));
        ObjectNode out = JsonViews.newObject().putNull("path").put("preset", name).put("secret", SAMPLE_SECRET);
        return sample(out, WebhookSample.of(plain, SAMPLE_SECRET, id, seconds));
    }

    private static HttpResponse sample(ObjectNode out, WebhookSample sample) {
        ObjectNode headers = out.putObject("headers");
        sample.headers().forEach(headers::put);
        return JsonViews.ok(out.put("body", sample.body()));
    }
}
