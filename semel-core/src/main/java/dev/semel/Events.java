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

/** What the doors for events need of the engine. */
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
     * Hands an event over to be kept, beside the triggers that it makes. The answer comes when it is durable.
     *
     * @param beside the name of one of those triggers: both go to the disk in one commit
     */
    public Keeping keep(Write.Keep keep, String beside) {
        TxDesk.refuseInside("an event");
        int hash = beside.hashCode();
        int lane = Math.floorMod(hash ^ hash >>> 16, committer.lanes());
        CompletableFuture<Write.Kept> answer = committer.submitSoon(lane, keep);
        return () -> joined(answer);
    }

    /** An event on its way to the store. */
    @FunctionalInterface
    public interface Keeping {
        Write.Kept await();
    }

    private static Write.Kept joined(CompletableFuture<Write.Kept> answer) {
        try {
            return answer.join();
        } catch (CompletionException e) {
            throw e.getCause() instanceof StoreFailure failure
                    ? Unavailable.because(failure)
                    : e.getCause() instanceof SemelException refusal ? refusal : e;
        }
    }

    /** The workflows of a workspace that events may start. Those whose code is elsewhere are not known here. */
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
                    "workflow " + row.workflowId() + " gets no events here, because it cannot be read: "
                            + e.getMessage());
            return null;
        }
    }

    /** Holds an input against what a workflow in Java takes; of any other nothing is known here. Throws where it does not fit. */
    public void check(String workflow, JsonNode input) {
        Runnable fresh = semel.library().checks(workflow, input).fresh();
        if (fresh != null) {
            fresh.run();
        }
    }

    /** Looks whether anything was published since; {@link Semel#changes} is right afterwards. */
    public void look() {
        try {
            catalog.check();
        } catch (StoreFailure e) {
            throw Unavailable.because(e);
        }
    }
}
