package dev.semel.server.operations.workflow;

import dev.semel.definition.WorkflowCatalogEntry;
import dev.semel.definition.WorkflowVersion;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.idempotency.FingerprintField;
import dev.semel.idempotency.KeyPolicy;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.files.definition.WorkflowCallCycleCheck;
import dev.semel.server.files.definition.WorkflowDefinition;
import dev.semel.server.files.steps.DeclaredEffect;
import dev.semel.server.http.CpuWorkPool;
import dev.semel.server.http.Principal;
import dev.semel.server.http.ServerHttpRequest;
import dev.semel.server.http.ServerHttpResponse;
import dev.semel.server.operations.ActionRequest;
import dev.semel.server.operations.ActionResult;
import dev.semel.server.operations.AuditNote;
import dev.semel.server.operations.IdempotentInboundRequestExecutor;
import dev.semel.server.operations.InboundRequestContentTypeCheck;
import dev.semel.server.operations.PublishedYamlWorkflow;
import dev.semel.server.query.ApiErrors;
import dev.semel.server.query.RunJsonRenderer;
import dev.semel.server.query.StoreReader;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreQueries;
import dev.semel.store.StoreWriteCommand;
import dev.semel.store.WorkflowVersionRollout;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.time.Instant;
import java.time.temporal.ChronoUnit;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import java.util.function.IntSupplier;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Serves `/v1/workflows`: lists, returns, publishes, pauses and resumes workflows. */
public final class WorkflowRoutes {
    private static final int MAX_VERSIONS_SCANNED = 100;
    private static final int WORKFLOW_ID_FROM = "run_".length() + 10;

    private final SemelRuntime semel;
    private final IdempotentInboundRequestExecutor actions;
    private final WorkflowVersionRoutes rollouts;
    private final WorkflowPublishValidator publishChecks;
    private final ScheduleQuota quota;
    private final CpuWorkPool cpu;

    public WorkflowRoutes(
            SemelRuntime semel,
            IdempotentInboundRequestExecutor actions,
            WorkflowVersionRoutes rollouts,
            WorkflowPublishValidator publishChecks,
            CpuWorkPool cpu,
            IntSupplier maxSchedules) {
        this.semel = semel;
        this.actions = actions;
        this.rollouts = rollouts;
        this.publishChecks = publishChecks;
        this.cpu = cpu;
        this.quota = new ScheduleQuota(semel, maxSchedules);
    }

    public ServerHttpResponse list(ServerHttpRequest request) {
        return new WorkflowListRoutes(semel, rollouts).list(request);
    }

    public ServerHttpResponse get(ServerHttpRequest request) {
        WorkflowCatalogEntry entry =
                StoreReader.workflow(semel, request.principal().workspace(), request.parameter("id"));
        ObjectNode out = workflowJson(entry, entry.paused());
        out.put(
                "definition",
                PublishedYamlWorkflow.definitionOf(entry.published()).text());
        out.set("rollout", rollouts.rolloutJson(rollouts.workflow(request)));
        addEffects(out.putArray("effects"), PublishedYamlWorkflow.definitionOf(entry.published()));
        return RunJsonRenderer.ok(out)
                .with("ETag", WorkflowPublishPrecondition.of(entry).etag());
    }

    static void addEffects(ArrayNode out, WorkflowDefinition definition) {
        definition.steps().forEach(step -> {
            DeclaredEffect effect = step.action().declaredEffect();
            if (effect != null) {
                out.addObject()
                        .put("step", step.id())
                        .put("kind", step.kind())
                        .put("target", effect.target())
                        .put("does", effect.does())
                        .put("protection", effect.protection())
                        .put("key", effect.key())
                        .put(
                                "window_seconds",
                                effect.window() == null ? null : effect.window().toSeconds())
                        .put("on_change", effect.onChange())
                        .put("because", effect.reason())
                        .put("risk", effect.risk());
            }
        });
    }

    static ObjectNode workflowJson(@Nullable WorkflowCatalogEntry entry, boolean paused) {
        ObjectNode out = RunJsonRenderer.newObject();
        if (entry == null) {
            return out;
        }
        WorkflowDefinition definition = PublishedYamlWorkflow.definitionOf(entry.published());
        out.put("workflow_id", entry.published().workflowId());
        out.put("workflow", entry.published().name());
        out.put("version", entry.published().version());
        out.put("title", definition.title());
        out.put("owner", definition.owner());
        out.put("description", definition.description());
        out.put("paused", paused);
        WorkflowCatalogEntry.Candidate candidate = entry.candidate();
        if (candidate == null) {
            out.putNull("candidate");
        } else {
            out.putObject("candidate")
                    .put("version", candidate.published().version())
                    .put("percentage", candidate.rolloutPercentage());
        }
        policy(out.putObject("idempotency"), entry.published().policy());
        return out;
    }

    private static void policy(ObjectNode out, KeyPolicy policy) {
        out.put("window_seconds", policy.window().toSeconds());
        out.put("scope", word(policy.scope()));
        policy.fingerprint().stream().map(FingerprintField::name).forEach(out.putArray("fingerprint")::add);
        policy.fingerprintIgnore().forEach(out.putArray("fingerprint_ignore")::add);
        out.put("on_mismatch", word(policy.onMismatch()));
        out.put("duplicate_payload", word(policy.duplicatePayload()));
        out.put("on_failed", word(policy.onFailed()));
        out.put("hold_while_running", policy.holdWhileRunning());
        out.put("require_key", policy.requireKey());
    }

    private static String word(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }

    public ServerHttpResponse publish(ServerHttpRequest request) throws Exception {
        InboundRequestContentTypeCheck.requireDefinition(request);
        String text = text(request.body());
        String name = request.parameter("id");
        int percentage = percentage(request);
        WorkflowPublishPrecondition workflowPrecondition = WorkflowPublishPrecondition.parse(request);
        if (workflowPrecondition != null && percentage > 0) {
            throw ApiErrors.invalidQuery("If-Match cannot be combined with `percentage`");
        }
        Principal caller = request.principal();
        WorkflowDefinition definition =
                cpu.run(caller.tokenId(), () -> compileAndCheck(caller.workspace(), name, text, percentage > 0));
        if ("true".equals(request.query("dry_run"))) {
            return RunJsonRenderer.ok(withWarnings(
                    RunJsonRenderer.newObject().put("workflow", name).put("dry_run", true), definition));
        }
        ActionResult done = percentage == 0
                ? publishForAll(request, definition, workflowPrecondition)
                : publishFor(percentage, request, definition);
        if (done == null && workflowPrecondition != null) {
            throw workflowPrecondition.conflict(
                    rollouts.find(request.principal().workspace(), name), name);
        }
        if (done == null) {
            throw ApiErrors.notFound(
                    "Workflow " + name
                            + " does not exist yet, so a rollout percentage is not possible. Nothing was published.",
                    "Publish its first version without a percentage.");
        }
        return done.toResponse();
    }

    /**
     * Compiles a text and checks that it can be published under this name.
     *
     * @param staged whether it is published for a percentage of the triggers first
     * @throws SemelException `invalid-definition`, with the errors
     */
    WorkflowDefinition compileAndCheck(int workspace, String name, String text, boolean staged) {
        WorkflowDefinition read = WorkflowDefinition.compile(text);
        if (!read.name().equals(name)) {
            throw new SemelException(
                    ErrorCode.INVALID_DEFINITION,
                    "The file has workflow: " + read.name() + ", but the path has another name. Nothing was published.",
                    "Use the same name in both.");
        }
        rejectCycles(workspace, read);
        var unused = quota.checkQuota(workspace, read);
        return read.withWarnings(publishChecks.check(workspace, read, staged, rollouts.find(workspace, name) == null));
    }

    /** @param workflowPrecondition the version that the author expects; null: publish over any version */
    private @Nullable ActionResult publishForAll(
            ServerHttpRequest request,
            WorkflowDefinition definition,
            @Nullable WorkflowPublishPrecondition workflowPrecondition) {
        int workspace = request.principal().workspace();
        String actor = request.principal().tokenId();
        ActionRequest actionRequest = new ActionRequest("workflow.publish", definition.name(), definition.text());
        StoreWriteCommand.VersionsInForce footing =
                workflowPrecondition == null ? null : workflowPrecondition.toVersionsInForce();
        return ScheduleQuota.retryUntilCounted(
                () -> actions.runOnce(
                        request,
                        actionRequest,
                        audited(
                                request,
                                definition.name(),
                                "for all",
                                publishing(workspace, definition, actor, footing)),
                        row -> published(row, definition)),
                () -> footing != null && !footing.matches(inForce(workspace, definition.name())));
    }

    private @Nullable WorkflowVersionRollout inForce(int workspace, String name) {
        DatabaseRows.WorkflowRow now = rollouts.find(workspace, name);
        return now == null ? null : now.rollout();
    }

    private @Nullable ActionResult publishFor(
            int percentage, ServerHttpRequest request, WorkflowDefinition definition) {
        return actions.runOnce(
                request,
                new ActionRequest("workflow.publish", definition.name(), definition.text(), String.valueOf(percentage)),
                audited(
                        request,
                        definition.name(),
                        "for " + percentage + " per cent",
                        new StoreWriteCommand.StageCandidate(
                                request.principal().workspace(),
                                definition.name(),
                                definition.text(),
                                percentage,
                                request.principal().tokenId())),
                row -> published(row, definition));
    }

    /** Adds an audit entry only if the text changed. */
    private StoreWriteCommand<DatabaseRows.@Nullable WorkflowRow> audited(
            ServerHttpRequest request,
            String name,
            String share,
            StoreWriteCommand<? extends DatabaseRows.@Nullable WorkflowRow> edit) {
        @SuppressWarnings("unchecked") // a change with a non-null result is also one with a nullable result
        StoreWriteCommand<DatabaseRows.@Nullable WorkflowRow> wide =
                (StoreWriteCommand<DatabaseRows.@Nullable WorkflowRow>) edit;
        var entry = new AuditNote("workflow.publish", name, share);
        return actions.withAudit(request, entry, wide, row -> row != null && row.changed());
    }

    /** The rollout percentage of fresh triggers; 0 for all of them. */
    private static int percentage(ServerHttpRequest request) {
        String text = request.query("percentage");
        if (text == null) {
            return 0;
        }
        if (text.matches("[0-9]{1,3}")) {
            int percentage = Integer.parseInt(text);
            if (percentage >= 1 && percentage <= 100) {
                return percentage == 100 ? 0 : percentage;
            }
        }
        throw ApiErrors.invalidQuery("percentage must be a whole number from 1 to 100");
    }

    private @Nullable ObjectNode published(DatabaseRows.@Nullable WorkflowRow row, WorkflowDefinition definition) {
        if (row == null) {
            return null;
        }
        return withWarnings(WorkflowVersionRoutes.rolloutResult(row), definition);
    }

    /** Rejects a call cycle between workflows; other workflows count with their current version and candidate. */
    private void rejectCycles(int workspace, WorkflowDefinition definition) {
        WorkflowCallCycleCheck.rejectCycles(definition, name -> {
            WorkflowCatalogEntry other = semel.workflow(workspace, name);
            if (other == null) {
                return List.of();
            }
            List<String> calls = new ArrayList<>(callsOf(other.published()));
            if (other.candidate() != null) {
                calls.addAll(callsOf(other.candidate().published()));
            }
            return calls;
        });
    }

    private static List<String> callsOf(WorkflowVersion published) {
        return published.body() instanceof PublishedYamlWorkflow file
                ? file.definition().calledWorkflows()
                : List.of();
    }

    private ObjectNode withWarnings(ObjectNode out, WorkflowDefinition definition) {
        definition.warnings(now()).forEach(out.putArray("warnings")::add);
        return out;
    }

    Instant now() {
        return Instant.EPOCH.plus(StoreReader.now(semel), ChronoUnit.MICROS);
    }

    /** Publishes a file from the workflow folder, unless its text is already current or candidate. */
    public DatabaseRows.WorkflowRow publish(int workspace, WorkflowDefinition definition, String actor) {
        DatabaseRows.WorkflowRow workflowRow = semel.view(reads -> {
            DatabaseRows.WorkflowRow row = reads.workflow(workspace, definition.name());
            boolean there = row != null
                    && (is(reads.version(row.workflowId(), row.version()), definition)
                            || is(reads.version(row.workflowId(), row.rollout().candidate()), definition)
                            || is(lastOf(actor, reads, row), definition));
            return there ? row : null;
        });
        if (workflowRow != null) {
            return workflowRow;
        }
        rejectCycles(workspace, definition);
        publishChecks.check(workspace, definition, false, rollouts.find(workspace, definition.name()) == null);
        StoreWriteCommand.ChangeAuthor by = new StoreWriteCommand.ChangeAuthor(semel.newId(), actor, "for all");
        var note = new StoreWriteCommand.AuditEntry(workspace, "workflow.publish", definition.name(), by);
        return ScheduleQuota.retryUntilCounted(() -> semel.changeOrNull(new StoreWriteCommand.AuditedCommand<>(
                publishing(workspace, definition, actor, null), row -> row != null && row.changed(), note)));
    }

    /**
     * The last version of this actor, with its text. The same file is not published again after a rollback: the
     * rollback applies until the file changes.
     */
    private static DatabaseRows.@Nullable VersionRow lastOf(
            String actor, StoreQueries reads, DatabaseRows.WorkflowRow row) {
        return reads.versions(row.workflowId(), Integer.MAX_VALUE, MAX_VERSIONS_SCANNED).stream()
                .filter(version -> version.by().equals(actor))
                .findFirst()
                .map(version -> reads.version(version.workflowId(), version.version()))
                .orElse(null);
    }

    private static boolean is(DatabaseRows.@Nullable VersionRow version, WorkflowDefinition definition) {
        return version != null && version.body().equals(definition.text());
    }

    /** Only definitions with schedules are counted, so that the others do not block each other. */
    private StoreWriteCommand<DatabaseRows.@Nullable WorkflowRow> publishing(
            int workspace,
            WorkflowDefinition definition,
            String actor,
            StoreWriteCommand.@Nullable VersionsInForce versionsInForce) {
        long change = quota.checkQuota(workspace, definition);
        boolean counts = !definition.versionOptions().triggers().schedules().isEmpty();
        return new StoreWriteCommand.PublishIfUnchanged(
                plain(workspace, definition, actor), counts ? Long.valueOf(change) : null, versionsInForce);
    }

    private StoreWriteCommand.PublishVersion plain(int workspace, WorkflowDefinition definition, String actor) {
        // Short, because every run and an index store it: the last 12 digits contain its 64 random bits.
        String id = "wf_" + semel.newId().text().substring(WORKFLOW_ID_FROM);
        return new StoreWriteCommand.PublishVersion(workspace, definition.name(), id, definition.text(), actor);
    }

    private static String text(byte[] body) {
        try {
            String text = StandardCharsets.UTF_8
                    .newDecoder()
                    .decode(ByteBuffer.wrap(body))
                    .toString();
            if (text.indexOf(0) < 0) {
                return text;
            }
        } catch (CharacterCodingException e) {
            throw notText(e);
        }
        throw notText(new IllegalArgumentException("NUL"));
    }

    private static SemelException notText(Exception cause) {
        return new SemelException(
                ErrorCode.INVALID_DEFINITION,
                "The file is not UTF-8 text. Nothing was published.",
                "Save it as UTF-8 and publish it again.",
                cause);
    }

    public ServerHttpResponse pause(ServerHttpRequest request) {
        return pause(request, true);
    }

    public ServerHttpResponse resume(ServerHttpRequest request) {
        return pause(request, false);
    }

    private ServerHttpResponse pause(ServerHttpRequest request, boolean paused) {
        WorkflowCatalogEntry entry =
                StoreReader.workflow(semel, request.principal().workspace(), request.parameter("id"));
        String id = entry.published().workflowId();
        String action = paused ? "workflow.pause" : "workflow.resume";
        return ApiErrors.orThrow(
                        actions.runOnce(
                                request,
                                new ActionRequest(action, id),
                                actions.withAudit(
                                        request,
                                        new AuditNote(action, entry.published().name(), ""),
                                        new StoreWriteCommand.PauseWorkflow(
                                                request.principal().workspace(), id, paused),
                                        Objects::nonNull),
                                row -> row == null ? null : workflowJson(entry, row.paused())),
                        ApiErrors::unknownWorkflow)
                .toResponse();
    }
}
