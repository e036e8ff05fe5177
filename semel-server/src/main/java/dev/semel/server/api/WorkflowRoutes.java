package dev.semel.server.api;

import dev.semel.runtime.SemelRuntime;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.admission.FingerprintField;
import dev.semel.admission.KeyPolicy;
import dev.semel.server.definition.WorkflowDefinition;
import dev.semel.server.definition.WorkflowCallCycleCheck;
import dev.semel.server.http.HttpResponse;
import dev.semel.server.http.HttpRequest;
import dev.semel.server.steps.DeclaredEffect;
import dev.semel.store.StoreCommand;
import dev.semel.store.StoreQueries;
import dev.semel.store.Rollout;
import dev.semel.store.StoredRows;
import dev.semel.definition.CurrentWorkflow;
import dev.semel.definition.WorkflowVersion;
import java.nio.ByteBuffer;
import java.nio.charset.CharacterCodingException;
import java.nio.charset.StandardCharsets;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Objects;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.ObjectNode;

/** Serves `/v1/workflows`: lists, returns, publishes, pauses and resumes workflows. */
final class WorkflowRoutes {
    private static final int MAX_VERSIONS_SCANNED = 100;
    private static final int WORKFLOW_ID_FROM = "run_".length() + 10;

    private final SemelRuntime semel;
    private final TriggerRoutes triggers;
    private final IdempotentActions actions;
    private final WorkflowVersionRoutes rollouts;
    private final PublishChecks publishChecks;
    private final ScheduleQuota quota;

    WorkflowRoutes(SemelRuntime semel, IdempotentActions actions, WorkflowVersionRoutes rollouts, PublishChecks publishChecks) {
        this.semel = semel;
        this.triggers = rollouts.triggers();
        this.actions = actions;
        this.rollouts = rollouts;
        this.publishChecks = publishChecks;
        this.quota = new ScheduleQuota(semel, () -> triggers.limits().maxSchedules());
    }

    HttpResponse list(HttpRequest request) {
        return new WorkflowListView(semel, rollouts).list(request);
    }

    HttpResponse get(HttpRequest request) {
        CurrentWorkflow entry = triggers.findWorkflow(request.principal(), request.parameter("id"));
        ObjectNode out = workflowJson(entry, entry.paused());
        out.put("definition", FileWorkflow.definitionOf(entry.published()).text());
        out.set("rollout", rollouts.rolloutJson(rollouts.workflow(request)));
        addEffects(out.putArray("effects"), FileWorkflow.definitionOf(entry.published()));
        return JsonViews.ok(out).with("ETag", WorkflowPrecondition.of(entry).etag());
    }

    /** Adds every effect with its protection against duplicates. */
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

    static ObjectNode workflowJson(@Nullable CurrentWorkflow entry, boolean paused) {
        ObjectNode out = JsonViews.newObject();
        if (entry == null) {
            return out;
        }
        WorkflowDefinition definition = FileWorkflow.definitionOf(entry.published());
        out.put("workflow_id", entry.published().workflowId());
        out.put("workflow", entry.published().name());
        out.put("version", entry.published().version());
        out.put("title", definition.title());
        out.put("owner", definition.owner());
        out.put("description", definition.description());
        out.put("paused", paused);
        CurrentWorkflow.Candidate candidate = entry.candidate();
        if (candidate == null) {
            out.putNull("candidate");
        } else {
            out.putObject("candidate")
                    .put("version", candidate.published().version())
                    .put("share", candidate.rolloutPercentage());
        }
        policy(out.putObject("idempotency"), entry.published().policy());
        return out;
    }

    private static void policy(ObjectNode out, KeyPolicy policy) {
        out.put("window_seconds", policy.window().toSeconds());
        out.put("scope", word(policy.scope()));
        ArrayNode fields = out.putArray("fingerprint");
        policy.fingerprint().stream().map(FingerprintField::name).forEach(fields::add);
        ArrayNode ignored = out.putArray("fingerprint_ignore");
        policy.fingerprintIgnore().forEach(ignored::add);
        out.put("on_mismatch", word(policy.onMismatch()));
        out.put("duplicate_payload", word(policy.duplicatePayload()));
        out.put("on_failed", word(policy.onFailed()));
        out.put("hold_while_running", policy.holdWhileRunning());
        out.put("require_key", policy.requireKey());
    }

    private static String word(Enum<?> value) {
        return value.name().toLowerCase(Locale.ROOT);
    }

    HttpResponse publish(HttpRequest request) {
        ContentTypeCheck.requireDefinition(request);
        String text = text(request.body());
        String name = request.parameter("id");
        int share = share(request);
        WorkflowPrecondition seen = WorkflowPrecondition.parse(request);
        if (seen != null && share > 0) {
            throw PagingParameters.invalidQuery("If-Match cannot be combined with share");
        }
        WorkflowDefinition definition = compileAndCheck(request.principal().workspace(), name, text, share > 0);
        if ("true".equals(request.query("dry_run"))) {
            return JsonViews.ok(withWarnings(JsonViews.newObject().put("workflow", name).put("dry_run", true), definition));
        }
        IdempotentActions.ActionResult done =
                share == 0 ? publishForAll(request, definition, seen) : publishFor(share, request, definition);
        if (done == null && seen != null) {
            throw seen.conflict(rollouts.find(request.principal().workspace(), name), name);
        }
        if (done == null) {
            throw new SemelException(
                    ErrorCode.NOT_FOUND,
                    "Workflow " + name + " does not exist yet, so a share is not possible. Nothing was published.",
                    "Publish its first version without a share.");
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
                    "The file has workflow: " + read.name()
                            + ", but the path has another name. Nothing was published.",
                    "Use the same name in both.");
        }
        rejectCycles(workspace, read);
        var unused = quota.checkQuota(workspace, read);
        return read.withWarnings(publishChecks.check(workspace, read, staged));
    }

    /** @param seen the version that the author expects; null: publish over any version */
    private IdempotentActions.@Nullable ActionResult publishForAll(HttpRequest request, WorkflowDefinition definition, @Nullable WorkflowPrecondition seen) {
        int workspace = request.principal().workspace();
        String actor = request.principal().tokenId();
        IdempotentActions.ActionRequest actionRequest = new IdempotentActions.ActionRequest("workflow.publish", definition.name(), definition.text());
        StoreCommand.VersionsInForce footing = seen == null ? null : seen.toVersionsInForce();
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

    private @Nullable Rollout inForce(int workspace, String name) {
        StoredRows.WorkflowRow now = rollouts.find(workspace, name);
        return now == null ? null : now.rollout();
    }

    private IdempotentActions.@Nullable ActionResult publishFor(int share, HttpRequest request, WorkflowDefinition definition) {
        return actions.runOnce(
                request,
                new IdempotentActions.ActionRequest("workflow.publish", definition.name(), definition.text(), String.valueOf(share)),
                audited(
                        request,
                        definition.name(),
                        "for " + share + " per cent",
                        new StoreCommand.StageCandidate(
                                request.principal().workspace(),
                                definition.name(),
                                definition.text(),
                                share,
                                request.principal().tokenId())),
                row -> published(row, definition));
    }

    /** Adds an audit entry only if the text changed. */
    private StoreCommand<StoredRows.@Nullable WorkflowRow> audited(
            HttpRequest request, String name, String share, StoreCommand<? extends StoredRows.@Nullable WorkflowRow> edit) {
        @SuppressWarnings("unchecked") // a change with a non-null result is also one with a nullable result
        StoreCommand<StoredRows.@Nullable WorkflowRow> wide = (StoreCommand<StoredRows.@Nullable WorkflowRow>) edit;
        var entry = new IdempotentActions.AuditNote("workflow.publish", name, share);
        return actions.withAudit(request, entry, wide, row -> row != null && row.changed());
    }

    /** The rollout percentage of fresh triggers; 0 for all of them. */
    private static int share(HttpRequest request) {
        String text = request.query("share");
        if (text == null) {
            return 0;
        }
        if (text.matches("[0-9]{1,3}")) {
            int share = Integer.parseInt(text);
            if (share >= 1 && share <= 100) {
                return share == 100 ? 0 : share;
            }
        }
        throw PagingParameters.invalidQuery("share must be a whole percentage from 1 to 100");
    }

    private static @Nullable ObjectNode published(StoredRows.@Nullable WorkflowRow row, WorkflowDefinition definition) {
        if (row == null) {
            return null;
        }
        ObjectNode out = JsonViews.newObject();
        out.put("workflow_id", row.workflowId());
        out.put("workflow", row.name());
        out.put("version", row.version());
        out.put("changed", row.changed());
        return withWarnings(WorkflowVersionRoutes.addCandidate(out, row.rollout()), definition);
    }

    /** Rejects a call cycle between workflows; other workflows count with their current version and candidate. */
    private void rejectCycles(int workspace, WorkflowDefinition definition) {
        WorkflowCallCycleCheck.rejectCycles(definition, name -> {
            CurrentWorkflow other = semel.workflow(workspace, name);
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
        return published.body() instanceof FileWorkflow file ? file.definition().calledWorkflows() : List.of();
    }

    private static ObjectNode withWarnings(ObjectNode out, WorkflowDefinition definition) {
        ArrayNode warnings = out.putArray("warnings");
        definition.warnings().forEach(warnings::add);
        return out;
    }

    /** Publishes a file from the workflow folder, unless its text is already current or candidate. */
    StoredRows.WorkflowRow publish(int workspace, WorkflowDefinition definition, String actor) {
        StoredRows.WorkflowRow known = semel.view(reads -> {
            StoredRows.WorkflowRow row = reads.workflow(workspace, definition.name());
            boolean there = row != null
                    && (is(reads.version(row.workflowId(), row.version()), definition)
                            || is(reads.version(row.workflowId(), row.rollout().candidate()), definition)
                            || is(lastOf(actor, reads, row), definition));
            return there ? row : null;
        });
        if (known != null) {
            return known;
        }
        rejectCycles(workspace, definition);
        publishChecks.check(workspace, definition, false);
        StoreCommand.ChangeAuthor by = new StoreCommand.ChangeAuthor(semel.newId(), actor, "for all");
        var note = new StoreCommand.AuditEntry(workspace, "workflow.publish", definition.name(), by);
        return ScheduleQuota.retryUntilCounted(() -> semel.changeOrNull(new StoreCommand.AuditedCommand<>(
                publishing(workspace, definition, actor, null), row -> row != null && row.changed(), note)));
    }

    /**
     * The last version of this actor, with its text. The same file is not published again after a rollback: the
     * rollback applies until the file changes.
     */
    private static StoredRows.@Nullable VersionRow lastOf(String actor, StoreQueries reads, StoredRows.WorkflowRow row) {
        return reads.versions(row.workflowId(), Integer.MAX_VALUE, MAX_VERSIONS_SCANNED).stream()
                .filter(version -> version.by().equals(actor))
                .findFirst()
                .map(version -> reads.version(version.workflowId(), version.version()))
                .orElse(null);
    }

    private static boolean is(StoredRows.@Nullable VersionRow version, WorkflowDefinition definition) {
        return version != null && version.body().equals(definition.text());
    }

    /** Only definitions with schedules are counted, so that the others do not block each other. */
    private StoreCommand<StoredRows.@Nullable WorkflowRow> publishing(
            int workspace, WorkflowDefinition definition, String actor, StoreCommand.@Nullable VersionsInForce seen) {
        long change = quota.checkQuota(workspace, definition);
        boolean counts = !definition.versionOptions().triggers().schedules().isEmpty();
        return new StoreCommand.PublishIfUnchanged(plain(workspace, definition, actor), counts ? Long.valueOf(change) : null, seen);
    }

    private StoreCommand.PublishVersion plain(int workspace, WorkflowDefinition definition, String actor) {
        // Short, because every run and an index store it: the last 12 digits contain its 64 random bits.
        String id = "wf_" + semel.newId().text().substring(WORKFLOW_ID_FROM);
        return new StoreCommand.PublishVersion(workspace, definition.name(), id, definition.text(), actor);
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

    HttpResponse pause(HttpRequest request) {
        return pause(request, true);
    }

    HttpResponse resume(HttpRequest request) {
        return pause(request, false);
    }

    private HttpResponse pause(HttpRequest request, boolean paused) {
        CurrentWorkflow entry = triggers.findWorkflow(request.principal(), request.parameter("id"));
        String id = entry.published().workflowId();
        String action = paused ? "workflow.pause" : "workflow.resume";
        IdempotentActions.ActionResult done = actions.runOnce(
                request,
                new IdempotentActions.ActionRequest(action, id),
                actions.withAudit(
                        request,
                        new IdempotentActions.AuditNote(action, entry.published().name(), ""),
                        new StoreCommand.PauseWorkflow(request.principal().workspace(), id, paused),
                        Objects::nonNull),
                row -> row == null ? null : workflowJson(entry, row.paused()));
        if (done == null) {
            throw TriggerRoutes.unknownWorkflow();
        }
        return done.toResponse();
    }
}
