package dev.semel.server.operations.event;

import dev.semel.error.SemelException;
import dev.semel.json.StrictJsonCodec;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.connectors.webhooks.SampleWebhookDelivery;
import dev.semel.server.connectors.webhooks.WebhookSourceId;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.ServerHttpResponse;
import dev.semel.server.http.TokenScope;
import dev.semel.server.operations.ActionRequest;
import dev.semel.server.operations.ApiRouter;
import dev.semel.server.operations.AuditNote;
import dev.semel.server.operations.InboundJsonRequestBody;
import dev.semel.server.operations.setting.WorkspaceSettingUpdater;
import dev.semel.server.query.ApiErrors;
import dev.semel.server.query.PagingParameters;
import dev.semel.server.query.RunJsonRenderer;
import dev.semel.server.settings.InboundWebhookSetting;
import dev.semel.server.settings.WorkspaceSettingNameValidator;
import dev.semel.server.settings.WorkspaceSettingRepositories;
import dev.semel.server.settings.WorkspaceSettingRepository;
import dev.semel.store.DatabaseRows;
import java.time.InstantSource;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** Serves the configuration of inbound webhooks (`/v1/webhooks/{name}`) and creates the secret source id of each path. */
public record InboundWebhookRoutes(
        SemelRuntime semel,
        WorkspaceSettingRepositories settings,
        WorkspaceSettingUpdater actions,
        InstantSource clock) {
    private static final int LARGEST = 64 << 10;
    /** A public secret for samples, valid in every signature scheme: text, and base64 of 24 bytes after the prefix. */
    private static final String SAMPLE_SECRET = "whsec_c2VtZWwgc2FtcGxlOiAyNCBieXRlcyEh";

    public void addTo(ApiRouter router) {
        router.get("/v1/webhooks", TokenScope.READ, this::list)
                .get("/v1/webhooks/{name}", TokenScope.READ, this::get)
                .change("PUT", "/v1/webhooks/{name}", TokenScope.ADMIN, this::put, LARGEST)
                .delete("/v1/webhooks/{name}", TokenScope.ADMIN, this::delete)
                .post("/v1/webhooks/{name}/sample", TokenScope.ADMIN, this::sample);
    }

    ServerHttpResponse list(ServerHttpRequest request) {
        PagingParameters paging = PagingParameters.parse(request);
        int workspace = request.principal().workspace();
        return RunJsonRenderer.pageResponse(
                settings.webhooks().page(workspace, paging.afterText(), paging.limit()),
                paging.limit(),
                row -> toJson(withDocument(row)),
                row -> PagingParameters.encode(row.name()));
    }

    /** Lists omit long documents. This loads the document of a webhook again. */
    private DatabaseRows.SettingRow withDocument(DatabaseRows.SettingRow row) {
        DatabaseRows.SettingRow whole =
                row.body().isEmpty() ? settings.webhooks().findRow(row.ws(), row.name()) : row;
        return whole == null ? row : whole;
    }

    private static ObjectNode toJson(DatabaseRows.SettingRow row) {
        ObjectNode out = WorkspaceSettingUpdater.head(row);
        JsonNode document = row.body().isEmpty() ? RunJsonRenderer.newObject() : StrictJsonCodec.parse(row.body());
        out.put("path", "/v1/webhooks/" + document.path("source").asString(""));
        out.set("document", document);
        return out;
    }

    ServerHttpResponse get(ServerHttpRequest request) {
        DatabaseRows.SettingRow row = ApiErrors.orThrow(
                settings.webhooks().findRow(request.principal().workspace(), request.parameter("name")),
                InboundWebhookRoutes::unknownWebhook);
        return WorkspaceSettingUpdater.withEtag(RunJsonRenderer.ok(toJson(row)), row.version());
    }

    static SemelException unknownWebhook() {
        return ApiErrors.notFound(
                "This workspace has no webhook with this name. Nothing was changed.",
                "List the webhooks with GET /v1/webhooks.");
    }

    /** With `?new_source=true` the webhook gets a new path, and the server rejects deliveries to the old one. */
    ServerHttpResponse put(ServerHttpRequest request) {
        String name = WorkspaceSettingNameValidator.requireValid("webhook", request.parameter("name"));
        if (name.startsWith(WebhookSourceId.PREFIX)) {
            throw ApiErrors.invalidInput(
                    "The name of a webhook must not begin with src_, as the ids in URLs do. Nothing was changed.",
                    "Choose another name.");
        }
        JsonNode parsed = InboundJsonRequestBody.parseAny(request);
        InboundWebhookSetting webhook = settings.webhooks().parse(parsed);
        ObjectNode draft = (ObjectNode) parsed;
        draft.remove("source");
        Integer expected = WorkspaceSettingUpdater.expectedVersion(request);
        boolean move = "true".equals(request.query("new_source"));
        List<String> warnings = missingSecrets(request.principal().workspace(), webhook);
        var action = new ActionRequest("webhook.put", name, ActionRequest.canonical(draft), expected + " " + move);
        // A retry reads the source again, which another request may have created or moved.
        return WorkspaceSettingUpdater.retryUnlessVersioned(
                expected, () -> put(request, new WebhookDraft(name, draft, expected, move), action, warnings));
    }

    private record WebhookDraft(
            String name, ObjectNode document, @Nullable Integer expected, boolean move) {}

    private ServerHttpResponse put(
            ServerHttpRequest request, WebhookDraft draft, ActionRequest action, List<String> warnings) {
        int workspace = request.principal().workspace();
        DatabaseRows.SettingRow existing = settings.webhooks().findRow(workspace, draft.name());
        String source = existing == null || draft.move()
                ? WebhookSourceId.of(workspace, draft.name(), semel.newSecret(WebhookSourceId.RANDOM_BYTES))
                        .text()
                : StrictJsonCodec.parse(existing.body()).path("source").asString("");
        int read = existing == null ? 0 : existing.version();
        ObjectNode document = draft.document().deepCopy().put("source", source);
        Integer expected = draft.expected() == null ? Integer.valueOf(read) : draft.expected();
        String actor = request.principal().tokenId();
        return actions.put(
                request,
                action,
                settings.webhooks()
                        .preparePut(new WorkspaceSettingRepository.SettingDraft(
                                workspace, draft.name(), document, expected, actor)),
                row -> {
                    ObjectNode out = toJson(row);
                    warnings.forEach(out.putArray("warnings")::add);
                    return out;
                });
    }

    private List<String> missingSecrets(int workspace, InboundWebhookSetting webhook) {
        return Stream.concat(webhook.secrets().stream(), Stream.ofNullable(webhook.verifyToken()))
                .filter(name -> !settings.secrets().exists(workspace, name))
                .map(name -> "there is no secret " + name + " yet; store it with `semel secret set " + name + "`")
                .toList();
    }

    ServerHttpResponse delete(ServerHttpRequest request) {
        Integer expected = WorkspaceSettingUpdater.expectedVersion(request);
        String name = request.parameter("name");
        if (!WorkspaceSettingNameValidator.isValid(name)) {
            throw unknownWebhook();
        }
        return actions.remove(
                request,
                new ActionRequest("webhook.remove", name, String.valueOf(expected)),
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
    ServerHttpResponse sample(ServerHttpRequest request) {
        int workspace = request.principal().workspace();
        String name = request.parameter("name");
        WorkspaceSettingRepository.StoredSetting<InboundWebhookSetting> stored =
                settings.webhooks().find(workspace, name);
        String id = "sample_" + PagingParameters.cursor(semel.newId());
        long seconds = clock.instant().getEpochSecond();
        if (stored != null) {
            String secret = settings.secrets()
                    .reveal(workspace, stored.value().secrets().getFirst());
            ObjectNode out = RunJsonRenderer.newObject()
                    .put("path", "/v1/webhooks/" + stored.value().source());
            String url = "http://" + request.header("Host") + out.path("path").stringValue();
            ServerHttpResponse answer = sample(out, SampleWebhookDelivery.of(stored.value(), secret, id, seconds, url));
            actions.recordAudit(request, new AuditNote("webhook.sample", name, ""));
            return answer;
        }
        if (!InboundWebhookSetting.PRESETS.contains(name)) {
            throw unknownWebhook();
        }
        if (name.equals("generic")) {
            throw ApiErrors.invalidInput(
                    "This workspace has no webhook named generic, and the preset generic defines neither a signature"
                            + " nor an event id. No sample was created.",
                    "Create a webhook with `signature` and `id` first, and test that webhook.");
        }
        InboundWebhookSetting plain = settings.webhooks()
                .parse(StrictJsonCodec.parse("{\"preset\":\"" + name + "\",\"secrets\":[\"sample\"]"
                        + (name.equals("meta") ? ",\"verify_token\":\"sample\"}" : "}")));
        ObjectNode out =
                RunJsonRenderer.newObject().putNull("path").put("preset", name).put("secret", SAMPLE_SECRET);
        return sample(out, SampleWebhookDelivery.of(plain, SAMPLE_SECRET, id, seconds, ""));
    }

    private static ServerHttpResponse sample(ObjectNode out, SampleWebhookDelivery sample) {
        ObjectNode headers = out.putObject("headers");
        sample.headers().forEach(headers::put);
        return RunJsonRenderer.ok(out.put("body", sample.body()));
    }
}
