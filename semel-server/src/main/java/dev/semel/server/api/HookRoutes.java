package dev.semel.server.api;

import dev.semel.Semel;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.Json;
import dev.semel.key.CanonicalJson;
import dev.semel.server.hooks.Sample;
import dev.semel.server.hooks.Source;
import dev.semel.server.http.Answer;
import dev.semel.server.http.Request;
import dev.semel.server.http.Router;
import dev.semel.server.http.Scope;
import dev.semel.server.settings.HookSetting;
import dev.semel.server.settings.Names;
import dev.semel.server.settings.Settings;
import dev.semel.server.settings.Shelf;
import dev.semel.store.Rows;
import java.nio.charset.StandardCharsets;
import java.time.InstantSource;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Serves the configuration of inbound webhooks (`/v1/hooks/{name}`) and creates the secret source id of each path. */
final class HookRoutes {
    private static final int LARGEST = 64 << 10;
    private static final int MOST_ATTEMPTS = 5;
    /** A public secret for samples, valid in every signature scheme: text, and base64 of 24 bytes after the prefix. */
    private static final String SAMPLE_SECRET = "whsec_c2VtZWwgc2FtcGxlOiAyNCBieXRlcyEh";

    private final Semel semel;
    private final Settings settings;
    private final SettingDeeds actions;
    private final InstantSource clock;

    HookRoutes(Semel semel, Settings settings, SettingDeeds actions, InstantSource clock) {
        this.semel = semel;
        this.settings = settings;
        this.actions = actions;
        this.clock = clock;
    }

    void addTo(Router router) {
        router.add("GET", "/v1/hooks", Scope.READ, this::list)
                .add("GET", "/v1/hooks/{name}", Scope.READ, this::get)
                .add(Api.changing("PUT", "/v1/hooks/{name}", Scope.ADMIN, this::put)
                        .withMaxBody(LARGEST))
                .add(Api.changing("DELETE", "/v1/hooks/{name}", Scope.ADMIN, this::remove))
                .add(Api.changing("POST", "/v1/hooks/{name}/sample", Scope.ADMIN, this::sample));
    }

    Answer list(Request request) {
        Paging paging = Paging.of(request);
        int workspace = request.principal().workspace();
        return Views.page(
                settings.hooks().page(workspace, SettingDeeds.after(paging), paging.limit()),
                paging.limit(),
                row -> toJson(withDocument(row)),
                row -> SettingDeeds.cursor(row.name()));
    }

    /** Lists omit long documents. This loads the document of a webhook again. */
    private Rows.Setting withDocument(Rows.Setting row) {
        Rows.Setting whole = row.body().isEmpty() ? settings.hooks().row(row.ws(), row.name()) : row;
        return whole == null ? row : whole;
    }

    private static ObjectNode toJson(Rows.Setting row) {
        ObjectNode out = SettingDeeds.head(row);
        JsonNode document = row.body().isEmpty() ? Views.object() : Json.parse(row.body());
        out.put("path", "/v1/hooks/" + document.path("source").asString(""));
        out.set("document", document);
        return out;
    }

    Answer get(Request request) {
        Rows.Setting row = settings.hooks().row(request.principal().workspace(), request.parameter("name"));
        if (row == null) {
            throw unknown();
        }
        return SettingDeeds.tagged(Views.ok(toJson(row)), row.version());
    }

    static SemelException unknown() {
        return new SemelException(
                ErrorCode.NOT_FOUND,
                "This workspace has no webhook with this name. Nothing was changed.",
                "List the webhooks with GET /v1/hooks.");
    }

    /** With `?new_source=true` the webhook gets a new path, and the server rejects deliveries to the old one. */
    Answer put(Request request) {
        String name = Names.checked("hook", request.parameter("name"));
        MediaTypes.requireJson(request);
        JsonNode parsed = Json.parse(request.body());
        HookSetting webhook = settings.hooks().check(parsed);
        ObjectNode draft = (ObjectNode) parsed;
        draft.remove("source");
        Integer expected = SettingDeeds.expected(request);
        boolean move = "true".equals(request.query("new_source"));
        List<String> warnings = missingSecrets(request.principal().workspace(), webhook);
        var action = new Deeds.Deed(
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

    private Answer put(Request request, WebhookDraft draft, Deeds.Deed action, List<String> warnings) {
        int workspace = request.principal().workspace();
        Rows.Setting existing = settings.hooks().row(workspace, draft.name());
        String source = existing == null || draft.move()
                ? Source.of(workspace, draft.name(), semel.newSecret(Source.RANDOM_BYTES))
                        .text()
                : Json.parse(existing.body()).path("source").asString("");
        int read = existing == null ? 0 : existing.version();
        ObjectNode document = draft.document().deepCopy().put("source", source);
        Integer expected = draft.expected() == null ? Integer.valueOf(read) : draft.expected();
        String actor = request.principal().tokenId();
        return actions.put(
                request,
                action,
                settings.hooks().putting(new Shelf.Draft(workspace, draft.name(), document, expected, actor)),
                row -> {
                    ObjectNode out = toJson(row);
                    ArrayNode list = out.putArray("warnings");
                    warnings.forEach(list::add);
                    return out;
                });
    }

    private List<String> missingSecrets(int workspace, HookSetting webhook) {
        return webhook.secrets().stream()
                .filter(name -> !settings.secrets().exists(workspace, name))
                .map(name -> "there is no secret " + name + " yet; store it with `semel secret set " + name + "`")
                .toList();
    }

    Answer remove(Request request) {
        Integer expected = SettingDeeds.expected(request);
        String name = request.parameter("name");
        if (!Names.fits(name)) {
            throw unknown();
        }
        return actions.remove(
                request,
                new Deeds.Deed("hook.remove", name, String.valueOf(expected)),
                settings.hooks()
                        .removing(
                                request.principal().workspace(),
                                name,
                                expected,
                                request.principal().tokenId()));
    }

    /**
     * Returns a signed sample delivery for the caller to post; the webhook's secret stays on the server. If only a
     * preset has this name, the sample is signed with a public secret that the response contains.
     */
    Answer sample(Request request) {
        int workspace = request.principal().workspace();
        String name = request.parameter("name");
        Shelf.Kept<HookSetting> stored = settings.hooks().find(workspace, name);
        String id = "sample_" + Paging.cursor(semel.newId());
        long seconds = clock.instant().getEpochSecond();
        if (stored != null) {
            String secret =
                    settings.secrets().reveal(workspace, stored.value().secrets().getFirst());
            ObjectNode out =
                    Views.object().put("path", "/v1/hooks/" + stored.value().source());
            Answer answer = sample(out, Sample.of(stored.value(), secret, id, seconds));
            actions.note(request, new Deeds.Entry("hook.sample", name, ""));
            return answer;
        }
        if (!HookSetting.PRESETS.contains(name)) {
            throw unknown();
        }
        if (name.equals("generic")) {
            throw new SemelException(
                    ErrorCode.INVALID_INPUT,
                    "This workspace has no webhook named generic, and the preset generic defines neither a signature"
                            + " nor an event id. No sample was created.",
                    "Create a webhook with signature and id first, and test that one.");
        }
        HookSetting plain =
                settings.hooks().check(Json.parse("{\"preset\":\"" + name + "\",\"secrets\":[\"sample\"]}"));
        ObjectNode out = Views.object().putNull("path").put("preset", name).put("secret", SAMPLE_SECRET);
        return sample(out, Sample.of(plain, SAMPLE_SECRET, id, seconds));
    }

    private static Answer sample(ObjectNode out, Sample sample) {
        ObjectNode headers = out.putObject("headers");
        sample.headers().forEach(headers::put);
        return Views.ok(out.put("body", sample.body()));
    }
}
