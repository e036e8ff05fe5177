package dev.semel.trials.crash;

import dev.semel.RunStatus;
import dev.semel.engine.EngineLimits;
import dev.semel.engine.run.WorkflowCatalog;
import dev.semel.error.EffectInDoubt;
import dev.semel.error.RunCancelled;
import dev.semel.runtime.IdempotencyKeyReleaser;
import dev.semel.runtime.RunHandle;
import dev.semel.runtime.RuntimeOptions;
import dev.semel.runtime.SemelRuntime;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreWriteCommand;
import dev.semel.trials.crash.CommitProxy.Cut;
import dev.semel.trials.crash.CommitProxy.Kind;
import dev.semel.workflow.Key;
import dev.semel.workflow.Start;
import dev.semel.workflow.Workflow;
import java.time.Duration;
import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.concurrent.atomic.AtomicInteger;

/**
 * One worker behind the proxy, asked for everything once, with one kind of transaction cut in one way. The worker is
 * never started again: it has to get over it by itself.
 */
final class CommitCutScenario implements AutoCloseable {
    private static final Duration SHORT_LEASE = Duration.ofMillis(1_500);
    private static final int MOST_CUTS = 3;

    private final CommitProxy proxy;
    private final String direct;
    private final RuntimeOptions settings;
    private final CommitCutFlows flows = new CommitCutFlows();
    private final SemelRuntime semel;
    private final Map<String, String> runs = new HashMap<>();

    CommitCutScenario(CommitProxy proxy, String database) {
        this.proxy = proxy;
        this.direct = RealPostgres.url(database);
        RealPostgres.execute(direct, CommitCutFlows.TABLE);
        WorkflowCatalog.VersionCompiler noFiles = version -> {
            throw new WorkflowCatalog.WorkflowNotRegistered(version.name(), version.workflowId());
        };
        this.settings = RuntimeOptions.of(RealPostgres.url(database, proxy.port()), noFiles)
                .withLimits(EngineLimits.DEFAULT.withLease(SHORT_LEASE));
        this.semel = SemelRuntime.open(settings);
        semel.register(flows.everything, flows.waiting);
    }

    /** Everything that is wrong after it; empty where all promises were kept. */
    List<String> play(Kind kind, Cut cut) {
        String name = kind + "-" + cut;
        long before = proxy.happened(cut, kind);
        long versions = number("SELECT count(*) FROM semel_workflow_version");
        proxy.follow(plan(kind, cut, name));
        RunHandle<String> run = semel.start(flows.everything, name, Start.withKey(name));
        Await.holds(name + " waits for news", () -> run.status() == RunStatus.WAITING);
        run.signal(CommitCutFlows.NEWS, "go on", Key.of("news"));
        decide(run);
        String receipt = run.result(Await.GENEROUS);
        cancelAnother(name);
        release(name);
        semel.register(Workflow.define("published-" + name.toLowerCase(Locale.ROOT), String.class, String.class)
                .body((_, input) -> input));
        anotherWorker(kind);
        Await.holds(cut + " of " + kind + " happened", () -> proxy.happened(cut, kind) > before);
        proxy.leaveInPeace();
        runs.put(name, run.id());
        List<String> wrong = judge(kind, name);
        expect(wrong, "versions", versions + 1, number("SELECT count(*) FROM semel_workflow_version"));
        if (!receipt.equals("receipt") || run.replayed()) {
            wrong.add("the caller was notified " + receipt + ", replayed: " + run.replayed());
        }
        return wrong.stream().map(line -> name + ": " + line).toList();
    }

    private void decide(RunHandle<String> run) {
        Await.holds(run.id() + " is in doubt", () -> !run.stepsInDoubt().isEmpty());
        // What it answers is not judged: where the first answer was lost the second says that it was decided before.
        run.confirmDone("call", "it was heard", "tester");
        Await.holds(run.id() + " is not in doubt any more", () -> {
            try {
                return run.status() != RunStatus.IN_DOUBT;
            } catch (EffectInDoubt e) {
                return false;
            }
        });
    }

    private void cancelAnother(String name) {
        RunHandle<String> other = semel.start(flows.waiting, name, Start.withKey("other " + name));
        Await.holds(other.id() + " waits", () -> other.status() == RunStatus.WAITING);
        if (!other.cancel("tester", "cut")) {
            throw new AssertionError(name + ": a run that waits was not cancelled");
        }
        try {
            other.result(Await.GENEROUS);
        } catch (RunCancelled e) {
            return; // as it should be
        }
        throw new AssertionError(name + ": a cancelled run completed");
    }

    private void release(String name) {
        List<DatabaseRows.KeyRow> held = Objects.requireNonNull(semel.view(reads -> {
            DatabaseRows.WorkspaceRow home = reads.workspace("default");
            return home == null ? List.<DatabaseRows.KeyRow>of() : reads.keyRecords(home.ws(), name);
        }));
        semel.change(
                IdempotencyKeyReleaser.of(held, new StoreWriteCommand.ChangeAuthor(semel.newId(), "tester", "cut")));
    }

    /** One that starts and stops while the first goes on: its lease begins and ends. */
    private void anotherWorker(Kind kind) {
        if (kind == Kind.START_LEASE || kind == Kind.END_LEASE) {
            try (SemelRuntime other = SemelRuntime.open(settings)) {
                Await.holds("another worker is ready", other::isReady);
            }
        }
    }

    private CommitProxy.Plan plan(Kind kind, Cut cut, String name) {
        AtomicInteger left = new AtomicInteger(kind == Kind.CLAIM ? MOST_CUTS : 1);
        return (transaction, commit) -> {
            boolean here = transaction.kinds().contains(kind) && commit == (cut != Cut.BEFORE);
            if (here && kind == Kind.CLAIM && cut == Cut.ANSWER) {
                // Most claims find nothing; the one that matters takes the run up, and its answer is lost.
                return claims(name) == 1 ? cut : Cut.NONE;
            }
            return here && left.getAndDecrement() > 0 ? cut : Cut.NONE;
        };
    }

    private long claims(String name) {
        return number(
                "SELECT COALESCE(max(w.claim_count), 0) FROM semel_unfinished_run w JOIN semel_run r ON r.run = w.run "
                        + "WHERE r.key = '" + name + "'");
    }

    /** What is wrong with the rows and requests of a cell that was played. */
    List<String> judge(Kind kind, String name) {
        List<String> wrong = new ArrayList<>();
        boolean lease = kind == Kind.START_LEASE || kind == Kind.RENEW || kind == Kind.END_LEASE;
        List<CommitCutFlows.ProviderRequest> paid = flows.sent("pay " + name);
        expect(
                wrong,
                "keys of one effect",
                1,
                paid.stream()
                        .map(CommitCutFlows.ProviderRequest::key)
                        .distinct()
                        .count());
        if (!lease) {
            // Nobody died and no lease was lost: what is on record, or on its way to it, is not sent again.
            expect(wrong, "requests for one effect", 1, paid.size());
        }
        expect(
                wrong,
                "requests that ended in doubt",
                1,
                flows.sent("call " + name).size());
        expect(wrong, "rows of the user", 1, number("SELECT count(*) FROM cut_row WHERE name = '" + name + "'"));
        expect(wrong, "runs of the key", 1, number("SELECT count(*) FROM semel_run WHERE key = '" + name + "'"));
        String ofRun = " WHERE run = (SELECT run FROM semel_run WHERE key = '" + name + "')";
        expect(wrong, "signals", 1, number("SELECT count(*) FROM semel_signal" + ofRun));
        expect(wrong, "ends", 1, number("SELECT count(*) FROM semel_finished_run" + ofRun + " AND state = 10"));
        expect(wrong, "runs at work", 0, number("SELECT count(*) FROM semel_unfinished_run"));
        expect(wrong, "decisions", 1, audit("effect.happened", Objects.requireNonNull(runs.get(name))));
        expect(wrong, "releases", 1, audit("key.release", name));
        return wrong;
    }

    private long audit(String action, String target) {
        return number("SELECT count(*) FROM semel_audit WHERE action = '" + action + "' AND target = '" + target + "'");
    }

    private static void expect(List<String> wrong, String what, long expected, long found) {
        if (found != expected) {
            wrong.add(found + " " + what + ", not " + expected);
        }
    }

    private long number(String sql) {
        return RealPostgres.number(direct, sql);
    }

    @Override
    public void close() {
        semel.close();
    }
}
