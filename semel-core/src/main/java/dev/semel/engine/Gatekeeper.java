package dev.semel.engine;

import dev.semel.effect.Ledger;
import dev.semel.store.NewRun;
import dev.semel.trigger.Trigger;
import dev.semel.workflow.Gates;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Computes what a new run must wait for: concurrency limits, rate limit, delay and debounce of its workflow. */
final class Gatekeeper {
    private Gatekeeper() {}

    /** Returns null if the run may start at once. */
    static NewRun.@Nullable Gate gate(Trigger trigger) {
        Gates gates = trigger.workflow().extras().gates();
        String ownQueue = queue(trigger);
        if (gates.equals(Gates.NONE) && ownQueue == null) {
            return trigger.delay() == 0 ? null : new NewRun.Gate(List.of(), null, trigger.delay(), null);
        }
        List<NewRun.Gate.Place> places = new ArrayList<>();
        if (ownQueue != null) {
            places.add(new NewRun.Gate.Place(ownQueue, 1));
        }
        if (gates.serialBy() != null) {
            places.add(new NewRun.Gate.Place(name(trigger, gates.serialBy()), 1));
        }
        if (gates.maxConcurrent() != null) {
            String queue = Ledger.digest("max", trigger.workflow().workflowId());
            places.add(new NewRun.Gate.Place(queue, gates.maxConcurrent()));
        }
        NewRun.Gate gate = new NewRun.Gate(places, rate(trigger, gates.rateLimit()), trigger.delay(), null);
        // A replay is not debounced: another run would absorb it, with a different journal.
        return gates.debounce() == null || trigger.ties().replayOf() != null
                ? gate
                : new NewRun.Gate(places, gate.rate(), trigger.delay(), debounce(trigger, gates.debounce(), gate));
    }

    /** Queue of triggers from one source that run one after another; null if they need not. */
    private static @Nullable String queue(Trigger trigger) {
        Trigger.DoorName source = trigger.names().door();
        String name = source == null ? null : source.queue();
        return name == null ? null : Ledger.digest("door", trigger.workflow().workflowId() + "\n" + name);
    }

    private static NewRun.Gate.@Nullable Rate rate(Trigger trigger, Gates.@Nullable RateLimit limit) {
        return limit == null
                ? null
                : new NewRun.Gate.Rate(name(trigger, limit.key()), micros(limit.per()) / limit.count(), limit.count());
    }

    /**
     * A debounced run already has its queue slots and its share of the rate limit.
     * So it absorbs only triggers that need the same ones: all of them are part of its debounce key.
     */
    private static NewRun.Gate.Debounce debounce(Trigger trigger, Gates.Debounce debounce, NewRun.Gate others) {
        List<String> taken = new ArrayList<>();
        others.places().forEach(place -> taken.add(place.queue()));
        if (others.rate() != null) {
            taken.add(others.rate().name());
        }
        String name = name(trigger, debounce.key());
        return new NewRun.Gate.Debounce(
                taken.isEmpty() ? name : Ledger.digest("debounce", name + "\n" + String.join("\n", taken)),
                micros(debounce.quiet()),
                micros(debounce.atMost()));
    }

    private static long micros(Duration time) {
        return time.toNanos() / 1_000;
    }

    private static String name(Trigger trigger, Gates.GateKey key) {
        String text = trigger.workflow().workflowId() + "\n" + key.of(trigger.data());
        return Ledger.digest(key.gate(), text);
    }
}
