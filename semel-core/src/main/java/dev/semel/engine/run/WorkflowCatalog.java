package dev.semel.engine.run;

import dev.semel.definition.WorkflowCatalogEntry;
import dev.semel.definition.WorkflowVersion;
import dev.semel.engine.commit.StoreQueryThreadPool;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.idempotency.IdempotencyKeyScope;
import dev.semel.idempotency.KeyPolicy;
import dev.semel.policy.SameKeyDifferentPayloadPolicy;
import dev.semel.store.DatabaseRows;
import dev.semel.store.WorkflowVersionRollout;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.ConcurrentHashMap;
import java.util.concurrent.locks.ReentrantLock;
import org.jspecify.annotations.Nullable;

/**
 * Versions never change and stay cached; the current one is read again when the change counter of the store moves.
 * Changes by other workers arrive up to half a second late; the admission compares the counter and rejects stale
 * entries.
 */
public final class WorkflowCatalog {
    private static final int VERSIONS_LOOKED_BACK = 500;

    private final StoreQueryThreadPool readers;
    private final VersionCompiler compiler;
    private final ConcurrentHashMap<Place, Remembered> current = new ConcurrentHashMap<>();
    private final ConcurrentHashMap<VersionId, WorkflowVersion> versions = new ConcurrentHashMap<>();
    private final ReentrantLock checking = new ReentrantLock();
    private volatile long changeCounter = -1;

    @FunctionalInterface
    public interface VersionCompiler {
        WorkflowVersion compile(DatabaseRows.VersionRow version);
    }

    public static final class WorkflowNotRegistered extends RuntimeException {
        private final String workflow;
        private final String workflowId;

        public WorkflowNotRegistered(String workflow, String workflowId) {
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
    private record Remembered(WorkflowCatalogEntry current, long change) {}

    private record VersionId(String workflowId, int version) {}

    public WorkflowCatalog(StoreQueryThreadPool readers, VersionCompiler compiler) {
        this.readers = readers;
        this.compiler = compiler;
    }

    public @Nullable WorkflowCatalogEntry find(int workspace, String nameOrId) {
        Place place = new Place(workspace, nameOrId);
        // Read before the workflow: what is found during a publish is used only for this call.
        long seenChange = changeCounter;
        Remembered remembered = current.get(place);
        if (remembered != null && remembered.change() == seenChange) {
            return remembered.current();
        }
        DatabaseRows.WorkflowRow row = readers.readNullable(reads -> reads.workflow(workspace, nameOrId));
        if (row == null) {
            return null; // not cached: it may be published at any time
        }
        WorkflowCatalogEntry entry =
                new WorkflowCatalogEntry(withOthers(row, row.version()), row.paused(), candidate(row), seenChange);
        current.put(place, new Remembered(entry, seenChange));
        return entry;
    }

    private WorkflowCatalogEntry.@Nullable Candidate candidate(DatabaseRows.WorkflowRow row) {
        WorkflowVersionRollout rollout = row.rollout();
        return rollout.candidate() == 0
                ? null
                : new WorkflowCatalogEntry.Candidate(withOthers(row, rollout.candidate()), rollout.percentage());
    }

    /** Returns the current state of a workflow, read from the store. */
    public WorkflowCatalogEntry latest(int workspace, String workflowId) {
        refresh();
        WorkflowCatalogEntry found = find(workspace, workflowId);
        if (found == null) {
            throw new IllegalStateException(
                    "workflow " + workflowId + " is missing, although workflows are never deleted");
        }
        return found;
    }

    /** Returns a version by number. Versions never change and are cached. */
    public WorkflowVersion version(String workflowId, int version) {
        VersionId id = new VersionId(workflowId, version);
        WorkflowVersion workflowVersion = versions.get(id);
        if (workflowVersion == null) {
            DatabaseRows.VersionRow row = readers.readNullable(reads -> reads.version(workflowId, version));
            if (row == null) {
                throw new SemelException(
                        ErrorCode.NOT_FOUND,
                        "Version " + version + " of workflow " + workflowId
                                + " is not in the store. Its runs cannot continue.",
                        "Restore the store from a backup that contains this version.");
            }
            workflowVersion = compiler.compile(row);
            versions.put(id, workflowVersion);
        }
        return workflowVersion;
    }

    /** Drops the compiled versions of a workflow whose code was replaced in this process. */
    public void evict(String workflowId) {
        versions.keySet().removeIf(id -> id.workflowId().equals(workflowId));
        current.clear();
    }

    /** Older versions, and current or former candidates, that derive keys differently. */
    private WorkflowVersion withOthers(DatabaseRows.WorkflowRow row, int number) {
        WorkflowVersion published = version(row.workflowId(), number);
        List<WorkflowVersion> others = new ArrayList<>();
        Form form = Form.of(published.policy());
        int latest = row.rollout().latest();
        for (int v = latest; v > 0 && v > latest - VERSIONS_LOOKED_BACK; v--) {
            WorkflowVersion other = v == number ? published : version(published.workflowId(), v);
            Form otherForm = Form.of(other.policy());
            boolean isNew = !otherForm.equals(form)
                    && others.stream().noneMatch(e -> Form.of(e.policy()).equals(otherForm));
            if (v != number && (isNew || otherForm.distinct())) {
                others.add(other);
            }
        }
        return new WorkflowVersion(
                published.workflowId(),
                published.name(),
                published.version(),
                published.policy(),
                published.body(),
                others,
                published.options());
    }

    private record Form(IdempotencyKeyScope scope, boolean distinct) {
        static Form of(KeyPolicy policy) {
            return new Form(policy.scope(), policy.onMismatch() == SameKeyDifferentPayloadPolicy.DISTINCT);
        }
    }

    /** Drops cached current versions after a publish, pause or revocation. Runs twice a second and on changes. */
    public void refresh() {
        long now = readers.read(reads -> reads.catalogVersion());
        checking.lock();
        try {
            // Only forward: of two concurrent checks, the one with the older number may finish last.
            if (now > changeCounter) {
                current.clear();
                changeCounter = now;
            }
        } finally {
            checking.unlock();
        }
    }

    /** Increases whenever a workflow or a token changes. */
    public long changeCounter() {
        return changeCounter;
    }
}
