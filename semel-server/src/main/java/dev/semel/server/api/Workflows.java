package dev.semel.server.api;

import dev.semel.Semel;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.key.FingerprintField;
import dev.semel.key.KeyPolicy;
import dev.semel.server.definition.Definition;
import dev.semel.server.definition.Loops;
import dev.semel.server.http.Answer;
import dev.semel.server.http.Request;
import dev.semel.server.steps.Declared;
import dev.semel.store.Edit;
import dev.semel.store.Reads;
import dev.semel.store.Rollout;
import dev.semel.store.Rows;
import dev.semel.workflow.Current;
import dev.semel.workflow.Published;
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
final class Workflows {
    private static final int MAX_VERSIONS_SCANNED = 100;
    private static final int WORKFLOW_ID_FROM = "run_".length() + 10;

    private final Semel semel;
    private final Triggers triggers;
    private final Deeds actions;
    private final Rollouts rollouts;
    private final Promises publishChecks;
    private final ScheduleQuota quota;

    Workflows(Semel semel, Deeds actions, Rollouts rollouts, Promises publishChecks) {
        this.semel = semel;
        this.triggers = rollouts.triggers();
        this.actions = actions;
        this.rollouts = rollouts;
        this.publishChecks = publishChecks;
        this.quota = new ScheduleQuota(semel, () -> triggers.bounds().schedules());
    }

    Answer list(Request request) {
        return new WorkflowList(semel, rollouts).of(request);
    }

    Answer get(Request request) {
        Current entry = triggers.workflow(request.principal(), request.parameter("id"));
        ObjectNode out = view(entry, entry.paused());
        out.put("definition", FileWorkflow.of(entry.published()).text());
        out.set("rollout", rollouts.shares(rollouts.workflow(request)));
        effects(out.putArray("effects"), FileWorkflow.of(entry.published()));
        return Views.ok(out).with("ETag", Seen.of(entry).tag());
    }

    /** Adds every effect with its protection against duplicates. */
    static void effects(ArrayNode out, Definition definition) {
        definition.steps().forEach(step -> {
            Declared effect = step.act().effect();
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
                        .put("because", effect.because())
                        .put("risk", effect.risk());
            }
        });
    }

    static ObjectNode view(@Nullable Current entry, boolean paused) {
        ObjectNode out = Views.object();
        if (entry == null) {
            return out;
        }
        Definition definition = FileWorkflow.of(entry.published());
        out.put("workflow_id", entry.published().workflowId());
        out.put("workflow", entry.published().name());
        out.put("version", entry.published().version());
        out.put("title", definition.title());
        out.put("owner", definition.owner());
        out.put("description", definition.description());
        out.put("paused", paused);
        Current.Candidate candidate = entry.candidate();
        if (candidate == null) {
            out.putNull("candidate");
        } else {
            out.putObject("candidate")
                    .put("version", candidate.published().version())
                    .put("share", candidate.share());
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

    Answer publish(Request request) {
        MediaTypes.requireDefinition(request);
        String text = text(request.body());
        String name = request.parameter("id");
        int share = share(request);
        Seen seen = Seen.in(request);
        if (seen != null && share > 0) {
            throw Paging.refused("If-Match cannot be combined with share");
        }
        Definition definition = checked(request.principal().workspace(), name, text, share > 0);
        if ("true".equals(request.query("dry_run"))) {
            return Views.ok(withWarnings(Views.object().put("workflow", name).put("dry_run", true), definition));
        }
        Deeds.Done done =
                share == 0 ? publishForAll(request, definition, seen) : publishFor(share, request, definition);
        if (done == null && seen != null) {
            throw seen.isPast(rollouts.find(request.principal().workspace(), name), name);
        }
        if (done == null) {
            throw new SemelException(
                    ErrorCode.NOT_FOUND,
                    "Workflow " + name + " does not exist yet, so a share is not possible. Nothing was published.",
                    "Publish its first version without a share.");
        }
        return done.answer();
    }

    /**
     * Compiles a text and checks that it can be published under this name.
     *
     * @param staged whether it is published for a percentage of the triggers first
     * @throws SemelException `invalid-definition`, with the errors
     */
    Definition checked(int workspace, String name, String text, boolean staged) {
        Definition read = Definition.compile(text);
        if (!read.name().equals(name)) {
            throw new SemelException(
                    ErrorCode.INVALID_DEFINITION,
                    "The file has workflow: " + read.name()
                            + ", but the path has another name. Nothing was published.",
                    "Use the same name in both.");
        }
        rejectCycles(workspace, read);
        var unused = quota.counted(workspace, read);
        return read.noting(publishChecks.check(workspace, read, staged));
    }

    /** @param seen the version that the author expects; null: publish over any version */
    private Deeds.@Nullable Done publishForAll(Request request, Definition definition, @Nullable Seen seen) {
        int workspace = request.principal().workspace();
        String actor = request.principal().tokenId();
        Deeds.Deed actionRequest = new Deeds.Deed("workflow.publish", definition.name(), definition.text());
        Edit.Footing footing = seen == null ? null : seen.footing();
        return ScheduleQuota.untilCounted(
                () -> actions.once(
                        request,
                        actionRequest,
                        audited(
                                request,
                                definition.name(),
                                "for all",
                                publishing(workspace, definition, actor, footing)),
                        row -> published(row, definition)),
                () -> footing != null && !footing.holds(inForce(workspace, definition.name())));
    }

    private @Nullable Rollout inForce(int workspace, String name) {
        Rows.Workflow now = rollouts.find(workspace, name);
        return now == null ? null : now.rollout();
    }

    private Deeds.@Nullable Done publishFor(int share, Request request, Definition definition) {
        return actions.once(
                request,
                new Deeds.Deed("workflow.publish", definition.name(), definition.text(), String.valueOf(share)),
                audited(
                        request,
                        definition.name(),
                        "for " + share + " per cent",
                        new Edit.Stage(
                                request.principal().workspace(),
                                definition.name(),
                                definition.text(),
                                share,
                                request.principal().tokenId())),
                row -> published(row, definition));
    }

    /** Adds an audit entry only if the text changed. */
    private Edit<Rows.@Nullable Workflow> audited(
            Request request, String name, String share, Edit<? extends Rows.@Nullable Workflow> edit) {
        @SuppressWarnings("unchecked") // a change with a non-null result is also one with a nullable result
        Edit<Rows.@Nullable Workflow> wide = (Edit<Rows.@Nullable Workflow>) edit;
        var entry = new Deeds.Entry("workflow.publish", name, share);
        return actions.noting(request, entry, wide, row -> row != null && row.changed());
    }

    /** The rollout percentage of fresh triggers; 0 for all of them. */
    private static int share(Request request) {
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
        throw Paging.refused("share must be a whole percentage from 1 to 100");
    }

    private static @Nullable ObjectNode published(Rows.@Nullable Workflow row, Definition definition) {
        if (row == null) {
            return null;
        }
        ObjectNode out = Views.object();
        out.put("workflow_id", row.workflowId());
        out.put("workflow", row.name());
        out.put("version", row.version());
        out.put("changed", row.changed());
        return withWarnings(Rollouts.candidate(out, row.rollout()), definition);
    }

    /** Rejects a call cycle between workflows; other workflows count with their current version and candidate. */
    private void rejectCycles(int workspace, Definition definition) {
        Loops.refuse(definition, name -> {
            Current other = semel.workflow(workspace, name);
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

    private static List<String> callsOf(Published published) {
        return published.body() instanceof FileWorkflow file ? file.definition().calls() : List.of();
    }

    private static ObjectNode withWarnings(ObjectNode out, Definition definition) {
        ArrayNode warnings = out.putArray("warnings");
        definition.warnings().forEach(warnings::add);
        return out;
    }

    /** Publishes a file from the workflow folder, unless its text is already current or candidate. */
    Rows.Workflow publish(int workspace, Definition definition, String actor) {
        Rows.Workflow known = semel.view(reads -> {
            Rows.Workflow row = reads.workflow(workspace, definition.name());
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
        Edit.By by = new Edit.By(semel.newId(), actor, "for all");
        var note = new Edit.Note(workspace, "workflow.publish", definition.name(), by);
        return ScheduleQuota.untilCounted(() -> semel.maybeChange(new Edit.Noted<>(
                publishing(workspace, definition, actor, null), row -> row != null && row.changed(), note)));
    }

    /**
     * The last version of this actor, with its text. The same file is not published again after a rollback: the
     * rollback applies until the file changes.
     */
    private static Rows.@Nullable Version lastOf(String actor, Reads reads, Rows.Workflow row) {
        return reads.versions(row.workflowId(), Integer.MAX_VALUE, MAX_VERSIONS_SCANNED).stream()
                .filter(version -> version.by().equals(actor))
                .findFirst()
                .map(version -> reads.version(version.workflowId(), version.version()))
                .orElse(null);
    }

    private static boolean is(Rows.@Nullable Version version, Definition definition) {
        return version != null && version.body().equals(definition.text());
    }

    /** Only definitions with schedules are counted, so that the others do not block each other. */
    private Edit<Rows.@Nullable Workflow> publishing(
            int workspace, Definition definition, String actor, Edit.@Nullable Footing seen) {
        long change = quota.counted(workspace, definition);
        boolean counts = !definition.extras().doors().schedules().isEmpty();
        return new Edit.PublishOver(plain(workspace, definition, actor), counts ? Long.valueOf(change) : null, seen);
    }

    private Edit.Publish plain(int workspace, Definition definition, String actor) {
        // Short, because every run and an index store it: the last 12 digits contain its 64 random bits.
        String id = "wf_" + semel.newId().text().substring(WORKFLOW_ID_FROM);
        return new Edit.Publish(workspace, definition.name(), id, definition.text(), actor);
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

    Answer pause(Request request) {
        return pause(request, true);
    }

    Answer resume(Request request) {
        return pause(request, false);
    }

    private Answer pause(Request request, boolean paused) {
        Current entry = triggers.workflow(request.principal(), request.parameter("id"));
        String id = entry.published().workflowId();
        String action = paused ? "workflow.pause" : "workflow.resume";
        Deeds.Done done = actions.once(
                request,
                new Deeds.Deed(action, id),
                actions.noting(
                        request,
                        new Deeds.Entry(action, entry.published().name(), ""),
                        new Edit.Pause(request.principal().workspace(), id, paused),
                        Objects::nonNull),
                row -> row == null ? null : view(entry, row.paused()));
        if (done == null) {
            throw Triggers.unknownWorkflow();
        }
        return done.answer();
    }
}
