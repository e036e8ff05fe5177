package dev.semel.admission;

import dev.semel.definition.ConcurrencyControl;
import dev.semel.effect.EffectLedger;
import dev.semel.run.MicrosecondConverter;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

public final class ConcurrencyAndRateLimitCalculator {
    private ConcurrencyAndRateLimitCalculator() {}

    /** Returns null if the run may start at once. */
    public static @Nullable StartConditions startGate(Trigger trigger) {
        ConcurrencyControl concurrency = trigger.workflow().options().concurrency();
        String ownQueue = queue(trigger);
        if (concurrency.equals(ConcurrencyControl.NONE) && ownQueue == null) {
            return trigger.delay() == 0 ? null : new StartConditions(List.of(), null, trigger.delay(), null);
        }
        List<StartConditions.QueueLimit> queueLimits = new ArrayList<>();
        if (ownQueue != null) {
            queueLimits.add(new StartConditions.QueueLimit(ownQueue, 1));
        }
        if (concurrency.serialBy() != null) {
            queueLimits.add(new StartConditions.QueueLimit(name(trigger, concurrency.serialBy()), 1));
        }
        if (concurrency.maxConcurrent() != null) {
            String queue = maxConcurrentQueue(trigger.workflow().workflowId());
            queueLimits.add(new StartConditions.QueueLimit(queue, concurrency.maxConcurrent(), true));
        }
        StartConditions conditions =
                new StartConditions(queueLimits, rate(trigger, concurrency.rateLimit()), trigger.delay(), null);
        // A replay is not debounced: another run would absorb it, with a different journal.
        return concurrency.debounce() == null || trigger.links().replayOf() != null
                ? conditions
                : new StartConditions(
                        queueLimits,
                        conditions.rateLimit(),
                        trigger.delay(),
                        debounce(trigger, concurrency.debounce(), conditions));
    }

    public static String maxConcurrentQueue(String workflowId) {
        return EffectLedger.digest("max", workflowId);
    }

    /** Queue of triggers from one source that run one after another; null if they need not. */
    private static @Nullable String queue(Trigger trigger) {
        Trigger.SourceKey source = trigger.identifiers().sourceKey();
        String name = source == null ? null : source.serialKey();
        return name == null
                ? null
                : EffectLedger.digest("source", trigger.workflow().workflowId() + "\n" + name);
    }

    private static StartConditions.@Nullable RateLimit rate(
            Trigger trigger, ConcurrencyControl.@Nullable RateLimit limit) {
        return limit == null
                ? null
                : new StartConditions.RateLimit(
                        name(trigger, limit.key()),
                        MicrosecondConverter.of(limit.per()) / limit.count(),
                        limit.count());
    }

    /** All slots of a debounced run are in its debounce key, so it absorbs only triggers that need the same ones. */
    private static StartConditions.DebounceWindow debounce(
            Trigger trigger, ConcurrencyControl.Debounce debounce, StartConditions others) {
        List<String> taken = new ArrayList<>();
        others.queueLimits().forEach(queueLimit -> taken.add(queueLimit.queue()));
        if (others.rateLimit() != null) {
            taken.add(others.rateLimit().name());
        }
        String name = name(trigger, debounce.key());
        return new StartConditions.DebounceWindow(
                taken.isEmpty() ? name : EffectLedger.digest("debounce", name + "\n" + String.join("\n", taken)),
                MicrosecondConverter.of(debounce.quiet()),
                MicrosecondConverter.of(debounce.atMost()));
    }

    private static String name(Trigger trigger, ConcurrencyControl.ConcurrencyKey key) {
        String text = trigger.workflow().workflowId() + "\n" + key.derive(trigger.data());
        return EffectLedger.digest(key.setting(), text);
    }
}
