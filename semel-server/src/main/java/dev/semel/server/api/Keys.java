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

/** What is remembered under a key, and letting it go. */
final class Keys {
    private static final int LONGEST_REASON = 500;
    private static final int LOOKED_AT = 20_000;
    private static final int AT_ONCE = 500;
    private static final long LONGEST_WINDOW = Duration.ofDays(365).toNanos() / 1_000;

    private final Semel semel;
    private final Views views;
    private final Deeds deeds;
    private final KeyFuture future;
    private final KeyTale tale;

    Keys(Semel semel, Views views, Deeds deeds, Spaces spaces) {
        this.semel = semel;
        this.views = views;
        this.deeds = deeds;
        this.future = new KeyFuture(semel, spaces);
        this.tale = new KeyTale(semel, future);
    }

    void addTo(Router router) {
        router.add("GET", "/v1/keys", Scope.READ, this::list)
                .add("GET", "/v1/keys/{key}", Scope.READ, this::get)
                .add(Api.changing("POST", "/v1/keys/{key}/simulate", Scope.READ, future::simulate))
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

    /** Keys stand in the order of their texts; one workflow's are picked out of so many, and the cursor says where. */
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
        for (int looked = 0; more && looked < LOOKED_AT && items.size() < limit; looked += AT_ONCE) {
            Name behind = after;
            List<Rows.Held> page =
                    Objects.requireNonNull(semel.view(reads -> reads.keys(workspace, from.prefix(), behind, AT_ONCE)));
            more = page.size() == AT_ONCE;
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
        tale.tell(out, found.getFirst(), now);
        return Views.ok(out);
    }

    /**
     * Lets a key go. With the `run_id` that it stood for, or with an `Idempotency-Key`, asking twice is safe: a second
     * release does not touch the run that the key may stand for by then.
     */
    Answer release(Request request) {
        MediaTypes.requireJson(request);
        JsonNode body = Json.parse(request.body());
        String reason = reason(body.path("reason"));
        String runId = body.path("run_id").isString() ? body.path("run_id").stringValue() : null;
        List<Rows.Held> found = find(request);
        long now = now();
        List<Rows.Held> meant = found.stream()
                .filter(held -> runId == null || runId.equals(held.known().runIdText()))
                .filter(held -> holds(held, now))
                .toList();
        ObjectNode doubles = could(found.getFirst());
        tale.doubles(doubles, meant, now);
        if ("true".equals(request.query("dry_run"))) {
            return Views.ok(doubles.put("released", false).put("dry_run", true));
        }
        Deeds.Deed deed = new Deeds.Deed(
                "key.release",
                request.parameter("key"),
                String.valueOf(request.query("workflow")),
                new String(CanonicalJson.bytes(body), StandardCharsets.UTF_8));
        Deeds.Done done = deeds.once(
                request,
                deed,
                Releasing.of(
                        meant, new Edit.By(semel.newId(), request.principal().tokenId(), reason)),
                released -> doubles.put("released", Boolean.TRUE.equals(released)));
        if (done == null) {
            throw new IllegalStateException("a release always answers");
        }
        return done.answer();
    }

    private static boolean holds(Rows.Held held, long now) {
        Standing standing = Admissions.standing(held.known(), now);
        return standing == Standing.LIVE || standing == Standing.FAILED;
    }

    private static ObjectNode could(Rows.Held newest) {
        String named = newest.known().runIdText();
        ObjectNode out = Views.object();
        out.put("idempotency_key", Views.keyText(newest));
        out.put("released", false);
        out.put("run_id", named);
        return out.put("could_double", "A request with this key now starts a new run beside " + named + ".");
    }

    /** A longer window for a key that still stands; it never gets shorter. */
    Answer extend(Request request) {
        Said said = Said.in(request, Set.of("until", "for", "reason"));
        String reason = reason(said.body().path("reason"));
        if (said.text("until").isEmpty() == said.text("for").isEmpty()) {
            throw RunActs.refused("either until (a time) or for (a length from now) says how long the key stands");
        }
        List<Rows.Held> found = find(request);
        long now = now();
        Rows.Held held = found.getFirst();
        long until = said.text("until").isEmpty()
                ? now + KeyFuture.Times.length(said.text("for"))
                : KeyFuture.Times.micros(said.text("until"));
        if (until > now + LONGEST_WINDOW) {
            throw RunActs.refused("a key stands for 365 days from now at most");
        }
        Edit.By by = new Edit.By(semel.newId(), request.principal().tokenId(), reason);
        Deeds.Deed deed = new Deeds.Deed(
                "key.extend",
                request.parameter("key"),
                String.valueOf(request.query("workflow")),
                new String(CanonicalJson.bytes(said.body()), StandardCharsets.UTF_8));
        Deeds.Done done = deeds.once(
                request,
                deed,
                new Edit.Extend(held.name(), held.known().run(), until, by),
                extended -> Boolean.TRUE.equals(extended) ? extended(held, until) : null);
        if (done == null) {
            throw new SemelException(
                    ErrorCode.NOT_FOUND,
                    "This key does not stand for its run any more: it is over or was released. Its window was not"
                            + " changed.",
                    "A request with it starts a new run; nothing can bring the old one back under this key.");
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
                    "A change of a key needs a reason of 1 to " + LONGEST_REASON + " characters. Nothing was changed.",
                    "Send {\"reason\": \"why the key is changed\"}; it stands in the audit.");
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
                    "This key is not on record in this workspace: never used, or gone after its time as a tombstone.",
                    "A request with it would start a new run. Keys are listed at GET /v1/keys.");
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
            throw Paging.refused("after is not a cursor that a list gave");
        }
    }
}
