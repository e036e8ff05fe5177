package dev.semel.engine;

import dev.semel.store.NewRun;
import dev.semel.trigger.Trigger;
import dev.semel.workflow.Gates;
import java.time.Duration;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** What a trigger's run must wait for before it starts, by its workflow's gates and its data. */
final class Gatekeeper {
    private Gatekeeper() {}

    /** Null: nothing. */
    static NewRun.@Nullable Gate gate(Trigger trigger) {
        Gates gates = trigger.workflow().extras().gates();
        if (gates.equals(Gates.NONE)) {
            return null;
        }
        List<NewRun.Gate.Place> places = new ArrayList<>();
        if (gates.serialBy() != null) {
            places.add(new NewRun.Gate.Place(name(trigger, gates.serialBy()), 1));
        }
        if (gates.maxConcurrent() != null) {
            String queue = EffectName.digest("max", trigger.workflow().workflowId());
            places.add(new NewRun.Gate.Place(queue, gates.maxConcurrent()));
        }
        return new NewRun.Gate(places, rate(trigger, gates.rateLimit()), 0, debounce(trigger, gates.debounce()));
    }

    private static NewRun.Gate.@Nullable Rate rate(Trigger trigger, Gates.@Nullable RateLimit limit) {
        return limit == null
                ? null
                : new NewRun.Gate.Rate(name(trigger, limit.key()), micros(limit.per()) / limit.count(), limit.count());
    }

    private static NewRun.Gate.@Nullable Debounce debounce(Trigger trigger, Gates.@Nullable Debounce debounce) {
        return debounce == null
                ? null
                : new NewRun.Gate.Debounce(
                        name(trigger, debounce.key()), micros(debounce.quiet()), micros(debounce.atMost()));
    }

    private static long micros(Duration time) {
        return time.toNanos() / 1_000;
    }

    private static String name(Trigger trigger, Gates.GateKey key) {
        String text = trigger.workflow().workflowId() + "\n" + key.of(trigger.data());
        return EffectName.digest(key.gate(), text);
    }
}
