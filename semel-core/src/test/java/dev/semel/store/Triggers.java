package dev.semel.store;

import dev.semel.key.Known;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.trigger.Door;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import java.util.function.LongSupplier;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** Triggers of a script: few names, so that they meet. */
final class Triggers {
    static final List<String> WORKFLOWS = List.of("wf_pay", "wf_ship", "wf_other");
    static final List<String> KEYS = List.of("a", "b", "a b", "B");

    private final RandomGenerator random;
    /** Every run that was ever asked for, in order. */
    private final List<RunId> asked;

    /** The first run of the line of a run; null where there is no such run. */
    private final Function<RunId, @Nullable RunId> lineage;

    private final LongSupplier catalog;

    Triggers(
            RandomGenerator random, List<RunId> asked, Function<RunId, @Nullable RunId> lineage, LongSupplier catalog) {
        this.random = random;
        this.asked = asked;
        this.lineage = lineage;
        this.catalog = catalog;
    }

    /** A text over what may have been counted and seen, and may not. */
    static Edit<?> publishOver(RandomGenerator random, long catalog) {
        int n = random.nextInt(4);
        String name = n == 3 ? "pay" : "new " + n;
        var text = new Edit.Publish(1, name, n == 3 ? "wf_pay" : "wf_new" + n, "v" + random.nextInt(4), "tester");
        Long counted = random.nextBoolean() ? null : Long.valueOf(catalog - random.nextInt(2));
        Edit.Footing seen = random.nextBoolean() ? null : new Edit.Footing(random.nextInt(4), 0);
        return new Edit.PublishOver(text, counted, seen);
    }

    /** With any number of names, links and a gate. */
    Write.Admit admit() {
        String workflow = pick(WORKFLOWS);
        int ws = workflow.equals("wf_other") ? 2 : 1;
        List<Wish> wishes = new ArrayList<>();
        if (random.nextInt(4) != 0) {
            wishes.add(key(ws, workflow));
        }
        String chosen = random.nextInt(6) == 0 ? "chosen " + random.nextInt(3) : null;
        if (chosen != null) {
            var name = new Name(ws, Name.Kind.RUN, chosen);
            wishes.add(new Wish(name, new byte[] {4}, Wish.FOREVER, Known.HOLD, true));
        }
        if (random.nextInt(5) == 0) {
            var name = new Name(ws, Name.Kind.PAYLOAD, "p" + random.nextInt(2));
            wishes.add(new Wish(name, new byte[] {5}, window(), Known.HOLD, random.nextBoolean()));
        }
        NewRun.Gate gate = random.nextInt(3) == 0 ? gate(workflow) : null;
        NewRun run = run(ws, workflow, chosen, gate);
        RunId line = run.links().lineage();
        if (line != null) {
            // Who continues a line comes behind a run of it, whether somebody replays it or tries it again.
            var name = new Name(ws, Name.Kind.REPLAY, line.text());
            wishes.add(new Wish(name, new byte[] {6}, 10_000_000L, Known.HOLD, true));
        }
        return new Write.Admit(run, wishes, random.nextInt(4) != 0, change());
    }

    /** With one name at most, and nothing else: many of these may be in one batch. */
    Write.Admit plain() {
        String workflow = pick(List.of("wf_pay", "wf_ship"));
        List<Wish> wishes = random.nextInt(4) == 0 ? List.of() : List.of(key(1, workflow));
        return new Write.Admit(run(1, workflow, null, null), wishes, random.nextBoolean(), change());
    }

    /** Mostly the catalog as it is; sometimes one that is out of date. */
    private long change() {
        return catalog.getAsLong() - (random.nextInt(20) == 0 ? 1 : 0);
    }

    private Wish key(int ws, String workflow) {
        int flags = pick(List.of(0, Known.HOLD, Known.HOLD, Known.RERUN_FAILED, Known.HOLD | Known.RERUN_FAILED));
        byte[] digest = {(byte) random.nextInt(2)};
        return new Wish(keyName(ws, workflow), digest, window(), flags, true);
    }

    private Name keyName(int ws, String workflow) {
        String key = pick(KEYS);
        return switch (random.nextInt(6)) {
            case 0 -> new Name(ws, Name.Kind.WORKFLOW_KEY, key + "\n" + workflow);
            case 1 -> new Name(ws, Name.Kind.DISTINCT_KEY, key + "\nd" + random.nextInt(2));
            default -> new Name(ws, Name.Kind.KEY, key);
        };
    }

    /** Of a key or a payload. A chosen run id is never let go, so none of those. */
    Name name() {
        return random.nextInt(5) == 0
                ? new Name(1, Name.Kind.PAYLOAD, "p" + random.nextInt(2))
                : keyName(1, pick(List.of("wf_pay", "wf_ship")));
    }

    private long window() {
        return pick(List.of(1_000_000L, 10_000_000L, 3_600_000_000L));
    }

    private NewRun run(int ws, String workflow, @Nullable String chosen, NewRun.@Nullable Gate gate) {
        RunId id = new RunId(1_000 + asked.size(), random.nextInt(100));
        NewRun.Links links = NewRun.Links.NONE;
        if (!asked.isEmpty() && random.nextInt(6) == 0) {
            // The engine continues a line by its first run, never by one in the middle, which could go with its own
            // line.
            RunId continued = relative();
            links = new NewRun.Links(
                    continued == null ? null : lineage.apply(continued), relative(), relative(), "", asked.size() % 3);
        }
        asked.add(id);
        String input = random.nextInt(20) == 0 ? "\"" + "é".repeat(4_094 + random.nextInt(3)) + "\"" : "{\"n\":1}";
        return new NewRun(
                id,
                ws,
                chosen,
                workflow,
                1,
                random.nextInt(5) == 0 ? RunState.QUEUED : RunState.STARTED,
                new NewRun.Origin(Door.HTTP, "actor", "key", random.nextBoolean() ? null : "correlation"),
                input,
                new byte[] {1, 2, 3},
                links,
                gate);
    }

    private @Nullable RunId relative() {
        RunId one = pick(asked);
        return random.nextBoolean() && lineage.apply(one) != null ? one : null;
    }

    private NewRun.Gate gate(String workflow) {
        List<NewRun.Gate.Place> places = new ArrayList<>();
        for (String queue : List.of("q2", "q1")) {
            if (random.nextInt(2) == 0) {
                places.add(new NewRun.Gate.Place(queue, 1 + random.nextInt(2)));
            }
        }
        NewRun.Gate.Rate rate = random.nextInt(4) == 0
                ? new NewRun.Gate.Rate("r" + random.nextInt(2), 1_000_000, 1 + random.nextInt(2))
                : null;
        NewRun.Gate.Debounce debounce =
                random.nextInt(3) == 0 ? new NewRun.Gate.Debounce(workflow, 5_000_000, 12_000_000) : null;
        return new NewRun.Gate(places, rate, random.nextInt(4) == 0 ? 1_000_000 : 0, debounce);
    }

    private <T> T pick(List<T> from) {
        return from.get(random.nextInt(from.size()));
    }
}
