package dev.semel.engine;

import dev.semel.effect.EffectLedger;
import dev.semel.store.NewRun;
import dev.semel.trigger.Trigger;
import dev.semel.definition.ConcurrencyControl;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Computes what a new run must wait for: concurrency limits, rate limit, delay and debounce of its workflow. */
final class ConcurrencyLimits {
    private ConcurrencyLimits() {}

    /** Returns null if the run may start at once. */
    static NewRun.@Nullable StartConditions startGate(Trigger trigger) {
        ConcurrencyControl gates = trigger.workflow().options().concurrency();
        String ownQueue = queue(trigger);
        if (gates.equals(ConcurrencyControl.NONE) && ownQueue == null) {
            return trigger.delay() == 0 ? null : new NewRun.StartConditions(List.of(), null, trigger.delay(), null);
        }
        List<NewRun.StartConditions.QueueLimit> places = new ArrayList<>();
        if (ownQueue != null) {
            places.add(new NewRun.StartConditions.QueueLimit(ownQueue, 1));
        }
        if (gates.serialBy() != null) {
            places.add(new NewRun.StartConditions.QueueLimit(name(trigger, gates.serialBy()), 1));
        }
        if (gates.maxConcurrent() != null) {
            String queue = EffectLedger.digest("max", trigger.workflow().workflowId());
            places.add(new NewRun.StartConditions.QueueLimit(queue, gates.maxConcurrent()));
        }
        NewRun.StartConditions gate = new NewRun.StartConditions(places, rate(trigger, gates.rateLimit()), trigger.delay(), null);
        // A replay is not debounced: another run would absorb it, with a different journal.
        return gates.debounce() == null || trigger.links().replayOf() != null
                ? gate
                : new NewRun.StartConditions(places, gate.rateLimit(), trigger.delay(), debounce(trigger, gates.debounce(), gate));
    }

    /** Queue of triggers from one source that run one after another; null if they need not. */
    private static @Nullable String queue(Trigger trigger) {
        Trigger.SourceKey source = trigger.identifiers().sourceKey();
        String name = source == null ? null : source.serialKey();
        return name == null ? null : EffectLedger.digest("door", trigger.workflow().workflowId() + "\n" + name);
    }

    private static NewRun.StartConditions.@Nullable RateLimit rate(Trigger trigger, ConcurrencyControl.@Nullable RateLimit limit) {
        return limit == null
                ? null
                : new NewRun.StartConditions.RateLimit(name(trigger, limit.key()), micros(limit.per()) / limit.count(), limit.count());
    }

    /**
     * A debounced run already has its queue slots and its share of the rate limit.
     * So it absorbs only triggers that need the same ones: all of them are part of its debounce key.
     */
    private static NewRun.StartConditions.DebounceWindow debounce(Trigger trigger, ConcurrencyControl.Debounce debounce, NewRun.StartConditions others) {
        List<String> taken = new ArrayList<>();
        others.queueLimits().forEach(place -> taken.add(place.queue()));
        if (others.rateLimit() != null) {
            taken.add(others.rateLimit().name());
        }
        String name = name(trigger, debounce.key());
        return new NewRun.StartConditions.DebounceWindow(
                taken.isEmpty() ? name : EffectLedger.digest("debounce", name + "\n" + String.join("\n", taken)),
                micros(debounce.quiet()),
                micros(debounce.atMost()));
    }

    private static long micros(Duration time) {
        return time.toNanos() / 1_000;
    }

    private static String name(Trigger trigger, ConcurrencyControl.ConcurrencyKey key) {
        String text = trigger.workflow().workflowId() + "\n" + key.derive(trigger.data());
        return EffectLedger.digest(key.setting(), text);
    }
}
