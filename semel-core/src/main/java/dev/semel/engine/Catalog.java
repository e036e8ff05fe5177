package dev.semel.engine;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.key.KeyPolicy;
import dev.semel.key.KeyPolicy.OnMismatch;
import dev.semel.store.Rollout;
import dev.semel.store.Rows;
import dev.semel.workflow.Current;
import dev.semel.workflow.Published;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Caches compiled workflows by name or id.
 * Versions never change and stay cached. The current version is read again whenever the change counter of the store
 * moves. Changes by other workers arrive up to half a second late; the admission transaction compares the counter and
 * rejects stale entries.
 */
public final class Catalog implements Intake.Versions {
    private static final int VERSIONS_LOOKED_BACK = 500;

    private final Readers readers;
    private final Compiler compiler;
    private final ConcurrentHashMap<Place, Remembered> current = new ConcurrentHashMap<>();
    private final ConcurrentHashMap<VersionId, Published> versions = new ConcurrentHashMap<>();
    private final ReentrantLock checking = new ReentrantLock();
    private volatile long change = -1;

    /** Compiles a stored workflow version into an executable one. */
    @FunctionalInterface
    public interface Compiler {
        Published compile(Rows.Version version);
    }

    /** Thrown for a workflow whose code is not registered in this process. */
    public static final class NotKnownHere extends RuntimeException {
        private final String workflow;
        private final String workflowId;

        public NotKnownHere(String workflow, String workflowId) {
            super("workflow " + workflow + " is not registered in this process", null, false, false);
            this.workflow = workflow;
            this.workflowId = workflowId;
        }

        public String workflow() {
            return workflow;
        }

        public String workflowId() {
            return workflowId;
        }
    }

    private record Place(int workspace, String nameOrId) {}

    /** A workflow as of a value of the change counter. */
    private record Remembered(Current current, long change) {}

    private record VersionId(String workflowId, int version) {}

    public Catalog(Readers readers, Compiler compiler) {
        this.readers = readers;
        this.compiler = compiler;
    }

    /** Returns null if the workspace has no such workflow. */
    public @Nullable Current find(int workspace, String nameOrId) {
        Place place = new Place(workspace, nameOrId);
        // Read before the workflow: what is found during a publish is used only for this call.
        long seenChange = change;
        Remembered known = current.get(place);
        if (known != null && known.change() == seenChange) {
            return known.current();
        }
        Rows.Workflow row = readers.maybe(reads -> reads.workflow(workspace, nameOrId));
        if (row == null) {
            return null; // not cached: it may be published at any time
        }
        Current entry = new Current(withOthers(row, row.version()), row.paused(), candidate(row), seenChange);
        current.put(place, new Remembered(entry, seenChange));
        return entry;
    }

    private Current.@Nullable Candidate candidate(Rows.Workflow row) {
        Rollout rollout = row.rollout();
        return rollout.candidate() == 0
                ? null
                : new Current.Candidate(withOthers(row, rollout.candidate()), rollout.share());
    }

    @Override
    public Current latest(int workspace, String workflowId) {
        check();
        Current found = find(workspace, workflowId);
        if (found == null) {
            throw new IllegalStateException(
                    "workflow " + workflowId + " is missing, although workflows are never deleted");
        }
        return found;
    }

    @Override
    public Published version(String workflowId, int version) {
        VersionId id = new VersionId(workflowId, version);
        Published known = versions.get(id);
        if (known == null) {
            Rows.Version row = readers.maybe(reads -> reads.version(workflowId, version));
            if (row == null) {
                throw new SemelException(
                        ErrorCode.NOT_FOUND,
                        "Version " + version + " of workflow " + workflowId
                                + " is not in the store. Its runs cannot continue.",
                        "Restore the store from a backup that contains this version.");
            }
            known = compiler.compile(row);
            versions.put(id, known);
        }
        return known;
    }

    /** Drops the compiled versions of a workflow whose code was replaced in this process. */
    public void forget(String workflowId) {
        versions.keySet().removeIf(id -> id.workflowId().equals(workflowId));
        current.clear();
    }

    /**
     * A version together with all others that derive keys differently: older ones, and current or former candidates.
     */
    private Published withOthers(Rows.Workflow row, int number) {
        Published published = version(row.workflowId(), number);
        List<Published> others = new ArrayList<>();
        Form form = Form.of(published.policy());
        int latest = row.rollout().latest();
        for (int v = latest; v > 0 && v > latest - VERSIONS_LOOKED_BACK; v--) {
            Published other = v == number ? published : version(published.workflowId(), v);
            Form otherForm = Form.of(other.policy());
            boolean isNew = !otherForm.equals(form)
                    && others.stream().noneMatch(e -> Form.of(e.policy()).equals(otherForm));
            if (v != number && (isNew || otherForm.distinct())) {
                others.add(other);
            }
        }
        return new Published(
                published.workflowId(),
                published.name(),
                published.version(),
                published.policy(),
                published.body(),
                others,
                published.extras());
    }

    private record Form(KeyPolicy.Scope scope, boolean distinct) {
        static Form of(KeyPolicy policy) {
            return new Form(policy.scope(), policy.onMismatch() == OnMismatch.DISTINCT);
        }
    }

    /**
     * Drops cached current versions if anything was published, paused or revoked. Runs twice a second and on changes.
     */
    public void check() {
        long now = readers.ask(reads -> reads.catalogChange());
        checking.lock();
        try {
            // Only forward: of two concurrent checks, the one with the older number may finish last.
            if (now > change) {
                current.clear();
                change = now;
            }
        } finally {
            checking.unlock();
        }
    }

    /** Increases whenever a workflow or a token changes. */
    public long change() {
        return change;
    }
}
