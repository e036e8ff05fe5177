package dev.semel.store;

import dev.semel.admission.RunDeduplicationKey;
import dev.semel.admission.RunDeduplicationKeyClaim;
import dev.semel.admission.RunDeduplicationKeyRecord;
import dev.semel.admission.StartConditions;
import dev.semel.admission.TriggerSource;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** Triggers of a script: few names, so that they meet. */
final class TriggerScript {
    static final List<String> WORKFLOWS = List.of("wf_pay", "wf_ship", "wf_other");
    static final List<String> KEYS = List.of("a", "b", "a b", "B");

    private final RandomGenerator random;
    /** Every run that was ever asked for, in order. */
    private final List<RunId> runIds;

    /** The first run of the line of a run; null where there is no such run. */
    private final Function<RunId, @Nullable RunId> lineage;

    private final LongSupplier catalog;

    TriggerScript(
            RandomGenerator random,
            List<RunId> runIds,
            Function<RunId, @Nullable RunId> lineage,
            LongSupplier catalog) {
        this.random = random;
        this.runIds = runIds;
        this.lineage = lineage;
        this.catalog = catalog;
    }

    /** A text over what may have been counted and seen, and may not. */
    static StoreWriteCommand<?> publishOver(RandomGenerator random, long catalog) {
        int n = random.nextInt(4);
        String name = n == 3 ? "pay" : "new " + n;
        var text = new StoreWriteCommand.PublishVersion(
                1, name, n == 3 ? "wf_pay" : "wf_new" + n, "v" + random.nextInt(4), "tester");
        Long counted = random.nextBoolean() ? null : Long.valueOf(catalog - random.nextInt(2));
        StoreWriteCommand.VersionsInForce versionsInForce =
                random.nextBoolean() ? null : new StoreWriteCommand.VersionsInForce(random.nextInt(4), 0);
        return new StoreWriteCommand.PublishIfUnchanged(text, counted, versionsInForce);
    }

    /** With any number of names, links and a gate. */
    StoreWrite.AdmitRun admit() {
        String workflow = pick(WORKFLOWS);
        int ws = workflow.equals("wf_other") ? 2 : 1;
        List<RunDeduplicationKeyClaim> claims = new ArrayList<>();
        if (random.nextInt(4) != 0) {
            claims.add(key(ws, workflow));
        }
        String chosen = random.nextInt(6) == 0 ? "chosen " + random.nextInt(3) : null;
        if (chosen != null) {
            var name = new RunDeduplicationKey(ws, RunDeduplicationKey.KeyKind.RUN, chosen);
            claims.add(new RunDeduplicationKeyClaim(
                    name, new byte[] {4}, RunDeduplicationKeyClaim.FOREVER, RunDeduplicationKeyRecord.HOLD, true));
        }
        if (random.nextInt(5) == 0) {
            var name = new RunDeduplicationKey(ws, RunDeduplicationKey.KeyKind.PAYLOAD, "p" + random.nextInt(2));
            claims.add(new RunDeduplicationKeyClaim(
                    name, new byte[] {5}, window(), RunDeduplicationKeyRecord.HOLD, random.nextBoolean()));
        }
        StartConditions conditions = random.nextInt(3) == 0 ? gate(workflow) : null;
        NewRun run = run(ws, workflow, chosen, conditions);
        RunId line = run.links().lineage();
        if (line != null) {
            // Who continues a line comes behind a run of it, whether somebody replays it or tries it again.
            var name = new RunDeduplicationKey(ws, RunDeduplicationKey.KeyKind.REPLAY, line.text());
            claims.add(new RunDeduplicationKeyClaim(
                    name, new byte[] {6}, 10_000_000L, RunDeduplicationKeyRecord.HOLD, true));
        }
        return new StoreWrite.AdmitRun(run, claims, random.nextInt(4) != 0, change());
    }

    /** With one name at most, and nothing else: many of these may be in one batch. */
    StoreWrite.AdmitRun plain() {
        String workflow = pick(List.of("wf_pay", "wf_ship"));
        List<RunDeduplicationKeyClaim> claims = random.nextInt(4) == 0 ? List.of() : List.of(key(1, workflow));
        return new StoreWrite.AdmitRun(run(1, workflow, null, null), claims, random.nextBoolean(), change());
    }

    /** Mostly the catalog as it is; sometimes one that is out of date. */
    private long change() {
        return catalog.getAsLong() - (random.nextInt(20) == 0 ? 1 : 0);
    }

    private RunDeduplicationKeyClaim key(int ws, String workflow) {
        int flags = pick(List.of(
                0,
                RunDeduplicationKeyRecord.HOLD,
                RunDeduplicationKeyRecord.HOLD,
                RunDeduplicationKeyRecord.RERUN_FAILED,
                RunDeduplicationKeyRecord.HOLD | RunDeduplicationKeyRecord.RERUN_FAILED));
        byte[] digest = {(byte) random.nextInt(2)};
        return new RunDeduplicationKeyClaim(keyName(ws, workflow), digest, window(), flags, true);
    }

    private RunDeduplicationKey keyName(int ws, String workflow) {
        String key = pick(KEYS);
        return switch (random.nextInt(6)) {
            case 0 -> new RunDeduplicationKey(ws, RunDeduplicationKey.KeyKind.WORKFLOW_KEY, key + "\n" + workflow);
            case 1 ->
                new RunDeduplicationKey(ws, RunDeduplicationKey.KeyKind.DISTINCT_KEY, key + "\nd" + random.nextInt(2));
            default -> new RunDeduplicationKey(ws, RunDeduplicationKey.KeyKind.KEY, key);
        };
    }

    /** Of a key or a payload. A chosen run id is never let go, so none of those. */
    RunDeduplicationKey name() {
        return random.nextInt(5) == 0
                ? new RunDeduplicationKey(1, RunDeduplicationKey.KeyKind.PAYLOAD, "p" + random.nextInt(2))
                : keyName(1, pick(List.of("wf_pay", "wf_ship")));
    }

    private long window() {
        return pick(List.of(1_000_000L, 10_000_000L, 3_600_000_000L));
    }

    private NewRun run(int ws, String workflow, @Nullable String chosen, @Nullable StartConditions conditions) {
        RunId id = new RunId(1_000 + runIds.size(), random.nextInt(100));
        NewRun.RunParentage links = NewRun.RunParentage.NONE;
        if (!runIds.isEmpty() && random.nextInt(6) == 0) {
            // The engine continues a line by its first run, never by one in the middle, which could go with its own
            // line.
            RunId continued = relative();
            links = new NewRun.RunParentage(
                    continued == null ? null : lineage.apply(continued), relative(), relative(), "", runIds.size() % 3);
        }
        runIds.add(id);
        String input = random.nextInt(20) == 0 ? "\"" + "é".repeat(4_094 + random.nextInt(3)) + "\"" : "{\"n\":1}";
        return new NewRun(
                id,
                ws,
                chosen,
                workflow,
                1,
                random.nextInt(5) == 0 ? RunState.QUEUED : RunState.STARTED,
                new NewRun.TriggerOrigin(
                        TriggerSource.HTTP, "actor", "key", random.nextBoolean() ? null : "correlation"),
                input,
                new byte[] {1, 2, 3},
                links,
                conditions);
    }

    private @Nullable RunId relative() {
        RunId one = pick(runIds);
        return random.nextBoolean() && lineage.apply(one) != null ? one : null;
    }

    private StartConditions gate(String workflow) {
        List<StartConditions.QueueLimit> queueLimits = new ArrayList<>();
        for (String queue : List.of("q2", "q1")) {
            if (random.nextInt(2) == 0) {
                queueLimits.add(new StartConditions.QueueLimit(queue, 1 + random.nextInt(2)));
            }
        }
        StartConditions.RateLimit rate = random.nextInt(4) == 0
                ? new StartConditions.RateLimit("r" + random.nextInt(2), 1_000_000, 1 + random.nextInt(2))
                : null;
        StartConditions.DebounceWindow debounce =
                random.nextInt(3) == 0 ? new StartConditions.DebounceWindow(workflow, 5_000_000, 12_000_000) : null;
        return new StartConditions(queueLimits, rate, random.nextInt(4) == 0 ? 1_000_000 : 0, debounce);
    }

    private <T> T pick(List<T> from) {
        return from.get(random.nextInt(from.size()));
    }
}
