package dev.semel.engine;

import dev.semel.error.SemelException;
import dev.semel.key.Admission;
import dev.semel.key.Admissions;
import dev.semel.key.Admissions.Asked;
import dev.semel.key.Admissions.Held;
import dev.semel.key.Admissions.Judgement;
import dev.semel.key.Admissions.Standing;
import dev.semel.key.Fingerprint;
import dev.semel.key.IdempotencyKey;
import dev.semel.key.Known;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.Name;
import dev.semel.store.NewRun;
import dev.semel.store.Reads;
import dev.semel.store.StoreFailure;
import dev.semel.store.Wish;
import dev.semel.store.Write;
import dev.semel.store.Write.Admitted;
import dev.semel.trigger.Answer;
import dev.semel.trigger.Trigger;
import dev.semel.workflow.Published;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import org.jspecify.annotations.Nullable;

/**
 * The one door behind all doors. A trigger whose names look familiar is answered from a read; any other goes straight
 * to the admission transaction, whose unique constraint decides.
 */
public final class Intake {
    private final Committer committer;
    private final Readers readers;
    private final Requests requests;
    private final RunLoop runs;
    private final Versions versions;
    private final Committer.Surroundings around;
    private final SeenNames seen = new SeenNames();
    private volatile Runnable lookForWork = () -> {};

    /** Finds the version that admitted a key; versions never change, so they may be remembered. */
    @FunctionalInterface
    public interface Versions {
        Published version(String workflowId, int version);
    }

    /** The parts of the engine that an admission passes through. */
    public record Parts(Committer committer, Readers readers, Requests requests, RunLoop runs) {}

    public Intake(Parts parts, Versions versions, Committer.Surroundings around) {
        this.committer = parts.committer();
        this.readers = parts.readers();
        this.requests = parts.requests();
        this.runs = parts.runs();
        this.versions = versions;
        this.around = around;
    }

    /** To be called when a run was admitted that is not driven here at once. */
    public void onWork(Runnable look) {
        lookForWork = look;
    }

    public Answer trigger(Trigger trigger) {
        try {
            Published workflow = trigger.workflow();
            Fingerprint fingerprint = Fingerprint.of(
                    workflow.workflowId(),
                    trigger.data(),
                    workflow.policy(),
                    trigger.space().secret());
            List<Wish> wishes = Naming.wishes(trigger, fingerprint);
            Case one = new Case(trigger, fingerprint, wishes);
            Answer known = look(one);
            if (known != null) {
                return known;
            }
            Answer meanwhile = checkFresh(one);
            if (meanwhile != null) {
                return meanwhile;
            }
            return admit(one);
        } catch (StoreFailure e) {
            throw Refusals.unavailable(e);
        }
    }

    /**
     * Quota and input schema. Before a refusal the name is looked up once more, behind every admission that was under way:
     * a duplicate that came while the first request was being admitted is a repeat, and never refused for these.
     */
    private @Nullable Answer checkFresh(Case one) {
        Runnable check = one.trigger().freshOnly();
        if (check == null) {
            return null;
        }
        try {
            check.run();
            return null;
        } catch (SemelException refusal) {
            if (one.wishes().isEmpty()) {
                throw refusal;
            }
            committer
                    .submit(lane(one, around.ambient().id()), new Write.Claim(0))
                    .join();
            Answer known = look(one);
            if (known == null) {
                throw refusal;
            }
            return known;
        }
    }

    private record Case(Trigger trigger, Fingerprint fingerprint, List<Wish> wishes) {
        int workspace() {
            return trigger.space().workspace();
        }
    }

    /** Answers from a read where a name is held; null where the admission must decide. */
    private @Nullable Answer look(Case one) {
        List<Name> names = new ArrayList<>();
        boolean familiar = one.trigger().freshOnly() != null;
        for (Wish wish : one.wishes()) {
            if (wish.name().kind() != Name.Kind.PAYLOAD) {
                names.add(wish.name());
                familiar |= seen.maybe(wish.name());
            }
        }
        int current = names.size();
        names.addAll(earlierNames(one));
        Known byGeneratedId = byGeneratedId(one);
        if (byGeneratedId == null && (names.isEmpty() || (!familiar && names.size() == current))) {
            return null;
        }
        Reads.Found found = names.isEmpty() ? new Reads.Found(0, List.of()) : readers.names(names);
        Known byKey = null;
        Known byRunId = byGeneratedId;
        for (int i = 0; i < names.size(); i++) {
            Known known = found.known().get(i);
            if (known == null || Admissions.standing(known, found.now()) != Standing.LIVE) {
                continue;
            }
            if (names.get(i).kind() == Name.Kind.RUN || names.get(i).kind() == Name.Kind.CHILD) {
                byRunId = known;
            } else if (byKey == null
                    && (i < current
                            || known.workflowId()
                                    .equals(one.trigger().workflow().workflowId()))) {
                byKey = known;
            }
        }
        if (byKey == null && byRunId == null) {
            return null;
        }
        return answer(
                one,
                new Held(byKey, byRunId, null),
                found.now() == 0 ? around.ambient().micros() : found.now());
    }

    /** The key as older versions of the workflow named it, where they named it in another way. */
    private static List<Name> earlierNames(Case one) {
        IdempotencyKey key = one.trigger().names().key();
        if (key == null || one.trigger().workflow().earlier().isEmpty()) {
            return List.of();
        }
        List<Name> names = new ArrayList<>();
        for (Published earlier : one.trigger().workflow().earlier()) {
            Fingerprint fingerprint = Fingerprint.of(
                    earlier.workflowId(),
                    one.trigger().data(),
                    earlier.policy(),
                    one.trigger().space().secret());
            names.add(Naming.key(one.workspace(), key, earlier, fingerprint));
        }
        return names;
    }

    /** A chosen id may spell the id of a run that got it from us; such a run has no row among the names. */
    private @Nullable Known byGeneratedId(Case one) {
        RunId id = one.trigger().names().runId() == null
                ? null
                : RunId.parse(one.trigger().names().runId().text());
        return id == null
                ? null
                : readers.maybe(reads -> {
                    var run = reads.run(one.workspace(), id);
                    if (run == null) {
                        return null;
                    }
                    Published version = versions.version(run.workflowId(), run.version());
                    Fingerprint first = Fingerprint.of(
                            run.workflowId(),
                            dev.semel.json.Json.parse(run.input()),
                            version.policy(),
                            one.trigger().space().secret());
                    return new Known(
                            run.id(),
                            run.chosenId(),
                            first.digest(),
                            first.fields(),
                            run.workflowId(),
                            run.version(),
                            run.state(),
                            run.lineage(),
                            run.createdAt(),
                            Wish.FOREVER,
                            Known.HOLD);
                });
    }

    private Answer admit(Case one) {
        Trigger trigger = one.trigger();
        RunId id = around.ambient().id();
        NewRun run = newRun(one, id);
        boolean own = !trigger.paused() && run.gate() == null && runs.reserve();
        Admitted outcome;
        boolean started = false;
        try {
            outcome = committer
                    .admit(lane(one, id), new Write.Admit(run, one.wishes(), own))
                    .join();
            if (outcome instanceof Admitted.Fresh fresh && fresh.owned()) {
                runs.start(resident(one, id, fresh));
                started = true;
            }
        } catch (CompletionException e) {
            throw e.getCause() instanceof RuntimeException cause ? cause : e;
        } finally {
            if (own && !started) {
                runs.release();
            }
        }
        if (run.gate() != null) {
            lookForWork.run();
        }
        one.wishes().forEach(wish -> seen.note(wish.name()));
        return switch (outcome) {
            case Admitted.Fresh fresh -> fresh(one, id, fresh);
            case Admitted.Held held -> answer(one, held(one, held), held.now());
            case Admitted.InUse _ -> throw Refusals.inUse(one.trigger());
            case Admitted.Absorbed absorbed -> absorbed(one, absorbed);
            case Admitted.Again _ -> throw new IllegalStateException("the committer applies these again");
        };
    }

    private int lane(Case one, RunId id) {
        int hash = one.wishes().isEmpty()
                ? Long.hashCode(id.low())
                : one.wishes().getFirst().name().text().hashCode();
        return Math.floorMod(hash ^ hash >>> 16, committer.lanes());
    }

    private static NewRun newRun(Case one, RunId id) {
        Trigger trigger = one.trigger();
        IdempotencyKey key = trigger.names().key();
        return new NewRun(
                id,
                one.workspace(),
                trigger.names().runId() == null ? null : trigger.names().runId().text(),
                trigger.workflow().workflowId(),
                trigger.workflow().version(),
                trigger.paused() ? RunState.QUEUED : RunState.STARTED,
                new NewRun.Origin(
                        trigger.sender().door(),
                        trigger.sender().actor(),
                        key == null ? null : key.text(),
                        trigger.sender().correlationId()),
                trigger.input(),
                one.fingerprint().fields(),
                new NewRun.Links(
                        trigger.ties().lineage(),
                        trigger.ties().parent(),
                        trigger.ties().replayOf()),
                Gatekeeper.gate(trigger));
    }

    private RunLoop.Resident resident(Case one, RunId id, Admitted.Fresh fresh) {
        Trigger trigger = one.trigger();
        Duration longest = trigger.workflow().extras().deadline();
        return new RunLoop.Resident(
                new Write.Driver(id, 1),
                one.workspace(),
                trigger.workflow(),
                trigger.data(),
                fresh.lineage(),
                lane(one, id),
                runIdText(one, id),
                longest == null ? Write.Rest.NEVER : Micros.after(fresh.now(), longest),
                0,
                false,
                trigger.ties().parent());
    }

    private static String runIdText(Case one, RunId id) {
        var chosen = one.trigger().names().runId();
        return chosen == null ? id.text() : chosen.text();
    }

    private static Held held(Case one, Admitted.Held held) {
        Known byKey = null;
        Known byRunId = null;
        Known byPayload = null;
        for (int i = 0; i < one.wishes().size(); i++) {
            switch (one.wishes().get(i).name().kind()) {
                case KEY, WORKFLOW_KEY, DISTINCT_KEY -> byKey = held.known().get(i);
                case RUN, CHILD -> byRunId = held.known().get(i);
                case PAYLOAD -> byPayload = held.known().get(i);
            }
        }
        return new Held(byKey, byRunId, byPayload);
    }

    private Answer fresh(Case one, RunId id, Admitted.Fresh fresh) {
        Trigger trigger = one.trigger();
        around.counters().fresh.increment();
        if (trigger.names().key() == null) {
            around.counters().unkeyed.increment();
        }
        Write.Earlier earlier = fresh.earlier();
        if (earlier != null && earlier.expired()) {
            around.counters().expiredKeyRetries.increment();
        }
        Known duplicateOf = fresh.duplicateOf();
        return new Answer(
                id,
                runIdText(one, id),
                trigger.paused() || fresh.queued() ? RunState.QUEUED : RunState.STARTED,
                trigger.workflow().workflowId(),
                false,
                false,
                List.of(),
                trigger.names().key() == null ? 0 : one.wishes().getFirst().expiresAt(fresh.now()),
                earlier == null
                        ? null
                        : earlier.chosenId() != null
                                ? earlier.chosenId()
                                : earlier.run().text(),
                duplicateOf == null ? null : duplicateOf.runIdText());
    }

    /** The run that waits for quiet has taken this trigger in. */
    private Answer absorbed(Case one, Admitted.Absorbed absorbed) {
        around.counters().absorbed.increment();
        RunId run = absorbed.run();
        String chosen = absorbed.chosenId();
        return new Answer(
                run,
                chosen == null ? run.text() : chosen,
                RunState.QUEUED,
                one.trigger().workflow().workflowId(),
                false,
                false,
                List.of(),
                one.trigger().names().key() == null
                        ? 0
                        : one.wishes().getFirst().expiresAt(absorbed.now()),
                null,
                null);
    }

    private Answer answer(Case one, Held held, long now) {
        Trigger trigger = one.trigger();
        String runId =
                trigger.names().runId() == null ? null : trigger.names().runId().text();
        Asked asked = new Asked(trigger.workflow().workflowId(), runId, trigger.strict(), known -> judge(one, known));
        return switch (Admissions.decide(asked, held)) {
            case Admission.Repeat repeat -> repeat(one, repeat, now);
            case Admission.Conflict conflict -> {
                around.counters().conflicts.increment();
                remember(one, conflict.known(), new Shown(422, now, conflict.changed()), true);
                throw Refusals.conflict(trigger, conflict);
            }
            case Admission.SamePayload same -> {
                around.counters().duplicatePayloads.increment();
                remember(one, same.known(), new Shown(409, now, List.of()), true);
                throw Refusals.samePayload(trigger, same.known());
            }
            case Admission.Fresh _ -> throw new IllegalStateException("a held name cannot be fresh");
        };
    }

    /** A known key is judged by the version that admitted it, so a publish never turns a retry into a conflict. */
    private Judgement judge(Case one, Known known) {
        Published current = one.trigger().workflow();
        if (known.version() == current.version()) {
            return new Judgement(current.policy(), one.fingerprint());
        }
        Published admitting = versions.version(known.workflowId(), known.version());
        return new Judgement(
                admitting.policy(),
                Fingerprint.of(
                        known.workflowId(),
                        one.trigger().data(),
                        admitting.policy(),
                        one.trigger().space().secret()));
    }

    private Answer repeat(Case one, Admission.Repeat repeat, long now) {
        around.counters().replayed.increment();
        if (repeat.mismatch()) {
            around.counters().mismatched.increment();
        }
        Known known = repeat.known();
        remember(one, known, new Shown(200, now, repeat.changed()), false);
        boolean keyed = one.trigger().names().key() != null && known.expiresAt() != Wish.FOREVER;
        return new Answer(
                known.run(),
                known.runIdText(),
                known.state(),
                known.workflowId(),
                true,
                repeat.mismatch(),
                repeat.changed(),
                keyed ? known.expiresAt() : 0,
                null,
                null);
    }

    private record Shown(int statusCode, long at, List<String> changed) {}

    private void remember(Case one, Known known, Shown shown, boolean conflict) {
        Requests.Met met = new Requests.Met(
                one.workspace(),
                known.run(),
                shown.at(),
                shown.statusCode(),
                one.trigger().sender().actor(),
                shown.changed().isEmpty() ? null : String.join(", ", shown.changed()),
                one.trigger().names().key() == null
                        ? null
                        : one.trigger().names().key().shortened());
        if (conflict) {
            requests.conflict(met);
        } else {
            requests.replayed(met);
        }
    }
}
