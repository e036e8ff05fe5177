package dev.semel;

import dev.semel.engine.Catalog;
import dev.semel.engine.Committer;
import dev.semel.engine.TxDesk;
import dev.semel.error.SemelException;
import dev.semel.store.Rows;
import dev.semel.store.StoreFailure;
import dev.semel.store.Write;
import dev.semel.workflow.Current;
import java.lang.System.Logger;
import java.lang.System.Logger.Level;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletableFuture;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Stores inbound events and finds the workflows that subscribe to them; used by the event and webhook endpoints. */
public final class Events {
    private static final Logger LOG = System.getLogger(Events.class.getName());

    private final Semel semel;
    private final Catalog catalog;
    private final Committer committer;

    Events(Semel semel, Catalog catalog, Committer committer) {
        this.semel = semel;
        this.catalog = catalog;
        this.committer = committer;
    }

    /**
     * Submits an event for storage together with the triggers that it causes. The result arrives once it is durable.
     *
     * @param beside the key of one of those triggers: the event shares its commit lane, so both commit together
     */
    public Keeping keep(Write.Keep keep, String beside) {
        TxDesk.refuseInside("an event");
        int hash = beside.hashCode();
        int lane = Math.floorMod(hash ^ hash >>> 16, committer.lanes());
        CompletableFuture<Write.Kept> result = committer.submitSoon(lane, keep);
        return () -> await(result);
    }

    /** An event that was submitted to the store and may not be durable yet. */
    @FunctionalInterface
    public interface Keeping {
        Write.Kept await();
    }

    private static Write.Kept await(CompletableFuture<Write.Kept> result) {
        try {
            return result.join();
        } catch (CompletionException e) {
            throw e.getCause() instanceof StoreFailure failure
                    ? Unavailable.because(failure)
                    : e.getCause() instanceof SemelException refusal ? refusal : e;
        }
    }

    /** The workflows of a workspace that subscribe to events, except those whose code is not in this process. */
    public List<Current> subscribers(int workspace) {
        List<Current> all = new ArrayList<>();
        List<Rows.Workflow> rows = semel.view(reads -> reads.workflows(workspace));
        for (Rows.Workflow row : rows == null ? List.<Rows.Workflow>of() : rows) {
            Current current = current(row);
            if (current != null
                    && !current.published().extras().doors().events().isEmpty()) {
                all.add(current);
            }
        }
        return all;
    }

    private @Nullable Current current(Rows.Workflow row) {
        try {
            return semel.workflow(row.ws(), row.workflowId());
        } catch (Catalog.NotKnownHere e) {
            return null;
        } catch (RuntimeException e) {
            boolean later =
                    e instanceof SemelException refusal && refusal.code().retryable();
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
    public void check(String workflow, JsonNode input) {
        Runnable fresh = semel.library().checks(workflow, input).fresh();
        if (fresh != null) {
            fresh.run();
        }
    }

    /** Reloads the catalog if a workflow was published since the last check; {@link Semel#changes} is then current. */
    public void look() {
        try {
            catalog.check();
        } catch (StoreFailure e) {
            throw Unavailable.because(e);
        }
    }
}
