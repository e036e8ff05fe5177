package dev.semel.server.api;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.Json;
import dev.semel.key.CanonicalJson;
import dev.semel.server.http.Answer;
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
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** People, and what they unsubscribed from. */
final class ProfileRoutes {
    private static final int LARGEST = 128 << 10;
    private static final String ONE = "/v1/profiles/{profile}";

    private final Settings settings;
    private final SettingDeeds deeds;

    ProfileRoutes(Settings settings, SettingDeeds deeds) {
        this.settings = settings;
        this.deeds = deeds;
    }

    void addTo(Router router) {
        router.add("GET", "/v1/profiles", Scope.READ, this::list)
                .add("GET", ONE, Scope.READ, this::get)
                .add(Api.changing("PUT", ONE, Scope.OPERATE, this::put).withMaxBody(LARGEST))
                .add(Api.changing("DELETE", ONE, Scope.OPERATE, this::remove))
                .add(Api.changing("PUT", ONE + "/subscriptions/{topic}", Scope.OPERATE, this::subscribe));
    }

    /** All of them, or with `?email=` the one that has that address. */
    Answer list(Request request) {
        int workspace = request.principal().workspace();
        String email = request.query("email");
        if (email != null) {
            Shelf.Kept<Profile> found = settings.profiles().byEmail(workspace, email);
            Rows.Setting row =
                    found == null ? null : settings.profiles().shelf().row(workspace, found.name());
            return Views.page(
                    row == null ? List.of() : List.of(row), Integer.MAX_VALUE, this::view, Rows.Setting::name);
        }
        Paging paging = Paging.of(request);
        return Views.page(
                settings.profiles().page(workspace, SettingDeeds.after(paging), paging.limit()),
                paging.limit(),
                this::view,
                row -> SettingDeeds.cursor(row.name()));
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
        int workspace = request.principal().workspace();
        String id = request.parameter("profile");
        Rows.Setting row = settings.profiles().shelf().row(workspace, id);
        if (row == null) {
            throw new SemelException(
                    ErrorCode.NOT_FOUND,
                    "There is no such profile in this workspace.",
                    "Profiles are found by their id; by address at GET /v1/profiles?email=….");
        }
        ObjectNode out = view(row);
        ArrayNode subscriptions = out.putArray("subscriptions");
        settings.subscriptions().of(workspace, id).forEach(choice -> subscriptions.add(view(choice)));
        ArrayNode cohorts = out.putArray("cohorts");
        settings.cohorts().of(workspace, id).forEach(cohorts::add);
        return SettingDeeds.tagged(Views.ok(out), row.version());
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
        String id = request.parameter("profile");
        Integer expected = SettingDeeds.expected(request);
        String actor = request.principal().tokenId();
        return deeds.put(
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
        return deeds.remove(
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
        return deeds.put(
                request,
                new Deeds.Deed("profile.subscribe", word.profile(), word.topic(), String.valueOf(word.subscribed())),
                settings.subscriptions().putting(word),
                row -> view(Subscriptions.choice(row)).put("profile_id", word.profile()));
    }
}
