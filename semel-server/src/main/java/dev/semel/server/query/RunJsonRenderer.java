package dev.semel.server.query;

import dev.semel.admission.RunDeduplicationKey;
import dev.semel.admission.RunDeduplicationKeyClaim;
import dev.semel.admission.RunDeduplicationKeyRecord;
import dev.semel.admission.TriggerAdmissionRules;
import dev.semel.admission.TriggerSource;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJsonCodec;
import dev.semel.run.RunId;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.connectors.ingress.RunNotificationEvents;
import dev.semel.server.http.Principal;
import dev.semel.server.http.ServerHttpResponse;
import dev.semel.server.query.view.KeyView;
import dev.semel.server.query.view.Page;
import dev.semel.server.query.view.RequestView;
import dev.semel.server.query.view.RunRequestView;
import dev.semel.server.query.view.RunView;
import dev.semel.server.query.view.StoreTime;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreWrite;
import java.time.Instant;
import java.util.List;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Renders runs, requests and key records as the JSON of the API (CONTRACT section 5). */
public final class RunJsonRenderer {
    public static final int REQUESTS_SHOWN = 20;

    /** The number of counter bits below the microseconds of an id. */
    private static final int TIME_SHIFT = 12;

    /** 2024: Semel created no id before that. */
    private static final long EARLIEST = 1_704_067_200_000_000L;

    private final SemelRuntime semel;
    private final RunPiiMaskFactory masks;

    public RunJsonRenderer(SemelRuntime semel) {
        this.semel = semel;
        this.masks = new RunPiiMaskFactory(semel);
    }

    public PiiMask maskOf(DatabaseRows.RunRow run) {
        return masks.of(run);
    }

    public static ObjectNode newObject() {
        return JsonNodeFactory.instance.objectNode();
    }

    public static ServerHttpResponse ok(JsonNode body) {
        return ServerHttpResponse.json(200, StrictJsonCodec.bytes(body));
    }

    /** With the headers of a replayed response if it is one. */
    public static ServerHttpResponse ok(JsonNode body, boolean replayed) {
        ServerHttpResponse plain = ok(body);
        return replayed ? plain.with("X-Idempotent-Replayed", "true").with("Idempotent-Replayed", "true") : plain;
    }

    public static @Nullable String formatTime(long micros) {
        return micros == 0 || micros == RunDeduplicationKeyClaim.FOREVER
                ? null
                : Instant.ofEpochSecond(micros / 1_000_000, micros % 1_000_000 * 1_000)
                        .toString();
    }

    /** A page of a list; the cursor comes from the last row if there may be more. */
    public static <T> ServerHttpResponse pageResponse(
            List<T> rows, int limit, Function<T, JsonNode> view, Function<T, String> cursor) {
        boolean last = rows.size() < limit || rows.isEmpty();
        return ok(pageJson(rows, view, last ? null : cursor.apply(rows.getLast())));
    }

    /** @param next the cursor of the next page; null at the end */
    public static <T> ObjectNode pageJson(List<T> rows, Function<T, JsonNode> view, @Nullable String next) {
        ObjectNode out = newObject();
        rows.stream().map(view).forEach(out.putArray("items")::add);
        return out.put("next", next);
    }

    public RunView view(DatabaseRows.RunRow run, PiiMask mask, @Nullable Optional<String> supersededBy) {
        UnmaskedPiiValue input = UnmaskedPiiValue.input(run);
        UnmaskedPiiValue output = UnmaskedPiiValue.output(run);
        Instant resendUntil = resendUntil(run);
        DatabaseRows.RunEnd end = run.end();
        return new RunView(
                run.runIdText(),
                run.workflowId(),
                workflowName(run),
                run.version(),
                run.state(),
                RunWaitReasonJsonRenderer.describe(run, mask),
                run.origin().key(),
                run.origin().correlationId(),
                trigger(run),
                input.maskWith(mask),
                input.isOmitted() ? true : null,
                output.maskWith(mask),
                output.isOmitted() ? true : null,
                errorView(run, mask, resendUntil),
                resendUntil,
                StoreTime.instant(run.createdAt()),
                run.startedAt() == null ? null : StoreTime.instantOrNull(run.startedAt()),
                end == null ? null : StoreTime.instantOrNull(end.endedAt()),
                run.lineage().text(),
                shown(run.ws(), run.previous()),
                shown(run.ws(), run.duplicateOf()),
                shown(run.ws(), run.replayOf()),
                shown(run.ws(), run.parent()),
                run.counts().replays(),
                run.counts().conflicts(),
                mask.paths().isEmpty() ? null : mask.fieldNames(),
                requests(run),
                supersededBy);
    }

    private static RunView.RunTriggerView trigger(DatabaseRows.RunRow run) {
        TriggerSource source = run.origin().triggerSource();
        return new RunView.RunTriggerView(
                source,
                run.origin().actor(),
                source == TriggerSource.EVENT
                        ? RunNotificationEvents.runIdOf(run.origin().actor())
                        : null,
                run.depth() > 0 ? run.depth() : null);
    }

    /** Null unless the run has an effect with an unknown outcome that is safe to send again with the same key. */
    private @Nullable Instant resendUntil(DatabaseRows.RunRow run) {
        boolean open = run.state() == dev.semel.run.RunState.WAITING
                || run.state() == dev.semel.run.RunState.CANCELLED
                || run.hasUnknownOutcome();
        if (!open) {
            return null;
        }
        long until = StoreReader.read(semel, reads -> reads.resendUntil(run.id()));
        return StoreTime.instantOrNull(until);
    }

    /** Null if the run did not fail. */
    private static RunView.@Nullable RunErrorView errorView(
            DatabaseRows.RunRow run, PiiMask mask, @Nullable Instant resendUntil) {
        DatabaseRows.RunEnd end = run.end();
        if (end == null || end.result().errorCode() == null) {
            return null;
        }
        String step = end.result().errorStep();
        return new RunView.RunErrorView(
                end.result().errorCode(),
                UnmaskedPiiValue.message(end.result()).maskTextOrNull(mask),
                step == null ? null : mask.maskText(step), // the path of a step in a loop contains its item
                run.hasUnknownOutcome() ? Optional.ofNullable(resendUntil) : null);
    }

    /** The error as part of another response; null if the run did not fail. */
    public static @Nullable ObjectNode errorJson(DatabaseRows.RunRow run, PiiMask mask) {
        RunView.RunErrorView error = errorView(run, mask, null);
        return error == null
                ? null
                : newObject()
                        .put("code", error.code())
                        .put("message", error.message())
                        .put("step", error.step());
    }

    /** The public id of another run. */
    private @Nullable String shown(int workspace, @Nullable RunId id) {
        if (id == null) {
            return null;
        }
        DatabaseRows.RunRow run = semel.view(reads -> reads.run(workspace, id));
        return run == null ? id.text() : run.runIdText();
    }

    private String workflowName(DatabaseRows.RunRow run) {
        return semel.version(run.workflowId(), run.version()).name();
    }

    public RunView view(DatabaseRows.RunRow run) {
        return view(run, masks.of(run), null);
    }

    /** The view of a single run, with its newest safe replay. */
    public RunView detailedView(DatabaseRows.RunRow run) {
        return view(
                run,
                masks.of(run),
                Optional.ofNullable(SupersedingReplayRunFinder.findNewest(semel, run.ws(), run.id())));
    }

    /** A page of runs, newest first, with PII masked. */
    public Page<RunView> runPage(List<DatabaseRows.RunRow> page, int limit) {
        Map<RunId, PiiMask> known = masks.of(page);
        return Page.of(
                page,
                limit,
                run -> view(run, Objects.requireNonNull(known.get(run.id())), null),
                run -> PagingParameters.cursor(run.id()));
    }

    /** A page of the requests of one run, newest last; the request that started the run is the first. */
    public RunRequestView.RunRequestList requestPage(DatabaseRows.RunRow run, PagingParameters paging) {
        List<StoreWrite.DuplicateRequest> page =
                StoreReader.read(semel, reads -> reads.requestsOf(run.id(), paging.afterId(), paging.limit()));
        boolean more = page.size() == paging.limit();
        return new RunRequestView.RunRequestList(
                requests(run, page, !more),
                run.counts().replays(),
                run.counts().conflicts(),
                more ? PagingParameters.cursor(page.getFirst().id()) : null);
    }

    private List<RunRequestView> requests(DatabaseRows.RunRow run) {
        boolean met = run.counts().replays() + run.counts().conflicts() > 0;
        List<StoreWrite.DuplicateRequest> rows =
                met ? StoreReader.read(semel, reads -> reads.requestsOf(run.id(), null, REQUESTS_SHOWN)) : List.of();
        return requests(run, rows, rows.size() < REQUESTS_SHOWN);
    }

    private static List<RunRequestView> requests(
            DatabaseRows.RunRow run, List<StoreWrite.DuplicateRequest> rows, boolean withFirst) {
        return Stream.concat(
                        withFirst ? Stream.of(RunRequestView.started(run)) : Stream.empty(),
                        rows.stream().map(RunRequestView::of))
                .toList();
    }

    /** A request with its run and the key of that run. */
    public RequestView request(int workspace, StoreWrite.DuplicateRequest row) {
        DatabaseRows.RunRow run = semel.view(reads -> reads.run(workspace, row.run()));
        String key = row.rejectedKey() != null
                ? row.rejectedKey()
                : run == null ? null : run.origin().key();
        return RequestView.of(row, run == null ? row.run().text() : run.runIdText(), key);
    }

    public KeyView keyView(DatabaseRows.KeyRow held, long now) {
        RunDeduplicationKeyRecord keyRecord = held.keyRecord();
        return new KeyView(
                keyText(held),
                held.actor(),
                semel.version(keyRecord.workflowId(), keyRecord.version()).name(),
                java.util.HexFormat.of().formatHex(keyRecord.digest()),
                switch (TriggerAdmissionRules.statusOf(keyRecord, now)) {
                    case LIVE, FAILED -> KeyView.Status.ACTIVE;
                    case EXPIRED -> KeyView.Status.EXPIRED;
                    case RELEASED -> KeyView.Status.RELEASED;
                },
                keyRecord.runIdText(),
                StoreTime.instant(keyRecord.firstAt()),
                StoreTime.instantOrNull(keyRecord.expiresAt()),
                StoreTime.instant(Math.max(keyRecord.firstAt(), held.counts().lastSeenAt())),
                held.correlationId(),
                held.errorCode() == null ? null : held.errorCode() + " in step " + held.errorStep(),
                held.key().kind() == RunDeduplicationKey.KeyKind.WORKFLOW_KEY
                        ? KeyView.Scope.WORKFLOW
                        : KeyView.Scope.WORKSPACE,
                keyRecord.workflowId(),
                keyRecord.runIdText(),
                keyRecord.state(),
                held.counts().replays(),
                held.counts().conflicts());
    }

    public static String keyText(DatabaseRows.KeyRow held) {
        String text = held.key().text();
        int newline = text.indexOf('\n');
        return newline < 0 ? text : text.substring(0, newline);
    }

    /** Finds a run by its generated or chosen id. */
    public DatabaseRows.RunRow findRun(Principal who, String runId) {
        return ApiErrors.orThrow(findRunOrNull(who.workspace(), runId), () -> gone(RunId.parse(runId)));
    }

    private DatabaseRows.@Nullable RunRow findRunOrNull(int workspace, String runId) {
        RunId id = RunId.parse(runId);
        DatabaseRows.RunRow run = id == null ? null : semel.view(reads -> reads.run(workspace, id));
        if (run != null) {
            return run;
        }
        RunDeduplicationKey name = new RunDeduplicationKey(workspace, RunDeduplicationKey.KeyKind.RUN, runId);
        return semel.view(reads -> {
            RunDeduplicationKeyRecord keyRecord =
                    reads.findKeys(List.of(name)).keyRecords().getFirst();
            return keyRecord == null ? null : reads.run(workspace, keyRecord.run());
        });
    }

    /** The mask for data that a run published. If the run is deleted, its PII is unknown and everything is masked. */
    public PiiMask maskOfRun(int workspace, String runId) {
        DatabaseRows.RunRow run = findRunOrNull(workspace, runId);
        return run == null ? PiiMask.ALL : masks.of(run);
    }

    /** A generated id contains its creation time, which separates a run deleted by retention from a typo. */
    private SemelException gone(@Nullable RunId id) {
        long began = id == null ? 0 : id.high() >>> TIME_SHIFT;
        if (began < EARLIEST || began > StoreReader.now(semel)) {
            return ApiErrors.notFound(
                    "No run with this id exists in this workspace. Nothing was changed.",
                    "Check the id. GET /v1/runs lists the runs.");
        }
        return ApiErrors.notFound(
                        "This run is not in this workspace: retention deleted it, or the workspace is wrong.",
                        "Check the id and the workspace. The retention settings define how long runs are kept.")
                .with("began_at", String.valueOf(formatTime(began)));
    }
}
