package dev.semel.server.api;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.Json;
import dev.semel.key.CanonicalJson;
import dev.semel.key.FieldPath;
import dev.semel.server.auth.People;
import dev.semel.server.http.Answer;
import dev.semel.server.http.Principal;
import dev.semel.server.http.Request;
import dev.semel.server.http.Router;
import dev.semel.server.http.Scope;
import dev.semel.server.settings.Profile;
import dev.semel.server.settings.Settings;
import dev.semel.server.settings.Shelf;
import dev.semel.server.settings.Subscriptions;
import dev.semel.store.Rows;
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

    private final Settings settings;
    private final SettingDeeds actions;

    ProfileRoutes(Settings settings, SettingDeeds actions) {
        this.settings = settings;
        this.actions = actions;
    }

    void addTo(Router router) {
        router.add("GET", "/v1/profiles", Scope.READ, this::list)
                .add("GET", ONE, Scope.READ, this::get)
                .add(Api.changing("POST", ONE + "/reveal", Scope.OPERATE, this::reveal))
                .add(Api.changing("PUT", ONE, Scope.OPERATE, this::put).withMaxBody(LARGEST))
                .add(Api.changing("DELETE", ONE, Scope.OPERATE, this::remove))
                .add(Api.changing("PUT", ONE + "/subscriptions/{topic}", Scope.OPERATE, this::subscribe));
    }

    /** Lists all profiles, or with `?email=` the one with that address. */
    Answer list(Request request) {
        int workspace = request.principal().workspace();
        String email = request.query("email");
        if (email != null) {
            if (!request.principal().may(Scope.OPERATE)) {
                // A search by address would let a reader probe for addresses.
                throw new SemelException(
                                ErrorCode.FORBIDDEN,
                                "Finding a profile by its address requires the scope operate. Nothing was read.",
                                "Find the profile by its id, or use a token with this scope.")
                        .with("scope", "operate");
            }
            Shelf.Kept<Profile> found = settings.profiles().byEmail(workspace, email);
            Rows.Setting row =
                    found == null ? null : settings.profiles().shelf().row(workspace, found.name());
            return Views.page(
                    row == null ? List.of() : List.of(row),
                    Integer.MAX_VALUE,
                    one -> shown(request, one),
                    Rows.Setting::name);
        }
        Paging paging = Paging.of(request);
        return Views.page(
                settings.profiles().page(workspace, SettingDeeds.after(paging), paging.limit()),
                paging.limit(),
                row -> shown(request, row),
                row -> SettingDeeds.cursor(row.name()));
    }

    private ObjectNode shown(Request request, Rows.Setting row) {
        Principal asks = request.principal();
        boolean whole = asks.may(Scope.OPERATE) && People.nameOf(asks) == null;
        return whole ? view(row) : masked(row);
    }

    private ObjectNode masked(Rows.Setting row) {
        ObjectNode out = view(row);
        JsonNode document = out.path("document");
        if (document.isObject()) {
            Masks.Mask mask = mask(document);
            out.set("document", mask.input(document));
            if (!mask.names().isEmpty()) {
                mask.names().forEach(out.putArray("masked")::add);
            }
        }
        return out;
    }

    /** Masks the PII of this document. */
    private Masks.Mask mask(JsonNode document) {
        List<FieldPath> naming = settings.profiles().shelf().check(document).naming().stream()
                .filter(path -> !path.of(document).isMissingNode())
                .toList();
        return Masks.mask(naming, List.of(document));
    }

    /** Records the user, the profile and the reason in the audit log before it returns anything. */
    private Answer reveal(Request request) {
        String reason = Said.in(request, Set.of("reason")).text("reason").strip();
        if (reason.isEmpty()) {
            throw new SemelException(
                    ErrorCode.INVALID_INPUT,
                    "reason is missing: the audit log records it with your name. Nothing was revealed.",
                    "Send {\"reason\": \"…\"}.");
        }
        Rows.Setting row = found(request);
        ObjectNode out = view(row);
        List<String> names = mask(out.path("document")).names();
        actions.noteOnce(
                request,
                new Deeds.Deed("profile.reveal", row.name(), reason),
                new Deeds.Entry("profile.reveal", row.name(), names + " " + reason));
        names.forEach(out.putArray("revealed")::add);
        return Views.ok(with(request, out));
    }

    private ObjectNode view(Rows.Setting row) {
        ObjectNode out = Views.object()
                .put("profile_id", row.name())
                .put("version", row.version())
                .put("changed_at", Views.time(row.changedAt()))
                .put("changed_by", row.changedBy());
        if (row.body().isEmpty()) {
            return out.putNull("document").put("document_omitted", true);
        }
        out.set("document", Json.parse(row.body()));
        return out;
    }

    Answer get(Request request) {
        Rows.Setting row = found(request);
        return SettingDeeds.tagged(Views.ok(with(request, shown(request, row))), row.version());
    }

    private Rows.Setting found(Request request) {
        Rows.Setting row =
                settings.profiles().shelf().row(request.principal().workspace(), request.parameter("profile"));
        if (row == null) {
            throw new SemelException(
                    ErrorCode.NOT_FOUND,
                    "No profile with this id exists in this workspace. Nothing was changed.",
                    "Check the id, or find the profile by its address at GET /v1/profiles?email=….");
        }
        return row;
    }

    /** Adds subscriptions and cohorts. */
    private ObjectNode with(Request request, ObjectNode out) {
        int workspace = request.principal().workspace();
        String id = request.parameter("profile");
        ArrayNode subscriptions = out.putArray("subscriptions");
        settings.subscriptions().of(workspace, id).forEach(choice -> subscriptions.add(view(choice)));
        ArrayNode cohorts = out.putArray("cohorts");
        settings.cohorts().of(workspace, id).forEach(cohorts::add);
        return out;
    }

    private static ObjectNode view(Subscriptions.Choice choice) {
        return Views.object()
                .put("topic", choice.topic())
                .put("subscribed", choice.subscribed())
                .put("since", Views.time(choice.since()));
    }

    Answer put(Request request) {
        MediaTypes.requireJson(request);
        JsonNode document = Json.parse(request.body());
        if (Json.write(document).contains(Masks.MARK)) {
            throw new SemelException(
                    ErrorCode.INVALID_INPUT,
                    "The document contains " + Masks.MARK
                            + ", the placeholder for a masked value. Nothing was changed.",
                    "Reveal the profile, edit the revealed document and send that.");
        }
        String id = request.parameter("profile");
        Integer expected = SettingDeeds.expected(request);
        String actor = request.principal().tokenId();
        return actions.put(
                request,
                new Deeds.Deed(
                        "profile.put",
                        id,
                        new String(CanonicalJson.bytes(document), StandardCharsets.UTF_8),
                        String.valueOf(expected)),
                settings.profiles()
                        .putting(new Shelf.Draft(request.principal().workspace(), id, document, expected, actor)),
                this::view);
    }

    Answer remove(Request request) {
        String id = request.parameter("profile");
        Integer expected = SettingDeeds.expected(request);
        return actions.remove(
                request,
                new Deeds.Deed("profile.remove", id, String.valueOf(expected)),
                settings.profiles()
                        .removing(
                                request.principal().workspace(),
                                id,
                                expected,
                                request.principal().tokenId()));
    }

    Answer subscribe(Request request) {
        MediaTypes.requireJson(request);
        JsonNode body = Json.parse(request.body());
        JsonNode wanted = body.path("subscribed");
        if (!body.isObject() || body.size() != 1 || !wanted.isBoolean()) {
            throw new SemelException(
                    ErrorCode.INVALID_INPUT,
                    "The body must be {\"subscribed\": true} or {\"subscribed\": false}. Nothing was changed.",
                    "Send one of these.");
        }
        var word = new Subscriptions.Word(
                request.principal().workspace(),
                request.parameter("profile"),
                request.parameter("topic"),
                wanted.booleanValue(),
                request.principal().tokenId());
        return actions.put(
                request,
                new Deeds.Deed("profile.subscribe", word.profile(), word.topic(), String.valueOf(word.subscribed())),
                settings.subscriptions().putting(word),
                row -> view(Subscriptions.choice(row)).put("profile_id", word.profile()));
    }
}
