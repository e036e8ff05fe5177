package dev.semel.engine;

import dev.semel.error.SemelException;
import dev.semel.key.Admission;
import dev.semel.key.Admissions;
import dev.semel.key.Admissions.Held;
import dev.semel.key.Admissions.Standing;
import dev.semel.key.Fingerprint;
import dev.semel.key.IdempotencyKey;
import dev.semel.key.Known;
import dev.semel.key.Lot;
import dev.semel.run.RunId;
import dev.semel.store.Name;
import dev.semel.store.NewRun;
import dev.semel.store.Reads;
import dev.semel.store.StoreFailure;
import dev.semel.store.Wish;
import dev.semel.store.Write;
import dev.semel.store.Write.Admitted;
import dev.semel.trigger.Answer;
import dev.semel.trigger.Trigger;
import dev.semel.workflow.Current;
import dev.semel.workflow.Published;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.CompletionException;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/**
 * Admits triggers from all sources: decides whether each starts a run, repeats one, or conflicts.
 * A trigger with a recently seen key is answered from a read. Any other goes to the admission transaction, whose unique
 * constraint decides.
 */
public final class Intake {
    /** Bound on retries because the workflow changed meanwhile; no one publishes that often. */
    private static final int MOST_ATTEMPTS = 32;

    private final Committer committer;
    private final Readers readers;
    private final Answering responder;
    private final RunLoop runs;
    private final Versions versions;
    private final Committer.Surroundings dependencies;
    private final SeenNames seen = new SeenNames();
    private volatile Runnable onQueued = () -> {};

    /** Looks up workflow versions for an admission. */
    public interface Versions {
        /** Returns a version by number. Versions never change and may be cached. */
        Published version(String workflowId, int version);

        /** Returns the current state of a workflow, read from the store. */
        Current latest(int workspace, String workflowId);
    }

    /** The parts of the engine that an admission uses. */
    public record Parts(Committer committer, Readers readers, Requests requests, RunLoop runs) {}

    public Intake(Parts parts, Versions versions, Committer.Surroundings dependencies) {
        this.committer = parts.committer();
        this.readers = parts.readers();
        this.responder = new Answering(parts.requests(), versions, dependencies.counters());
        this.runs = parts.runs();
        this.versions = versions;
        this.dependencies = dependencies;
    }

    /** Sets the callback for admitted runs that do not start here at once. */
    public void onWork(Runnable look) {
        onQueued = look;
    }

    /**
     * Requests a run. If the workflow was published, paused or resumed since it was read, the call reads it again and
     * rebuilds the trigger.
     *
     * @param builder builds the trigger and may reject it; a rejection under an outdated version is retried
     */
    public Answer trigger(int workspace, Current first, Function<Current, Trigger> builder) {
        try {
            Current current = first;
            for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
                // Only a rollout needs the run id before the admission.
                RunId id = current.candidate() == null ? null : dependencies.ambient().id();
                Trigger trigger =
                        id == null ? buildTrigger(current, builder) : withAssignedVersion(current, id, builder);
                Answer answer = trigger == null ? null : admitOnce(trigger, id);
                if (answer != null) {
                    return answer;
                }
                current = versions.latest(workspace, current.published().workflowId());
            }
            throw Refusals.restless(first.published());
        } catch (StoreFailure e) {
            throw Refusals.unavailable(e);
        }
    }

    /**
     * Builds the trigger under the version that the rollout assigns.
     * Its key, chosen id, calling step or run id decides, so that all workers assign alike. A replay uses the current
     * version: it repeats earlier work.
     */
    private @Nullable Trigger withAssignedVersion(Current current, RunId id, Function<Current, Trigger> builder) {
        Trigger trigger = buildTrigger(current, builder);
        Current.Candidate candidate = current.candidate();
        if (trigger == null || candidate == null || trigger.ties().replayOf() != null) {
            return trigger;
        }
        Published tried = candidate.published();
        String trial = tried.workflowId() + " " + tried.version();
        boolean takes = Lot.takes(trial, Naming.lot(trigger, id), candidate.share());
        return takes ? buildTrigger(current.drawn(candidate), builder) : trigger;
    }

    /** Returns null if an outdated version rejected it. */
    private @Nullable Trigger buildTrigger(Current current, Function<Current, Trigger> builder) {
        try {
            return builder.apply(current);
        } catch (SemelException refusal) {
            if (isOutdated(current)) {
                return null;
            }
            throw refusal;
        }
    }

    /** Returns null if the workflow changed since it was read; nothing was admitted or recorded. */
    private @Nullable Answer admitOnce(Trigger trigger, @Nullable RunId id) {
        Published workflow = trigger.workflow();
        Fingerprint fingerprint = Fingerprint.of(
                workflow.workflowId(),
                trigger.data(),
                workflow.policy(),
                trigger.space().secret());
        Case request = new Case(trigger, fingerprint, Naming.wishes(trigger, fingerprint), id);
        Answer known = answerFromRead(request);
        if (known != null) {
            return known;
        }
        Answer meanwhile = checkFresh(request);
        if (meanwhile != null) {
            return meanwhile;
        }
        return admit(request);
    }

    private boolean isOutdated(Current current) {
        return readers.ask(reads -> reads.catalogChange()) != current.change();
    }

    /**
     * Checks quota and input schema.
     * Before a rejection it looks up the keys again, after all admissions in progress: a duplicate that arrived during
     * the first admission is a repeat and never rejected. Null: the admission must decide.
     */
    private @Nullable Answer checkFresh(Case request) {
        Runnable check = request.trigger().checks().fresh();
        if (check == null) {
            return null;
        }
        try {
            check.run();
            return null;
        } catch (SemelException refusal) {
            if (request.wishes().isEmpty()) {
                throw refusal;
            }
            committer
                    .submit(lane(request, dependencies.ambient().id()), new Write.Claim(0))
                    .join();
            Answer known = answerFromRead(request);
            if (known == null && !isOutdated(request.trigger().current())) {
                throw refusal;
            }
            return known;
        }
    }

    /** Answers from a read if a key is in use; null if the admission must decide. */
    private @Nullable Answer answerFromRead(Case request) {
        List<Name> names = new ArrayList<>();
        boolean familiar = request.trigger().checks().fresh() != null;
        for (Wish claim : request.wishes()) {
            if (claim.name().kind() != Name.Kind.PAYLOAD) {
                names.add(claim.name());
                familiar |= seen.maybe(claim.name());
            }
        }
        int current = names.size();
        names.addAll(earlierNames(request));
        Known byGeneratedId = byGeneratedId(request);
        if (byGeneratedId == null && (names.isEmpty() || (!familiar && names.size() == current))) {
            return null;
        }
        Reads.Found found = names.isEmpty() ? new Reads.Found(0, List.of()) : readers.names(names);
        Known byKey = null;
        Known byRunId = byGeneratedId;
        Known failed = null;
        for (int i = 0; i < names.size(); i++) {
            Known known = found.known().get(i);
            Standing standing = known == null ? Standing.EXPIRED : Admissions.standing(known, found.now());
            failed = failed == null && i < current && standing == Standing.FAILED ? known : failed;
            if (known == null || standing != Standing.LIVE) {
                continue;
            }
            if (names.get(i).kind().isExact()) {
                byRunId = known;
            } else if (byKey == null
                    && (i < current
                            || known.workflowId()
                                    .equals(request.trigger().workflow().workflowId()))) {
                byKey = known;
            }
        }
        Held held = new Held(byKey, byRunId, null);
        if (byKey == null && byRunId == null) {
            Known newest = failed == null ? null : newest(request, failed).known();
            Standing standing = newest == null ? Standing.EXPIRED : Admissions.standing(newest, found.now());
            boolean other = failed != null && standing == Standing.FAILED && !responder.goesOn(request, failed);
            if (newest == null || (standing != Standing.LIVE && !other)) {
                return null;
            }
            held = request.heldBy(newest);
        }
        Admission decided = responder.decide(request, held);
        if (!(decided instanceof Admission.Repeat) && isOutdated(request.trigger().current())) {
            return null; // an outdated version rejected it
        }
        return responder.answer(
                request, decided, found.now() == 0 ? dependencies.ambient().micros() : found.now());
    }

    /** The unique keys that other versions of the workflow derive from this idempotency key. */
    static List<Name> earlierNames(Case request) {
        IdempotencyKey key = request.trigger().names().key();
        if (key == null || request.trigger().workflow().earlier().isEmpty()) {
            return List.of();
        }
        List<Name> names = new ArrayList<>();
        for (Published earlier : request.trigger().workflow().earlier()) {
            Fingerprint fingerprint = Fingerprint.of(
                    earlier.workflowId(),
                    request.trigger().data(),
                    earlier.policy(),
                    request.trigger().space().secret());
            names.add(Naming.key(request.workspace(), key, earlier, fingerprint));
        }
        return names;
    }

    /** Finds a run whose generated id equals the chosen id; generated ids have no key row. */
    private @Nullable Known byGeneratedId(Case request) {
        RunId id = request.trigger().names().runId() == null
                ? null
                : RunId.parse(request.trigger().names().runId().text());
        return id == null
                ? null
                : readers.maybe(reads -> {
                    var run = reads.run(request.workspace(), id);
                    if (run == null) {
                        return null;
                    }
                    Published version = versions.version(run.workflowId(), run.version());
                    Fingerprint first = Fingerprint.of(
                            run.workflowId(),
                            dev.semel.json.Json.parse(run.input()),
                            version.policy(),
                            request.trigger().space().secret());
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

    private Line.Newest newest(Case request, Known failed) {
        return readers.ask(reads -> Line.newest(reads, request.workspace(), failed));
    }

    /**
     * Runs the admission transaction. If the run of a key failed, the new run follows the newest run of its lineage.
     * If another request followed it first, this one looks again. Null: the workflow changed.
     */
    private @Nullable Answer admit(Case first) {
        Case request = first;
        for (int attempt = 0; attempt < MOST_ATTEMPTS; attempt++) {
            RunId id = request.drawn() == null ? dependencies.ambient().id() : request.drawn();
            Admitted outcome = runAdmission(request, id);
            Known failed = outcome instanceof Admitted.Failed failure ? failure.known() : null;
            if (outcome instanceof Admitted.Held held) {
                failed = Answering.held(request, held).equals(Held.NOTHING) ? request.failed() : null;
            }
            if (failed == null) {
                return toResult(request, id, outcome);
            }
            Line.Newest newest = newest(first, failed);
            long now = readers.ask(reads -> reads.now());
            Standing standing = Admissions.standing(newest.known(), now);
            boolean continues = standing == Standing.FAILED && responder.goesOn(first, failed);
            if (standing == Standing.LIVE || (standing == Standing.FAILED && !continues)) {
                return responder.answer(first, responder.decide(first, first.heldBy(newest.known())), now);
            }
            request = continues ? first.behind(newest, failed) : first;
        }
        throw Refusals.inUse(first.trigger());
    }

    private Admitted runAdmission(Case request, RunId id) {
        Trigger trigger = request.trigger();
        NewRun run = request.newRun(id);
        Ancestry.refuseOwnQueue(readers, run, trigger.workflow().name());
        long change = trigger.current().change();
        boolean own = !trigger.paused() && run.gate() == null && runs.reserve();
        Admitted outcome;
        boolean started = false;
        try {
            outcome = committer
                    .admit(lane(request, id), new Write.Admit(run, request.wishes(), own, change))
                    .join();
            dependencies.counters().diskWaits.increment();
            if (outcome instanceof Admitted.Fresh fresh && fresh.owned()) {
                runs.start(toActiveRun(request, id, fresh), run.links().carried());
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
            onQueued.run();
        }
        request.wishes().forEach(claim -> seen.note(claim.name()));
        return outcome;
    }

    private @Nullable Answer toResult(Case request, RunId id, Admitted outcome) {
        return switch (outcome) {
            case Admitted.Fresh fresh -> responder.fresh(request, id, fresh);
            case Admitted.Held held ->
                responder.answer(request, responder.decide(request, Answering.held(request, held)), held.now());
            case Admitted.Stale _ -> null;
            case Admitted.InUse _ -> throw Refusals.inUse(request.trigger());
            case Admitted.Absorbed absorbed -> responder.absorbed(request, absorbed);
            case Admitted.Failed _ -> throw new IllegalStateException("a failed key is admitted as a follow-up");
            case Admitted.Again _ -> throw new IllegalStateException("the committer retries these");
        };
    }

    private int lane(Case request, RunId id) {
        int hash = request.wishes().isEmpty()
                ? Long.hashCode(id.low())
                : request.wishes().getFirst().name().text().hashCode();
        return Math.floorMod(hash ^ hash >>> 16, committer.lanes());
    }

    private RunLoop.Resident toActiveRun(Case request, RunId id, Admitted.Fresh fresh) {
        Trigger trigger = request.trigger();
        Duration longest = trigger.workflow().extras().deadline();
        return new RunLoop.Resident(
                new Write.Driver(id, 1),
                request.workspace(),
                trigger.workflow(),
                trigger.data(),
                fresh.lineage(),
                lane(request, id),
                request.runIdText(id),
                longest == null ? Write.Rest.NEVER : Micros.after(fresh.now(), longest),
                0,
                false,
                trigger.ties().parent(),
                trigger.ties().depth());
    }
}
