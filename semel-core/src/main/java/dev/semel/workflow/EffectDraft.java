package dev.semel.workflow;

import dev.semel.effect.Protection;
import dev.semel.key.CanonicalJson;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.security.MessageDigest;
import java.security.NoSuchAlgorithmException;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * A deed in the outside world, in the making. It cannot be done before its protection is chosen: that choice says what
 * happens when a crash or a lost answer leaves it open whether the deed was done. Choose the first that holds:
 * {@link #lookup}, {@link #providerHonoursKey}, {@link #repeatable}, {@link #askOnDoubt}, {@link #atMostOnce}.
 */
public final class EffectDraft {
    /** UTF-8 bytes of an effect key. */
    public static final int LONGEST_KEY = 64 * 1024;

    private static final int LONGEST_SCALE = 100;

    private final Wire wire;
    private StepPlan plan;
    private @Nullable Key key;
    private @Nullable String recipient;
    private EffectPlan.Marks marks = EffectPlan.Marks.NONE;
    private Asking asking = Asking.PLAIN;
    private @Nullable Duration window;
    private byte @Nullable [] data;
    private EffectPlan.@Nullable OnChange onChange;
    private List<Integer> alreadyDone = List.of();

    EffectDraft(Wire wire, String name) {
        Wire.refuseBlank("its name", name);
        this.wire = wire;
        this.plan = StepPlan.named(name).retry(Retry.STANDARD);
    }

    /**
     * What defines the deed, e.g. {@code key("receipt", payment.id(), "v3")}. Without it the key is the step id: once
     * per lineage of the run. Null, empty and unstable parts are refused, because unlike deeds would share one key.
     */
    public EffectDraft key(@Nullable Object... parts) {
        try {
            key = Key.joined(parts);
        } catch (IllegalArgumentException e) {
            throw refused(e.getMessage());
        }
        return this;
    }

    /** Counts the deed for each recipient by itself: the recipient becomes the last part of the key. */
    public EffectDraft to(String value) {
        recipient = value;
        return this;
    }

    /** What "already handled" means: create (the default), update or notify. */
    public EffectDraft does(EffectPlan.Does value) {
        marks = new EffectPlan.Marks(value, marks.object(), marks.worth());
        return this;
    }

    /** The business object that is written, e.g. {@code object("payment", id)}. */
    public EffectDraft object(String kind, @Nullable Object id) {
        try {
            marks = new EffectPlan.Marks(marks.does(), Key.joined(kind, id).text(), marks.worth());
        } catch (IllegalArgumentException e) {
            throw refused("in object(…), " + e.getMessage());
        }
        return this;
    }

    /** What a duplicate would have cost, e.g. {@code worth(payment.amount(), "EUR")}. */
    public EffectDraft worth(Number amount, String currency) {
        if (!Double.isFinite(amount.doubleValue()) && !(amount instanceof BigDecimal)) {
            throw refused("its worth is not a finite number");
        }
        if (currency.isBlank() || currency.length() > 16) {
            throw refused("the currency of its worth has 1 to 16 characters");
        }
        boolean plain = amount instanceof BigDecimal exact && Math.abs((long) exact.scale()) <= LONGEST_SCALE;
        String digits = plain ? ((BigDecimal) amount).toPlainString() : amount.toString();
        marks = new EffectPlan.Marks(marks.does(), marks.object(), digits + " " + currency);
        return this;
    }

    /** The same key is sent once within this time, across all runs; 1 second to 365 days. Needs {@link #key}. */
    public EffectDraft oncePer(Duration value) {
        window = value;
        return this;
    }

    /** What is sent: inside {@link #oncePer} it is compared with what was last accepted under the key. */
    public EffectDraft data(@Nullable Object value) {
        try {
            byte[] canonical = CanonicalJson.bytes(wire.codec().write(value, "the data of " + what()));
            data = MessageDigest.getInstance("SHA-256").digest(canonical);
        } catch (NoSuchAlgorithmException e) {
            throw new IllegalStateException("every JDK has SHA-256", e);
        }
        return this;
    }

    /** What happens inside {@link #oncePer} when {@link #data} differ: send (the default), suppress or review. */
    public EffectDraft onChange(EffectPlan.OnChange value) {
        onChange = value;
        return this;
    }

    /**
     * Instead of {@link Retry#STANDARD}. Under {@link #atMostOnce} and {@link #askOnDoubt} only what certainly was not
     * sent is tried again.
     */
    public EffectDraft retry(Retry value) {
        plan = plan.retry(value);
        return this;
    }

    /** Longest time of one attempt; after it the attempt counts as sent with an unknown outcome. */
    public EffectDraft timeout(Duration value) {
        plan = plan.timeout(Wire.positive(what(), "its timeout", value));
        return this;
    }

    /** Names this effect had in earlier versions of the code, so that runs in flight find their records. */
    public EffectDraft formerly(String... names) {
        plan = plan.formerly(names);
        return this;
    }

    /** What people are asked when the outcome is not known or the message has changed, and by when. */
    public EffectDraft asking(Asking value) {
        asking = value;
        return this;
    }

    /** HTTP statuses of a {@link Failures.Status} by which the provider says that it was done before; none by default. */
    public EffectDraft alreadyDone(int... statuses) {
        if (IntStream.of(statuses).anyMatch(status -> status < 100 || status > 599)) {
            throw refused("a status of alreadyDone(…) is not between 100 and 599");
        }
        alreadyDone = IntStream.of(statuses).boxed().toList();
        return this;
    }

    /** Doing it twice does no harm, e.g. because it only reads. After a crash it is done again. */
    public Effect repeatable(String why) {
        refuseBlank("the reason of repeatable(…)", why);
        return new Effect(wire, plan(new Protection.Repeatable(why)));
    }

    /** The provider takes {@link Step#key} as an idempotency key and remembers it that long. Later it is in doubt. */
    public Effect providerHonoursKey(Duration remembered) {
        Wire.positive(what(), "the provider's window", remembered);
        return new Effect(wire, plan(new Protection.ProviderKey(remembered)));
    }

    /** The provider can be asked what became of a key, and is asked before anything is sent again. */
    public <T> LookupEffect<T> lookup(Class<T> type, Code.Lookup<T> lookup) {
        return lookup(TypeRef.of(type), lookup);
    }

    public <T> LookupEffect<T> lookup(TypeRef<T> type, Code.Lookup<T> lookup) {
        return new LookupEffect<>(wire, plan(new Protection.Lookup()), type, lookup);
    }

    /** Never sent again. Where the outcome is unknown the workflow is told so, and decides. */
    public AtMostOnceEffect atMostOnce() {
        return new AtMostOnceEffect(wire, plan(new Protection.AtMostOnce()));
    }

    /** Where the outcome is unknown the run waits for a person, e.g. {@code role:support}. */
    public Effect askOnDoubt(String who) {
        refuseBlank("whom askOnDoubt(…) asks", who);
        return new Effect(wire, plan(new Protection.Ask(who)));
    }

    private EffectPlan plan(Protection protection) {
        return new EffectPlan(plan, wholeKey(), protection, once(), marks, alreadyDone, asking);
    }

    private @Nullable String wholeKey() {
        if (recipient == null) {
            return key == null ? null : bounded(key.text());
        }
        try {
            String front = key == null ? wire.durable().stepId(plan.name()) : key.text();
            return bounded(front + ":" + Key.joined(recipient).text());
        } catch (IllegalArgumentException e) {
            throw refused("its recipient is empty or not Unicode text");
        }
    }

    private String bounded(String text) {
        int bytes = text.getBytes(StandardCharsets.UTF_8).length;
        if (bytes > LONGEST_KEY) {
            throw refused("its key has " + bytes + " bytes, and " + LONGEST_KEY + " are allowed");
        }
        return text;
    }

    private EffectPlan.@Nullable Once once() {
        if (window == null) {
            if (data != null || onChange != null) {
                throw refused("data(…) and onChange(…) are about repeats across runs, and it has no oncePer(…)");
            }
            return null;
        }
        if (key == null) {
            throw refused("oncePer(…) counts across runs, and without key(…) its key is new in every run");
        }
        try {
            return new EffectPlan.Once(window, data, onChange == null ? EffectPlan.OnChange.SEND : onChange);
        } catch (IllegalArgumentException e) {
            throw refused("in oncePer(…), " + e.getMessage());
        }
    }

    private void refuseBlank(String what, String value) {
        if (value.isBlank()) {
            throw refused(what + " is empty");
        }
    }

    private String what() {
        return "effect \"" + plan.name() + "\"";
    }

    private RuntimeException refused(@Nullable String why) {
        return Wire.refused("Effect \"" + plan.name() + "\"", why).with("step", plan.name());
    }
}
