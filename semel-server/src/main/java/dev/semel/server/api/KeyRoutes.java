package dev.semel.server.api;

import dev.semel.runtime.KeyRelease;
import dev.semel.runtime.SemelRuntime;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJson;
import dev.semel.admission.AdmissionRules;
import dev.semel.admission.AdmissionRules.KeyStatus;
import dev.semel.admission.CanonicalJson;
import dev.semel.admission.IdempotencyKey;
import dev.semel.server.http.HttpResponse;
import dev.semel.server.http.HttpRequest;
import dev.semel.server.http.Router;
import dev.semel.server.http.TokenScope;
import dev.semel.store.StoreCommand;
import dev.semel.store.UniqueKey;
import dev.semel.store.StoredRows;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.ArrayList;
import java.util.Base64;
import java.util.List;
import java.util.Objects;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Serves idempotency keys (`/v1/keys`): list, history, simulation, longer window and release. */
final class KeyRoutes {
    private static final int LONGEST_REASON = 500;
    private static final int MAX_SCANNED = 20_000;
    private static final int PAGE_SIZE = 500;
    private static final long LONGEST_WINDOW = Duration.ofDays(365).toNanos() / 1_000;

    private final SemelRuntime semel;
    private final JsonViews views;
    private final IdempotentActions actions;
    private final KeySimulation simulation;
    private final KeyHistory history;

    KeyRoutes(SemelRuntime semel, JsonViews views, IdempotentActions actions, WorkspaceCache spaces) {
        this.semel = semel;
        this.views = views;
        this.actions = actions;
        this.simulation = new KeySimulation(semel, spaces);
        this.history = new KeyHistory(semel, simulation);
    }

    void addTo(Router router) {
        router.add("GET", "/v1/keys", TokenScope.READ, this::list)
                .add("GET", "/v1/keys/{key}", TokenScope.READ, this::get)
                .add(ApiRoutes.mutationRoute("POST", "/v1/keys/{key}/simulate", TokenScope.READ, simulation::simulate))
                .add(ApiRoutes.mutationRoute("POST", "/v1/keys/{key}/extend", TokenScope.OPERATE, this::extend))
                .add(ApiRoutes.mutationRoute("POST", "/v1/keys/{key}/release", TokenScope.OPERATE, this::release));
    }

    HttpResponse list(HttpRequest request) {
        PagingParameters paging = PagingParameters.parse(request);
        String prefix = request.query("prefix") == null ? "" : request.query("prefix");
        UniqueKey after = paging.after() == null ? null : decode(request.principal().workspace(), paging.after());
        String workflow = request.query("workflow");
        if (workflow != null) {
            return ofWorkflow(request, workflow, new Behind(String.valueOf(prefix), after), paging.limit());
        }
        List<StoredRows.KeyRow> rows = semel.view(
                reads -> reads.keys(request.principal().workspace(), String.valueOf(prefix), after, paging.limit()));
        long now = now();
        return JsonViews.pageResponse(
                rows == null ? List.of() : rows,
                paging.limit(),
                held -> views.keyJson(held, now),
                held -> encode(held.key()));
    }

    private record Behind(String prefix, @Nullable UniqueKey after) {}

    /**
     * Keys are sorted by text, so this scans a limited number and filters by workflow. The cursor continues the scan.
     */
    private HttpResponse ofWorkflow(HttpRequest request, String workflow, Behind from, int limit) {
        int workspace = request.principal().workspace();
        var entry = semel.workflow(workspace, workflow);
        if (entry == null) {
            throw TriggerRoutes.unknownWorkflow();
        }
        ObjectNode out = JsonViews.newObject();
        ArrayNode items = out.putArray("items");
        long now = now();
        UniqueKey after = from.after();
        boolean more = true;
        for (int scanned = 0; more && scanned < MAX_SCANNED && items.size() < limit; scanned += PAGE_SIZE) {
            UniqueKey behind = after;
            List<StoredRows.KeyRow> page =
                    Objects.requireNonNull(
                            semel.view(reads -> reads.keys(workspace, from.prefix(), behind, PAGE_SIZE)));
            more = page.size() == PAGE_SIZE;
            for (StoredRows.KeyRow held : page) {
                after = held.key();
                if (held.keyRecord().workflowId().equals(entry.published().workflowId())) {
                    items.add(views.keyJson(held, now));
                }
                if (items.size() == limit) {
                    more = true;
                    break;
                }
            }
        }
        out.put("next", more && after != null ? encode(after) : null);
        return JsonViews.ok(out);
    }

    HttpResponse get(HttpRequest request) {
        List<StoredRows.KeyRow> found = find(request);
        long now = now();
        ObjectNode out = views.keyJson(found.getFirst(), now);
        ArrayNode others = out.putArray("others");
        found.stream().skip(1).forEach(held -> others.add(views.keyJson(held, now)));
        history.addHistory(out, found.getFirst(), now);
        return JsonViews.ok(out);
    }

    /**
     * Releases a key, so that its next request starts a new run. With a `run_id` or an `Idempotency-Key` a repeat is
     * safe: it does not release the key from a newer run.
     */
    HttpResponse release(HttpRequest request) {
        ContentTypeCheck.requireJson(request);
        JsonNode body = StrictJson.parse(request.body());
        String reason = reason(body.path("reason"));
        String runId = body.path("run_id").isString() ? body.path("run_id").stringValue() : null;
        List<StoredRows.KeyRow> found = find(request);
        long now = now();
        List<StoredRows.KeyRow> toRelease = found.stream()
                .filter(held -> runId == null || runId.equals(held.keyRecord().runIdText()))
                .filter(held -> isInUse(held, now))
                .toList();
        ObjectNode response = releaseJson(found.getFirst());
        history.addDuplicateRisks(response, toRelease, now);
        if ("true".equals(request.query("dry_run"))) {
            return JsonViews.ok(response.put("released", false).put("dry_run", true));
        }
        IdempotentActions.ActionRequest action = new IdempotentActions.ActionRequest(
                "key.release",
                request.parameter("key"),
                String.valueOf(request.query("workflow")),
                new String(CanonicalJson.bytes(body), StandardCharsets.UTF_8));
        IdempotentActions.ActionResult done = actions.runOnce(
                request,
                action,
                KeyRelease.of(
                        toRelease, new StoreCommand.ChangeAuthor(semel.newId(), request.principal().tokenId(), reason)),
                released -> response.put("released", Boolean.TRUE.equals(released)));
        if (done == null) {
            throw new IllegalStateException("a release always has a response");
        }
        return done.toResponse();
    }

    private static boolean isInUse(StoredRows.KeyRow held, long now) {
        KeyStatus standing = AdmissionRules.statusOf(held.keyRecord(), now);
        return standing == KeyStatus.LIVE || standing == KeyStatus.FAILED;
    }

    private static ObjectNode releaseJson(StoredRows.KeyRow newest) {
        String named = newest.keyRecord().runIdText();
        ObjectNode out = JsonViews.newObject();
        out.put("idempotency_key", JsonViews.keyText(newest));
        out.put("released", false);
        out.put("run_id", named);
        return out.put("could_double", "The next request with this key starts a new run beside " + named + ".");
    }

    /** Extends the window of a key that is in use. The window never gets shorter. */
    HttpResponse extend(HttpRequest request) {
        JsonBody input = JsonBody.parse(request, Set.of("until", "for", "reason"));
        String reason = reason(input.body().path("reason"));
        if (input.text("until").isEmpty() == input.text("for").isEmpty()) {
            throw RunActionRoutes.invalidRequest("send either until (a time) or for (a duration from now)");
        }
        List<StoredRows.KeyRow> found = find(request);
        long now = now();
        StoredRows.KeyRow held = found.getFirst();
        long until = input.text("until").isEmpty()
                ? now + KeySimulation.TimeParser.parseDuration(input.text("for"))
                : KeySimulation.TimeParser.parseTime(input.text("until"));
        if (until > now + LONGEST_WINDOW) {
            throw RunActionRoutes.invalidRequest("the window of a key can end at most 365 days from now");
        }
        StoreCommand.ChangeAuthor by = new StoreCommand.ChangeAuthor(semel.newId(), request.principal().tokenId(), reason);
        IdempotentActions.ActionRequest action = new IdempotentActions.ActionRequest(
                "key.extend",
                request.parameter("key"),
                String.valueOf(request.query("workflow")),
                new String(CanonicalJson.bytes(input.body()), StandardCharsets.UTF_8));
        IdempotentActions.ActionResult done = actions.runOnce(
                request,
                action,
                new StoreCommand.ExtendKey(held.key(), held.keyRecord().run(), until, by),
                extended -> Boolean.TRUE.equals(extended) ? extended(held, until) : null);
        if (done == null) {
            throw new SemelException(
                    ErrorCode.NOT_FOUND,
                    "The window of this key has ended, or the key was released, so it no longer belongs to its run. Its"
                            + " window was not changed.",
                    "The next request with this key starts a new run. The earlier run cannot get the key back.");
        }
        return done.toResponse();
    }

    private static ObjectNode extended(StoredRows.KeyRow held, long until) {
        ObjectNode out = JsonViews.newObject();
        out.put("idempotency_key", JsonViews.keyText(held));
        out.put("run_id", held.keyRecord().runIdText());
        return out.put("extended", true)
                .put("expires_at", JsonViews.formatTime(Math.max(until, held.keyRecord().expiresAt())));
    }

    private static String reason(JsonNode reason) {
        boolean fits = reason.isString()
                && !reason.stringValue().isBlank()
                && reason.stringValue().length() <= LONGEST_REASON
                && reason.stringValue().chars().noneMatch(c -> c == 0);
        if (!fits) {
            throw new SemelException(
                    ErrorCode.INVALID_INPUT,
                    "Changing a key needs a reason of 1 to " + LONGEST_REASON + " characters. Nothing was changed.",
                    "Send {\"reason\": \"why the key is changed\"}. The audit log stores it.");
        }
        return reason.stringValue();
    }

    private List<StoredRows.KeyRow> find(HttpRequest request) {
        String key = IdempotencyKey.of(request.parameter("key")).text();
        int workspace = request.principal().workspace();
        List<StoredRows.KeyRow> rows = semel.view(reads -> reads.keyRecords(workspace, key));
        List<StoredRows.KeyRow> found = new ArrayList<>(rows == null ? List.of() : rows);
        String workflow = request.query("workflow");
        if (workflow != null) {
            var entry = semel.workflow(workspace, workflow);
            found.removeIf(held -> entry == null
                    || !held.keyRecord().workflowId().equals(entry.published().workflowId()));
        }
        if (found.isEmpty()) {
            throw new SemelException(
                    ErrorCode.NOT_FOUND,
                    "This workspace has no record of this key: it was never used, or its retention ended. Nothing was"
                            + " changed.",
                    "A request with it starts a new run. List the keys with GET /v1/keys.");
        }
        return found;
    }

    private long now() {
        Long now = semel.view(reads -> reads.now());
        return now == null ? 0 : now;
    }

    private static String encode(UniqueKey name) {
        String text = name.kind().code() + " " + name.text();
        return Base64.getUrlEncoder().withoutPadding().encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }

    private static @Nullable UniqueKey decode(int workspace, String cursor) {
        try {
            String text = new String(Base64.getUrlDecoder().decode(cursor), StandardCharsets.UTF_8);
            int space = text.indexOf(' ');
            UniqueKey.KeyKind kind = UniqueKey.KeyKind.of(Integer.parseInt(text.substring(0, Math.max(0, space))));
            String name = text.substring(space + 1);
            if (name.indexOf(0) >= 0) {
                throw new IllegalArgumentException("NUL");
            }
            return new UniqueKey(workspace, kind, name);
        } catch (IllegalArgumentException e) {
            throw PagingParameters.invalidQuery("after is not a cursor from an earlier page");
        }
    }
}
