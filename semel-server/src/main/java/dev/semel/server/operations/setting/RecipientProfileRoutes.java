package dev.semel.server.operations.setting;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.idempotency.JsonFieldPath;
import dev.semel.json.StrictJsonCodec;
import dev.semel.server.access.UserAccountStore;
import dev.semel.server.http.Principal;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.ServerHttpResponse;
import dev.semel.server.http.TokenScope;
import dev.semel.server.operations.ActionRequest;
import dev.semel.server.operations.ApiRouter;
import dev.semel.server.operations.AuditNote;
import dev.semel.server.operations.InboundJsonRequestBody;
import dev.semel.server.query.ApiErrors;
import dev.semel.server.query.PagingParameters;
import dev.semel.server.query.PiiMask;
import dev.semel.server.query.RunJsonRenderer;
import dev.semel.server.query.RunPiiMaskFactory;
import dev.semel.server.settings.RecipientProfile;
import dev.semel.server.settings.RecipientTopicSubscriptionStore;
import dev.semel.server.settings.WorkspaceSettingNameValidator;
import dev.semel.server.settings.WorkspaceSettingRepositories;
import dev.semel.server.settings.WorkspaceSettingRepository;
import dev.semel.store.DatabaseRows;
import java.util.List;
import java.util.Set;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/**
 * Serves `/v1/profiles`: notification recipients and their subscriptions. Addresses and PII attributes are masked for
 * read-only tokens and dashboard users, who can reveal them with a reason. Tokens with a scope that may change
 * profiles read them unmasked.
 */
record RecipientProfileRoutes(WorkspaceSettingRepositories settings, WorkspaceSettingUpdater actions) {
    private static final int LARGEST = 128 << 10;
    private static final String ONE = "/v1/profiles/{profile}";

    void addTo(ApiRouter router) {
        router.get("/v1/profiles", TokenScope.READ, this::list)
                .get(ONE, TokenScope.READ, this::get)
                .post(ONE + "/reveal", TokenScope.OPERATE, this::reveal)
                .change("PUT", ONE, TokenScope.OPERATE, this::put, LARGEST)
                .delete(ONE, TokenScope.OPERATE, this::remove)
                .put(ONE + "/subscriptions/{topic}", TokenScope.OPERATE, this::subscribe);
    }

    /** Lists all profiles, or with `?email=` the one with that address. */
    ServerHttpResponse list(ServerHttpRequest request) {
        int workspace = request.principal().workspace();
        String email = request.query("email");
        if (email != null) {
            if (!request.principal().hasScope(TokenScope.OPERATE)) {
                // A search by address would let a reader probe for addresses.
                throw new SemelException(
                                ErrorCode.FORBIDDEN,
                                "Finding a profile by its address requires the scope operate. Nothing was read.",
                                "Find the profile by its id, or use a token with this scope.")
                        .with("scope", "operate");
            }
            WorkspaceSettingRepository.StoredSetting<RecipientProfile> found =
                    settings.profiles().findByEmail(workspace, email);
            DatabaseRows.SettingRow row =
                    found == null ? null : settings.profiles().documents().findRow(workspace, found.name());
            return RunJsonRenderer.pageResponse(
                    row == null ? List.of() : List.of(row),
                    Integer.MAX_VALUE,
                    one -> shown(request, one),
                    DatabaseRows.SettingRow::name);
        }
        PagingParameters paging = PagingParameters.parse(request);
        return RunJsonRenderer.pageResponse(
                settings.profiles().documents().page(workspace, paging.afterText(), paging.limit()),
                paging.limit(),
                row -> shown(request, row),
                row -> PagingParameters.encode(row.name()));
    }

    private ObjectNode shown(ServerHttpRequest request, DatabaseRows.SettingRow row) {
        Principal principal = request.principal();
        boolean whole = principal.hasScope(TokenScope.OPERATE) && UserAccountStore.userNameOf(principal) == null;
        return whole ? view(row) : masked(row);
    }

    private ObjectNode masked(DatabaseRows.SettingRow row) {
        ObjectNode out = view(row);
        JsonNode document = out.path("document");
        if (document.isObject()) {
            PiiMask mask = mask(document);
            out.set("document", mask.maskInput(document));
            if (!mask.fieldNames().isEmpty()) {
                mask.fieldNames().forEach(out.putArray("masked")::add);
            }
        }
        return out;
    }

    private PiiMask mask(JsonNode document) {
        List<JsonFieldPath> naming = settings.profiles().documents().parse(document).piiPaths().stream()
                .filter(path -> !path.valueIn(document).isMissingNode())
                .toList();
        return RunPiiMaskFactory.fromInputs(naming, List.of(document));
    }

    /** Records the user, the profile and the reason in the audit log before it returns anything. */
    private ServerHttpResponse reveal(ServerHttpRequest request) {
        String reason = InboundJsonRequestBody.parse(request, Set.of("reason"))
                .text("reason")
                .strip();
        if (reason.isEmpty()) {
            throw ApiErrors.invalidInput(
                    "reason is missing: the audit log records it with your name. Nothing was revealed.",
                    "Send {\"reason\": \"…\"}.");
        }
        DatabaseRows.SettingRow row = found(request);
        ObjectNode out = view(row);
        List<String> names = mask(out.path("document")).fieldNames();
        actions.recordAuditOnce(
                request,
                new ActionRequest("profile.reveal", row.name(), reason),
                new AuditNote("profile.reveal", row.name(), names + " " + reason));
        names.forEach(out.putArray("revealed")::add);
        return RunJsonRenderer.ok(with(request, out));
    }

    private ObjectNode view(DatabaseRows.SettingRow row) {
        ObjectNode out = RunJsonRenderer.newObject()
                .put("profile_id", row.name())
                .put("version", row.version())
                .put("changed_at", RunJsonRenderer.formatTime(row.changedAt()))
                .put("changed_by", row.changedBy());
        if (row.body().isEmpty()) {
            return out.putNull("document").put("document_omitted", true);
        }
        out.set("document", StrictJsonCodec.parse(row.body()));
        return out;
    }

    ServerHttpResponse get(ServerHttpRequest request) {
        DatabaseRows.SettingRow row = found(request);
        return WorkspaceSettingUpdater.withEtag(RunJsonRenderer.ok(with(request, shown(request, row))), row.version());
    }

    private DatabaseRows.SettingRow found(ServerHttpRequest request) {
        return ApiErrors.orNotFound(
                settings.profiles().documents().findRow(request.principal().workspace(), request.parameter("profile")),
                "No profile with this id exists in this workspace. Nothing was changed.",
                "Check the id, or find the profile by its address at GET /v1/profiles?email=….");
    }

    /** Adds subscriptions and cohorts. */
    private ObjectNode with(ServerHttpRequest request, ObjectNode out) {
        int workspace = request.principal().workspace();
        String id = request.parameter("profile");
        ArrayNode subscriptions = out.putArray("subscriptions");
        settings.subscriptions().list(workspace, id).forEach(choice -> subscriptions.add(view(choice)));
        settings.cohorts().of(workspace, id).forEach(out.putArray("cohorts")::add);
        return out;
    }

    private static ObjectNode view(RecipientTopicSubscriptionStore.Subscription choice) {
        return RunJsonRenderer.newObject()
                .put("topic", choice.topic())
                .put("subscribed", choice.subscribed())
                .put("since", RunJsonRenderer.formatTime(choice.since()));
    }

    ServerHttpResponse put(ServerHttpRequest request) {
        JsonNode document = InboundJsonRequestBody.parseAny(request);
        if (StrictJsonCodec.write(document).contains(RunPiiMaskFactory.MASK_TEXT)) {
            throw ApiErrors.invalidInput(
                    "The document contains " + RunPiiMaskFactory.MASK_TEXT
                            + ", the placeholder for a masked value. Nothing was changed.",
                    "Reveal the profile, edit the revealed document and send the edited document.");
        }
        String id = request.parameter("profile");
        Integer expected = WorkspaceSettingUpdater.expectedVersion(request);
        String actor = request.principal().tokenId();
        return actions.put(
                request,
                new ActionRequest("profile.put", id, ActionRequest.canonical(document), String.valueOf(expected)),
                settings.profiles()
                        .preparePut(new WorkspaceSettingRepository.SettingDraft(
                                request.principal().workspace(), id, document, expected, actor)),
                this::view);
    }

    ServerHttpResponse remove(ServerHttpRequest request) {
        String id = WorkspaceSettingNameValidator.requireValidProfileId(request.parameter("profile"));
        Integer expected = WorkspaceSettingUpdater.expectedVersion(request);
        return actions.remove(
                request,
                new ActionRequest("profile.remove", id, String.valueOf(expected)),
                settings.profiles()
                        .documents()
                        .prepareRemove(
                                request.principal().workspace(),
                                id,
                                expected,
                                request.principal().tokenId()));
    }

    ServerHttpResponse subscribe(ServerHttpRequest request) {
        JsonNode body = InboundJsonRequestBody.parseAny(request);
        JsonNode wanted = body.path("subscribed");
        if (!body.isObject() || body.size() != 1 || !wanted.isBoolean()) {
            throw ApiErrors.invalidInput(
                    "The body must be {\"subscribed\": true} or {\"subscribed\": false}. Nothing was changed.",
                    "Send one of these two bodies.");
        }
        var word = new RecipientTopicSubscriptionStore.SubscriptionChange(
                request.principal().workspace(),
                request.parameter("profile"),
                request.parameter("topic"),
                wanted.booleanValue(),
                request.principal().tokenId());
        return actions.put(
                request,
                new ActionRequest("profile.subscribe", word.profile(), word.topic(), String.valueOf(word.subscribed())),
                settings.subscriptions().preparePut(word),
                row -> view(RecipientTopicSubscriptionStore.toSubscription(row)).put("profile_id", word.profile()));
    }
}
