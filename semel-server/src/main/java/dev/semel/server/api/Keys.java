package dev.semel.server.api;

import dev.semel.Releasing;
import dev.semel.Semel;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.Json;
import dev.semel.key.Admissions;
import dev.semel.key.Admissions.Standing;
import dev.semel.key.CanonicalJson;
import dev.semel.key.IdempotencyKey;
import dev.semel.server.http.Answer;
import dev.semel.server.http.Request;
import dev.semel.server.http.Router;
import dev.semel.server.http.Scope;
import dev.semel.store.Edit;
import dev.semel.store.Name;
import dev.semel.store.Rows;
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
final class Keys {
    private static final int LONGEST_REASON = 500;
    private static final int MAX_SCANNED = 20_000;
    private static final int PAGE_SIZE = 500;
    private static final long LONGEST_WINDOW = Duration.ofDays(365).toNanos() / 1_000;

    private final Semel semel;
    private final Views views;
    private final Deeds actions;
    private final KeyFuture simulation;
    private final KeyTale history;

    Keys(Semel semel, Views views, Deeds actions, Spaces spaces) {
        this.semel = semel;
        this.views = views;
        this.actions = actions;
        this.simulation = new KeyFuture(semel, spaces);
        this.history = new KeyTale(semel, simulation);
    }

    void addTo(Router router) {
        router.add("GET", "/v1/keys", Scope.READ, this::list)
                .add("GET", "/v1/keys/{key}", Scope.READ, this::get)
                .add(Api.changing("POST", "/v1/keys/{key}/simulate", Scope.READ, simulation::simulate))
                .add(Api.changing("POST", "/v1/keys/{key}/extend", Scope.OPERATE, this::extend))
                .add(Api.changing("POST", "/v1/keys/{key}/release", Scope.OPERATE, this::release));
    }

    Answer list(Request request) {
        Paging paging = Paging.of(request);
        String prefix = request.query("prefix") == null ? "" : request.query("prefix");
        Name after = paging.after() == null ? null : decode(request.principal().workspace(), paging.after());
        String workflow = request.query("workflow");
        if (workflow != null) {
            return ofWorkflow(request, workflow, new Behind(String.valueOf(prefix), after), paging.limit());
        }
        List<Rows.Held> rows = semel.view(
                reads -> reads.keys(request.principal().workspace(), String.valueOf(prefix), after, paging.limit()));
        long now = now();
        return Views.page(
                rows == null ? List.of() : rows,
                paging.limit(),
                held -> views.key(held, now),
                held -> encode(held.name()));
    }

    private record Behind(String prefix, @Nullable Name after) {}

    /**
     * Keys are sorted by text, so this scans a limited number and filters by workflow. The cursor continues the scan.
     */
    private Answer ofWorkflow(Request request, String workflow, Behind from, int limit) {
        int workspace = request.principal().workspace();
        var entry = semel.workflow(workspace, workflow);
        if (entry == null) {
            throw Triggers.unknownWorkflow();
        }
        ObjectNode out = Views.object();
        ArrayNode items = out.putArray("items");
        long now = now();
        Name after = from.after();
        boolean more = true;
        for (int scanned = 0; more && scanned < MAX_SCANNED && items.size() < limit; scanned += PAGE_SIZE) {
            Name behind = after;
            List<Rows.Held> page =
                    Objects.requireNonNull(
                            semel.view(reads -> reads.keys(workspace, from.prefix(), behind, PAGE_SIZE)));
            more = page.size() == PAGE_SIZE;
            for (Rows.Held held : page) {
                after = held.name();
                if (held.known().workflowId().equals(entry.published().workflowId())) {
                    items.add(views.key(held, now));
                }
                if (items.size() == limit) {
                    more = true;
                    break;
                }
            }
        }
        out.put("next", more && after != null ? encode(after) : null);
        return Views.ok(out);
    }

    Answer get(Request request) {
        List<Rows.Held> found = find(request);
        long now = now();
        ObjectNode out = views.key(found.getFirst(), now);
        ArrayNode others = out.putArray("others");
        found.stream().skip(1).forEach(held -> others.add(views.key(held, now)));
        history.tell(out, found.getFirst(), now);
        return Views.ok(out);
    }

    /**
     * Releases a key, so that its next request starts a new run. With a `run_id` or an `Idempotency-Key` a repeat is
     * safe: it does not release the key from a newer run.
     */
    Answer release(Request request) {
        MediaTypes.requireJson(request);
        JsonNode body = Json.parse(request.body());
        String reason = reason(body.path("reason"));
        String runId = body.path("run_id").isString() ? body.path("run_id").stringValue() : null;
        List<Rows.Held> found = find(request);
        long now = now();
        List<Rows.Held> toRelease = found.stream()
                .filter(held -> runId == null || runId.equals(held.known().runIdText()))
                .filter(held -> isInUse(held, now))
                .toList();
        ObjectNode response = releaseJson(found.getFirst());
        history.doubles(response, toRelease, now);
        if ("true".equals(request.query("dry_run"))) {
            return Views.ok(response.put("released", false).put("dry_run", true));
        }
        Deeds.Deed action = new Deeds.Deed(
                "key.release",
                request.parameter("key"),
                String.valueOf(request.query("workflow")),
                new String(CanonicalJson.bytes(body), StandardCharsets.UTF_8));
        Deeds.Done done = actions.once(
                request,
                action,
                Releasing.of(
                        toRelease, new Edit.By(semel.newId(), request.principal().tokenId(), reason)),
                released -> response.put("released", Boolean.TRUE.equals(released)));
        if (done == null) {
            throw new IllegalStateException("a release always has a response");
        }
        return done.answer();
    }

    private static boolean isInUse(Rows.Held held, long now) {
        Standing standing = Admissions.standing(held.known(), now);
        return standing == Standing.LIVE || standing == Standing.FAILED;
    }

    private static ObjectNode releaseJson(Rows.Held newest) {
        String named = newest.known().runIdText();
        ObjectNode out = Views.object();
        out.put("idempotency_key", Views.keyText(newest));
        out.put("released", false);
        out.put("run_id", named);
        return out.put("could_double", "The next request with this key starts a new run beside " + named + ".");
    }

    /** Extends the window of a key that is in use. The window never gets shorter. */
    Answer extend(Request request) {
        Said input = Said.in(request, Set.of("until", "for", "reason"));
        String reason = reason(input.body().path("reason"));
        if (input.text("until").isEmpty() == input.text("for").isEmpty()) {
            throw RunActs.refused("send either until (a time) or for (a duration from now)");
        }
        List<Rows.Held> found = find(request);
        long now = now();
        Rows.Held held = found.getFirst();
        long until = input.text("until").isEmpty()
                ? now + KeyFuture.Times.length(input.text("for"))
                : KeyFuture.Times.micros(input.text("until"));
        if (until > now + LONGEST_WINDOW) {
            throw RunActs.refused("the window of a key can end at most 365 days from now");
        }
        Edit.By by = new Edit.By(semel.newId(), request.principal().tokenId(), reason);
        Deeds.Deed action = new Deeds.Deed(
                "key.extend",
                request.parameter("key"),
                String.valueOf(request.query("workflow")),
                new String(CanonicalJson.bytes(input.body()), StandardCharsets.UTF_8));
        Deeds.Done done = actions.once(
                request,
                action,
                new Edit.Extend(held.name(), held.known().run(), until, by),
                extended -> Boolean.TRUE.equals(extended) ? extended(held, until) : null);
        if (done == null) {
            throw new SemelException(
                    ErrorCode.NOT_FOUND,
                    "The window of this key has ended, or the key was released, so it no longer belongs to its run. Its"
                            + " window was not changed.",
                    "The next request with this key starts a new run. The earlier run cannot get the key back.");
        }
        return done.answer();
    }

    private static ObjectNode extended(Rows.Held held, long until) {
        ObjectNode out = Views.object();
        out.put("idempotency_key", Views.keyText(held));
        out.put("run_id", held.known().runIdText());
        return out.put("extended", true)
                .put("expires_at", Views.time(Math.max(until, held.known().expiresAt())));
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

    private List<Rows.Held> find(Request request) {
        String key = IdempotencyKey.of(request.parameter("key")).text();
        int workspace = request.principal().workspace();
        List<Rows.Held> rows = semel.view(reads -> reads.key(workspace, key));
        List<Rows.Held> found = new ArrayList<>(rows == null ? List.of() : rows);
        String workflow = request.query("workflow");
        if (workflow != null) {
            var entry = semel.workflow(workspace, workflow);
            found.removeIf(held -> entry == null
                    || !held.known().workflowId().equals(entry.published().workflowId()));
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

    private static String encode(Name name) {
        String text = name.kind().code() + " " + name.text();
        return Base64.getUrlEncoder().withoutPadding().encodeToString(text.getBytes(StandardCharsets.UTF_8));
    }

    private static @Nullable Name decode(int workspace, String cursor) {
        try {
            String text = new String(Base64.getUrlDecoder().decode(cursor), StandardCharsets.UTF_8);
            int space = text.indexOf(' ');
            Name.Kind kind = Name.Kind.of(Integer.parseInt(text.substring(0, Math.max(0, space))));
            String name = text.substring(space + 1);
            if (name.indexOf(0) >= 0) {
                throw new IllegalArgumentException("NUL");
            }
            return new Name(workspace, kind, name);
        } catch (IllegalArgumentException e) {
            throw Paging.refused("after is not a cursor from an earlier page");
        }
    }
}
