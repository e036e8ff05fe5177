package dev.semel.engine;

import dev.semel.journal.Entry;
import dev.semel.journal.Journal;
import dev.semel.run.RunId;
import dev.semel.run.StepPath;
import dev.semel.store.Edit;
import dev.semel.store.Letter;
import dev.semel.store.Letter.Heard;
import dev.semel.store.Reads;
import dev.semel.store.Rows;
import dev.semel.store.Write;
import java.time.Duration;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Waits for a signal addressed by key instead of by run id.
 * The wait is registered in the store until a keyed signal arrives; a signal to the run itself ends it too. A keyed
 * signal is stored among the signals of the run, one per wait: after a crash either it or the registration is there.
 */
final class Letterbox {
    private final Scope scope;
    private final Execution execution;
    private final Letter.Address to;
    private final Letter.Ear registration;
    private final long due;
    private final long since;

    private Letterbox(Scope scope, Letter.Address to, Term term) {
        this.scope = scope;
        this.execution = scope.execution();
        this.to = to;
        this.registration = new Letter.Ear(execution.run().driver(), term.place().path());
        this.due = term.due();
        this.since = term.since();
    }

    /** @param since earlier keyed signals do not count */
    private record Term(Scope.Place place, long due, long since) {}

    /** Returns the next signal and records it; null after the timeout. */
    static @Nullable JsonNode await(Scope scope, String name, Letter.Address to, @Nullable Duration longest) {
        Scope.Place place = scope.enter(name, Entry.Kind.AWAIT);
        Entry.Done done = place.done();
        if (done != null) {
            return done.how() == Entry.How.TIMED_OUT ? null : place.result();
        }
        long due = Signals.due(scope, place, longest, Entry.Kind.AWAIT);
        return new Letterbox(scope, to, new Term(place, due, 0)).next();
    }

    /** The same for a reply to a question: only signals since the last wait of the scope count. */
    static @Nullable JsonNode reply(Scope scope, String name, Letter.Address to, @Nullable Duration longest) {
        Scope.Place place = scope.enter(name, Entry.Kind.AWAIT);
        Entry.Done done = place.done();
        if (done != null) {
            return done.how() == Entry.How.TIMED_OUT ? null : place.result();
        }
        long due = Signals.due(scope, place, longest, Entry.Kind.AWAIT);
        return new Letterbox(scope, to, new Term(place, due, lastWaitEnd(scope.execution(), place.path()))).next();
    }

    /** When the run began, or the last wait of the scope ended, by the clock of the store. */
    private static long lastWaitEnd(Execution execution, String path) {
        RunId id = execution.run().id();
        Rows.Run run = execution.maybe(reads -> reads.claimed(id));
        long since = run == null ? 0 : run.createdAt();
        String scope = StepPath.scopeOf(path);
        for (Reads.Chunk chunk : execution.ask(reads -> reads.journal(id))) {
            for (Entry entry : Journal.decode(chunk.entries())) {
                boolean over = entry instanceof Entry.Done && entry.kind() == Entry.Kind.AWAIT;
                if (over && StepPath.scopeOf(entry.path()).equals(scope)) {
                    since = Math.max(since, entry.at());
                }
            }
        }
        return since;
    }

    private @Nullable JsonNode next() {
        boolean registered = false;
        while (true) {
            scope.mayBegin();
            long seen = execution.waits().wakes();
            Rows.Signal found = Signals.find(execution, registration.signal(), to.name());
            boolean keyed = found != null && found.name().equals(registration.signal());
            long now = execution.storeNow();
            Signals.Over over = new Signals.Over(registration.path(), Entry.Kind.AWAIT, now);
            if (found != null || now >= due) {
                if (!keyed && submit(new Letter.Hush(registration)) == Heard.LETTER) {
                    continue; // it arrived in the last moment, and no other wait will get it
                }
                if (found == null) {
                    return Signals.timedOut(execution, over);
                }
                if (execution.takeSignal(found.id().text())) {
                    return Signals.taken(execution, over, found);
                }
                registered = false; // another branch took it, and this wait is no longer registered
            } else if (registered
                    || submit(new Letter.Listen(to, registration, scope.undoes(), since)) == Heard.NOTHING) {
                registered = true;
                String what = Waiting.keyed(registration.path(), due, to.name(), to.key());
                scope.await(new Waits.Wait(due, what, true, false), seen);
            }
        }
    }

    /** Submits a change of the registration, durably. If another worker owns the run now, that one registers. */
    private Heard submit(Letter<Heard> request) {
        Write.Change<Heard> change = new Write.Change<>(new Edit.Mail<>(request));
        execution.counters().diskWaits.increment();
        Heard result = execution.joined(
                execution.engine().committer().submit(execution.run().lane(), change));
        if (result == Heard.GONE) {
            throw execution.end(new Unwind.NotOurs());
        }
        return result;
    }
}
