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
 * A trigger with the names that it wants under the version it drew.
 *
 * @param drawn the id that its run will have, where it was needed to draw
 * @param failed the name whose line it continues, whose run failed; the last wish says behind which run
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

    /** The same one as a run behind the newest of that line. */
    Case behind(Line.Newest newest, Known name) {
        List<Wish> all = new ArrayList<>(wishes);
        all.add(Line.wish(workspace(), newest));
        return new Case(trigger, fingerprint, all, drawn, name);
    }

    /** How many of its wishes say what it is called, and not only behind whom it comes. */
    int ownNames() {
        return wishes.size() - (failed == null ? 0 : 1);
    }

    /** What a run stands for that has the first of its names. */
    Held heldBy(Known known) {
        return trigger.names().key() == null ? new Held(null, known, null) : new Held(known, null, null);
    }

    /** Whether it brought a key, or a name that its door gave it: the first of its wishes. */
    boolean remembered() {
        return trigger.names().key() != null || trigger.names().door() != null;
    }

    /** Short enough for lists and logs. */
    @Nullable
    String shownKey() {
        IdempotencyKey key = trigger.names().key();
        Trigger.DoorName door = trigger.names().door();
        return key != null ? key.shortened() : door != null ? door.shown() : null;
    }

    String runIdText(RunId id) {
        var chosen = trigger.names().runId();
        return chosen == null ? id.text() : chosen.text();
    }

    /** The run that it asks for. */
    NewRun newRun(RunId id) {
        Trigger.Ties ties = trigger.ties();
        RunId lineage = failed == null ? ties.lineage() : failed.lineage();
        IdempotencyKey key = trigger.names().key();
        Trigger.DoorName door = trigger.names().door();
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
                        key != null ? key.text() : door != null ? door.shown() : null,
                        trigger.sender().correlationId()),
                trigger.input(),
                fingerprint.fields(),
                new NewRun.Links(lineage, ties.parent(), ties.replayOf(), ties.carried(), ties.depth()),
                Gatekeeper.gate(trigger));
    }
}
