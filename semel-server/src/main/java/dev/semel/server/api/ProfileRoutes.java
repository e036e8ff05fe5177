package dev.semel.server.api;

import dev.semel.admission.CanonicalJson;
import dev.semel.admission.FieldPath;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJson;
import dev.semel.server.access.UserAccounts;
import dev.semel.server.http.HttpRequest;
import dev.semel.server.http.HttpResponse;
import dev.semel.server.http.Principal;
import dev.semel.server.http.Router;
import dev.semel.server.http.TokenScope;
import dev.semel.server.settings.RecipientProfile;
import dev.semel.server.settings.RecipientSubscriptions;
import dev.semel.server.settings.SettingRepository;
import dev.semel.server.settings.WorkspaceSettings;
import dev.semel.store.StoredRows;
import java.nio.charset.StandardCharsets;
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
final class ProfileRoutes {
    private static final int LARGEST = 128 << 10;
    private static final String ONE = "/v1/profiles/{profile}";

    private final WorkspaceSettings settings;
    private final SettingActions actions;

    ProfileRoutes(WorkspaceSettings settings, SettingActions actions) {
        this.settings = settings;
        this.actions = actions;
    }

    void addTo(Router router) {
        router.add("GET", "/v1/profiles", TokenScope.READ, this::list)
                .add("GET", ONE, TokenScope.READ, this::get)
                .add(ApiRoutes.mutationRoute("POST", ONE + "/reveal", TokenScope.OPERATE, this::reveal))
                .add(ApiRoutes.mutationRoute("PUT", ONE, TokenScope.OPERATE, this::put)
                        .withMaxBody(LARGEST))
                .add(ApiRoutes.mutationRoute("DELETE", ONE, TokenScope.OPERATE, this::remove))
                .add(ApiRoutes.mutationRoute(
                        "PUT", ONE + "/subscriptions/{topic}", TokenScope.OPERATE, this::subscribe));
    }

    /** Lists all profiles, or with `?email=` the one with that address. */
    HttpResponse list(HttpRequest request) {
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
            SettingRepository.StoredSetting<RecipientProfile> found =
                    settings.profiles().findByEmail(workspace, email);
            StoredRows.SettingRow row =
                    found == null ? null : settings.profiles().documents().findRow(workspace, found.name());
            return JsonViews.pageResponse(
                    row == null ? List.of() : List.of(row),
                    Integer.MAX_VALUE,
                    one -> shown(request, one),
                    StoredRows.SettingRow::name);
        }
        PagingParameters paging = PagingParameters.parse(request);
        return JsonViews.pageResponse(
                settings.profiles().page(workspace, SettingActions.nameAfter(paging), paging.limit()),
                paging.limit(),
                row -> shown(request, row),
                row -> SettingActions.nameCursor(row.name()));
    }

    private ObjectNode shown(HttpRequest request, StoredRows.SettingRow row) {
        Principal asks = request.principal();
        boolean whole = asks.hasScope(TokenScope.OPERATE) && UserAccounts.userNameOf(asks) == null;
        return whole ? view(row) : masked(row);
    }

    private ObjectNode masked(StoredRows.SettingRow row) {
        ObjectNode out = view(row);
        JsonNode document = out.path("document");
        if (document.isObject()) {
            PiiMasks.PiiMask mask = mask(document);
            out.set("document", mask.maskInput(document));
            if (!mask.fieldNames().isEmpty()) {
                mask.fieldNames().forEach(out.putArray("masked")::add);
            }
        }
        return out;
    }

    /** Masks the PII of this document. */
    private PiiMasks.PiiMask mask(JsonNode document) {
        List<FieldPath> naming = settings.profiles().documents().parse(document).piiPaths().stream()
                .filter(path -> !path.valueIn(document).isMissingNode())
                .toList();
        return PiiMasks.fromInputs(naming, List.of(document));
    }

    /** Records the user, the profile and the reason in the audit log before it returns anything. */
    private HttpResponse reveal(HttpRequest request) {
        String reason = JsonBody.parse(request, Set.of("reason")).text("reason").strip();
        if (reason.isEmpty()) {
            throw new SemelException(
                    ErrorCode.INVALID_INPUT,
                    "reason is missing: the audit log records it with your name. Nothing was revealed.",
                    "Send {\"reason\": \"…\"}.");
        }
        StoredRows.SettingRow row = found(request);
        ObjectNode out = view(row);
        List<String> names = mask(out.path("document")).fieldNames();
        actions.recordAuditOnce(
                request,
                new IdempotentActions.ActionRequest("profile.reveal", row.name(), reason),
                new IdempotentActions.AuditNote("profile.reveal", row.name(), names + " " + reason));
        names.forEach(out.putArray("revealed")::add);
        return JsonViews.ok(with(request, out));
    }

    private ObjectNode view(StoredRows.SettingRow row) {
        ObjectNode out = JsonViews.newObject()
                .put("profile_id", row.name())
                .put("version", row.version())
                .put("changed_at", JsonViews.formatTime(row.changedAt()))
                .put("changed_by", row.changedBy());
        if (row.body().isEmpty()) {
            return out.putNull("document").put("document_omitted", true);
        }
        out.set("document", StrictJson.parse(row.body()));
        return out;
    }

    HttpResponse get(HttpRequest request) {
        StoredRows.SettingRow row = found(request);
        return SettingActions.withEtag(JsonViews.ok(with(request, shown(request, row))), row.version());
    }

    private StoredRows.SettingRow found(HttpRequest request) {
        StoredRows.SettingRow row =
                settings.profiles().documents().findRow(request.principal().workspace(), request.parameter("profile"));
        if (row == null) {
            throw new SemelException(
                    ErrorCode.NOT_FOUND,
                    "No profile with this id exists in this workspace. Nothing was changed.",
                    "Check the id, or find the profile by its address at GET /v1/profiles?email=….");
        }
        return row;
    }

    /** Adds subscriptions and cohorts. */
    private ObjectNode with(HttpRequest request, ObjectNode out) {
        int workspace = request.principal().workspace();
        String id = request.parameter("profile");
        ArrayNode subscriptions = out.putArray("subscriptions");
        settings.subscriptions().list(workspace, id).forEach(choice -> subscriptions.add(view(choice)));
        ArrayNode cohorts = out.putArray("cohorts");
        settings.cohorts().of(workspace, id).forEach(cohorts::add);
        return out;
    }

    private static ObjectNode view(RecipientSubscriptions.Subscription choice) {
        return JsonViews.newObject()
                .put("topic", choice.topic())
                .put("subscribed", choice.subscribed())
                .put("since", JsonViews.formatTime(choice.since()));
    }

    HttpResponse put(HttpRequest request) {
        ContentTypeCheck.requireJson(request);
        JsonNode document = StrictJson.parse(request.body());
        if (StrictJson.write(document).contains(PiiMasks.MASK_TEXT)) {
            throw new SemelException(
                    ErrorCode.INVALID_INPUT,
                    "The document contains " + PiiMasks.MASK_TEXT
                            + ", the placeholder for a masked value. Nothing was changed.",
                    "Reveal the profile, edit the revealed document and send that.");
        }
        String id = request.parameter("profile");
        Integer expected = SettingActions.expectedVersion(request);
        String actor = request.principal().tokenId();
        return actions.put(
                request,
                new IdempotentActions.ActionRequest(
                        "profile.put",
                        id,
                        new String(CanonicalJson.bytes(document), StandardCharsets.UTF_8),
                        String.valueOf(expected)),
                settings.profiles()
                        .preparePut(new SettingRepository.SettingDraft(
                                request.principal().workspace(), id, document, expected, actor)),
                this::view);
    }

    HttpResponse remove(HttpRequest request) {
        String id = request.parameter("profile");
        Integer expected = SettingActions.expectedVersion(request);
        return actions.remove(
                request,
                new IdempotentActions.ActionRequest("profile.remove", id, String.valueOf(expected)),
                settings.profiles()
                        .prepareRemove(
                                request.principal().workspace(),
                                id,
                                expected,
                                request.principal().tokenId()));
    }

    HttpResponse subscribe(HttpRequest request) {
        ContentTypeCheck.requireJson(request);
        JsonNode body = StrictJson.parse(request.body());
        JsonNode wanted = body.path("subscribed");
        if (!body.isObject() || body.size() != 1 || !wanted.isBoolean()) {
            throw new SemelException(
                    ErrorCode.INVALID_INPUT,
                    "The body must be {\"subscribed\": true} or {\"subscribed\": false}. Nothing was changed.",
                    "Send one of these.");
        }
        var word = new RecipientSubscriptions.SubscriptionChange(
                request.principal().workspace(),
                request.parameter("profile"),
                request.parameter("topic"),
                wanted.booleanValue(),
                request.principal().tokenId());
        return actions.put(
                request,
                new IdempotentActions.ActionRequest(
                        "profile.subscribe", word.profile(), word.topic(), String.valueOf(word.subscribed())),
                settings.subscriptions().preparePut(word),
                row -> view(RecipientSubscriptions.toSubscription(row)).put("profile_id", word.profile()));
    }
}
