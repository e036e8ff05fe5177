package dev.semel.engine;

import dev.semel.key.Admissions.Held;
import dev.semel.key.Fingerprint;
import dev.semel.key.IdempotencyKey;
import dev.semel.key.Known;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.NewRun;
import dev.semel.store.Wish;
import dev.semel.trigger.Trigger;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * A trigger with the keys that it claims under its assigned workflow version.
 *
 * @param drawn the id of its run, if the rollout assignment needed one
 * @param failed the key record of the failed run whose lineage it continues; the last claim then names the run it
 * follows
 */
record Case(
        Trigger trigger,
        Fingerprint fingerprint,
        List<Wish> wishes,
        @Nullable RunId drawn,
        @Nullable Known failed) {
    Case(Trigger trigger, Fingerprint fingerprint, List<Wish> wishes, @Nullable RunId drawn) {
        this(trigger, fingerprint, wishes, drawn, null);
    }

    int workspace() {
        return trigger.space().workspace();
    }

    /** The same request as a follow-up of the newest run of a lineage. */
    Case behind(Line.Newest newest, Known name) {
        List<Wish> all = new ArrayList<>(wishes);
        all.add(Line.wish(workspace(), newest));
        return new Case(trigger, fingerprint, all, drawn, name);
    }

    /** Number of claims that identify the trigger itself, without the claim to follow a run. */
    int ownNames() {
        return wishes.size() - (failed == null ? 0 : 1);
    }

    /** The keys in use if the first key of this request belongs to that record. */
    Held heldBy(Known known) {
        return trigger.names().key() == null ? new Held(null, known, null) : new Held(known, null, null);
    }

    /** Whether it has an idempotency key, or a key that its trigger source assigned: the first claim. */
    boolean remembered() {
        return trigger.names().key() != null || trigger.names().door() != null;
    }

    /** The key, shortened for lists and logs. */
    @Nullable
    String shownKey() {
        IdempotencyKey key = trigger.names().key();
        Trigger.DoorName source = trigger.names().door();
        return key != null ? key.shortened() : source != null ? source.shown() : null;
    }

    String runIdText(RunId id) {
        var chosen = trigger.names().runId();
        return chosen == null ? id.text() : chosen.text();
    }

    /** Builds the run to insert. */
    NewRun newRun(RunId id) {
        Trigger.Ties links = trigger.ties();
        RunId lineage = failed == null ? links.lineage() : failed.lineage();
        IdempotencyKey key = trigger.names().key();
        Trigger.DoorName source = trigger.names().door();
        return new NewRun(
                id,
                workspace(),
                trigger.names().runId() == null ? null : trigger.names().runId().text(),
                trigger.workflow().workflowId(),
                trigger.workflow().version(),
                trigger.paused() ? RunState.QUEUED : RunState.STARTED,
                new NewRun.Origin(
                        trigger.sender().door(),
                        trigger.sender().actor(),
                        key != null ? key.text() : source != null ? source.shown() : null,
                        trigger.sender().correlationId()),
                trigger.input(),
                fingerprint.fields(),
                new NewRun.Links(lineage, links.parent(), links.replayOf(), links.carried(), links.depth()),
                Gatekeeper.gate(trigger));
    }
}
