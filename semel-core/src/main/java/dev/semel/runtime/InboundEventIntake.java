package dev.semel.runtime;

import dev.semel.definition.WorkflowCatalogEntry;
import dev.semel.engine.commit.GroupCommitter;
import dev.semel.engine.commit.StoreErrorTranslator;
import dev.semel.engine.run.WorkflowCatalog;
import dev.semel.engine.step.TransactionStepExecutor;
import dev.semel.error.SemelException;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreFailure;
import dev.semel.store.StoreWrite;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Stores inbound events and finds the workflows that subscribe to them; used by the event and webhook endpoints. */
public final class InboundEventIntake {
    private static final Logger LOG = System.getLogger(InboundEventIntake.class.getName());

    private final SemelRuntime semel;
    private final WorkflowCatalog catalog;
    private final GroupCommitter committer;

    InboundEventIntake(SemelRuntime semel, WorkflowCatalog catalog, GroupCommitter committer) {
        this.semel = semel;
        this.catalog = catalog;
        this.committer = committer;
    }

    /** The result arrives once it is durable. {@code beside}: the key of a trigger in whose commit lane it commits. */
    public PendingEvent store(StoreWrite.SaveEvent saveEvent, String beside) {
        TransactionStepExecutor.rejectInside("send an event");
        int hash = beside.hashCode();
        int lane = Math.floorMod(hash ^ hash >>> 16, committer.lanes());
        CompletableFuture<StoreWrite.SaveEventResult> result = committer.submitWithDeadline(lane, saveEvent);
        return () -> await(result);
    }

    /** An event that was submitted to the store and may not be durable yet. */
    @FunctionalInterface
    public interface PendingEvent {
        StoreWrite.SaveEventResult await();
    }

    private static StoreWrite.SaveEventResult await(CompletableFuture<StoreWrite.SaveEventResult> result) {
        try {
            return result.join();
        } catch (CompletionException e) {
            throw e.getCause() instanceof StoreFailure failure
                    ? StoreErrorTranslator.toSemelException(failure)
                    : e.getCause() instanceof SemelException rejection ? rejection : e;
        }
    }

    /** The workflows of a workspace that subscribe to events, except those whose code is not in this process. */
    public List<WorkflowCatalogEntry> subscribers(int workspace) {
        List<WorkflowCatalogEntry> all = new ArrayList<>();
        List<DatabaseRows.WorkflowRow> rows = semel.view(reads -> reads.workflows(workspace));
        for (DatabaseRows.WorkflowRow row : rows == null ? List.<DatabaseRows.WorkflowRow>of() : rows) {
            WorkflowCatalogEntry current = current(row);
            if (current != null
                    && !current.published().options().triggers().events().isEmpty()) {
                all.add(current);
            }
        }
        return all;
    }

    private @Nullable WorkflowCatalogEntry current(DatabaseRows.WorkflowRow row) {
        try {
            return semel.workflow(row.ws(), row.workflowId());
        } catch (WorkflowCatalog.WorkflowNotRegistered e) {
            return null;
        } catch (RuntimeException e) {
            boolean later =
                    e instanceof SemelException rejection && rejection.code().retryable();
            if (later || e instanceof StoreFailure) {
                throw e;
            }
            LOG.log(
                    Level.ERROR,
                    "workflow " + row.workflowId() + " receives no events on this worker because its stored version"
                            + " cannot be loaded: " + e.getMessage());
            return null;
        }
    }

    /** Validates an input against the input type of a Java workflow; throws if invalid. Ignores other workflows. */
    public void checkInput(String workflow, JsonNode input) {
        SemelException rejection = semel.javaWorkflows().inputRejection(workflow, input);
        if (rejection != null) {
            throw rejection;
        }
    }

    /** Reloads the catalog if a workflow was published since the last check; {@link SemelRuntime#catalogVersion} is then current. */
    public void refreshCatalog() {
        try {
            catalog.refresh();
        } catch (StoreFailure e) {
            throw StoreErrorTranslator.toSemelException(e);
        }
    }
}
