package dev.semel.server.query;

import dev.semel.effect.EffectLedger;
import dev.semel.journal.JournalEntry;
import dev.semel.server.query.view.StoreTime;
import dev.semel.server.query.view.TimelineView;
import java.util.ArrayList;
import java.util.Comparator;
import java.util.List;
import org.jspecify.annotations.Nullable;

/**
 * The attempts of one step, oldest first: those whose end the journal records, and those that a crash cut off, of which
 * the ledger has the recorded intent. An outcome without a send, such as a reused result, is no attempt.
 */
final class TimelineAttempts {
    private static final String LOST = "lost";

    private final List<JournalEntry> entries;
    private final EffectLedger.@Nullable EffectRow row;
    private final List<EffectLedger.EffectRow> past;
    private final List<TimelineAttempt> attempts = new ArrayList<>();

    /** Recorded attempts since the step was opened again; later entries count from there. */
    private int counted;

    private long begun;
    private boolean unended;

    /** @param past earlier sends of the step by this run */
    TimelineAttempts(
            List<JournalEntry> entries, EffectLedger.@Nullable EffectRow row, List<EffectLedger.EffectRow> past) {
        this.entries = entries;
        this.row = row;
        this.past = past;
    }

    /**
     * @param start 0 if it is not recorded
     * @param end 0 if it has not ended, or if nothing recorded its end
     */
    private record TimelineAttempt(long start, long end, String outcome, JournalEntry.@Nullable ErrorDetails error) {
        long place() {
            return end == 0 ? start : end;
        }
    }

    List<TimelineView.AttemptView> toViews(PiiMask mask) {
        entries.forEach(this::addRecorded);
        addUnended("running");
        boolean recorded = !attempts.isEmpty();
        for (EffectLedger.EffectRow one : past) {
            if (one.state() == EffectLedger.EffectState.RESERVED) {
                attempts.add(new TimelineAttempt(one.lastSend().at(), 0, LOST, null));
            }
        }
        addCurrent(recorded);
        attempts.sort(Comparator.comparingLong(TimelineAttempt::place));
        List<TimelineView.AttemptView> out = new ArrayList<>();
        for (TimelineAttempt one : attempts) {
            out.add(new TimelineView.AttemptView(
                    out.size() + 1,
                    StoreTime.instantOrNull(one.start()),
                    StoreTime.instantOrNull(one.end()),
                    one.outcome(),
                    one.error() == null
                            ? null
                            : new TimelineView.AttemptErrorView(
                                    one.error().code(),
                                    UnmaskedPiiValue.message(one.error()).maskTextOrNull(mask))));
        }
        return out;
    }

    private void addRecorded(JournalEntry entry) {
        switch (entry) {
            case JournalEntry.AttemptFailure tried -> add(tried, tried.attempt(), "failed", tried.error());
            case JournalEntry.StepFailure failed ->
                add(failed, failed.attempts(), RunTimelineJsonRenderer.outcome(failed), failed.error());
            case JournalEntry.StepResult done -> {
                String outcome = done.outcome() == JournalEntry.StepOutcome.DONE
                        ? "completed"
                        : done.outcome().word();
                add(done, done.attempts(), outcome, null);
            }
            case JournalEntry.WaitStart waiting -> {
                addUnended(LOST); // of two starts in a row, a crash cut the first attempt off
                begun = waiting.at();
                unended = waiting.kind() == JournalEntry.EntryKind.STEP;
            }
            case JournalEntry.RunResumption _ -> counted = 0;
            case JournalEntry.RedoRequest _, JournalEntry.NotificationMute _ -> {}
        }
    }

    /** Adds the attempt of a step of which the journal has the start and no end. */
    private void addUnended(String outcome) {
        if (unended) {
            attempts.add(new TimelineAttempt(begun, 0, outcome, null));
        }
        unended = false;
    }

    /** @param number how many attempts were made until this entry; no more than before for an outcome without a send */
    private void add(JournalEntry entry, int number, String outcome, JournalEntry.@Nullable ErrorDetails error) {
        unended = false;
        if (number > counted) {
            attempts.add(new TimelineAttempt(start(entry, number), entry.at(), outcome, error));
            counted = number;
        }
    }

    /** The ledger has the start of the last send of an effect. The journal has the start of waits. */
    private long start(JournalEntry entry, int number) {
        if (entry instanceof JournalEntry.AttemptFailure tried && tried.startedAt() > 0) {
            return tried.startedAt();
        }
        if (row == null) {
            return begun;
        }
        long sent = row.lastSend().at();
        if (sent > 0 && sent <= entry.at() && isLastEnd(entry)) {
            return sent;
        }
        return number <= 1 && row.firstAt() <= entry.at() && past.isEmpty() ? row.firstAt() : 0;
    }

    private boolean isLastEnd(JournalEntry entry) {
        JournalEntry last = null;
        for (JournalEntry one : entries) {
            boolean end = one instanceof JournalEntry.AttemptFailure
                    || one instanceof JournalEntry.StepFailure
                    || one instanceof JournalEntry.StepResult;
            last = end ? one : last;
        }
        return entry.equals(last);
    }

    /** The attempt that a reserved row stands for, or one whose end nothing records. */
    private void addCurrent(boolean recorded) {
        if (row == null) {
            return;
        }
        if (row.state() == EffectLedger.EffectState.RESERVED) {
            attempts.add(new TimelineAttempt(row.lastSend().at(), 0, "running", null));
        } else if (row.state() == EffectLedger.EffectState.UNKNOWN && !recorded && past.isEmpty()) {
            attempts.add(new TimelineAttempt(row.lastSend().at(), 0, "unknown", null));
        }
    }
}
