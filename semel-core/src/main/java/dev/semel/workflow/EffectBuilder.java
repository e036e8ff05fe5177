package dev.semel.workflow;

import dev.semel.definition.EffectRetryDefaults;
import dev.semel.definition.EffectSpec;
import dev.semel.definition.JavaWorkflowJsonAdapter;
import dev.semel.definition.StepSpec;
import dev.semel.effect.EffectDuplicateProtection;
import dev.semel.idempotency.CanonicalJsonWriter;
import dev.semel.json.SizeLimits;
import dev.semel.policy.ChangedEffectDataPolicy;
import java.math.BigDecimal;
import java.nio.charset.StandardCharsets;
import java.time.Duration;
import java.util.List;
import java.util.stream.IntStream;
import org.jspecify.annotations.Nullable;

/**
 * Builds a side effect in an external system: key, retries, timeout and, last, its protection.
 * The protection decides what Semel does when a crash or a lost response leaves the outcome unknown. Choose the first
 * that applies: {@link #lookup}, {@link #providerHonoursKey}, {@link #repeatable}, {@link #askOnDoubt},
 * {@link #atMostOnce}.
 */
public final class EffectBuilder {
    /** Maximum length of an effect key, in UTF-8 bytes. */
    public static final int MAX_KEY_BYTES = SizeLimits.DEFAULT.effectKey();

    private static final int LONGEST_SCALE = 100;

    private final JavaWorkflowJsonAdapter wire;
    private StepSpec plan;
    private @Nullable Key key;
    private @Nullable String recipient;
    private EffectSpec.BusinessRecord marks = EffectSpec.BusinessRecord.NONE;
    private ReviewOptions reviewOptions = ReviewOptions.DEFAULT;
    private @Nullable Duration window;
    private byte @Nullable [] data;
    private @Nullable ChangedEffectDataPolicy onChange;
    private List<Integer> alreadyDone = List.of();
    private boolean declaresRetry;
    private boolean hasAlternative;

    EffectBuilder(JavaWorkflowJsonAdapter wire, String name) {
        JavaWorkflowJsonAdapter.requireNotBlank("its name", name);
        this.wire = wire;
        this.plan = StepSpec.named(name);
    }

    /**
     * The parts that identify the effect, for example {@code key("receipt", payment.id(), "v3")}. Default: the step id,
     * which means once per lineage of the run. Semel rejects null, empty and unstable parts, because different effects
     * would share one key.
     */
    public EffectBuilder key(@Nullable Object... parts) {
        try {
            key = Key.joinEscaped(parts);
        } catch (IllegalArgumentException e) {
            throw invalid(e.getMessage());
        }
        return this;
    }

    /** Counts the effect per recipient: the recipient becomes the last part of the key. */
    public EffectBuilder to(String value) {
        recipient = value;
        return this;
    }

    /** What the effect does, which defines when a safe replay treats it as already handled. Default: create. */
    public EffectBuilder does(EffectOperation value) {
        marks = new EffectSpec.BusinessRecord(value, marks.object(), marks.worth());
        return this;
    }

    /** The business object that the effect writes, for example {@code object("payment", id)}. */
    public EffectBuilder object(String kind, @Nullable Object id) {
        try {
            marks = new EffectSpec.BusinessRecord(
                    marks.does(), Key.joinEscaped(kind, id).text(), marks.worth());
        } catch (IllegalArgumentException e) {
            throw invalid("in object(…), " + e.getMessage());
        }
        return this;
    }

    /** The amount that a duplicate would cost, for example {@code worth(payment.amount(), "EUR")}. */
    public EffectBuilder worth(Number amount, String currency) {
        if (!Double.isFinite(amount.doubleValue()) && !(amount instanceof BigDecimal)) {
            throw invalid("the amount of worth(amount, currency) is not a finite number");
        }
        if (currency.isBlank() || currency.length() > 16) {
            throw invalid("the currency of worth(amount, currency) must have 1 to 16 characters");
        }
        boolean plain = amount instanceof BigDecimal exact && Math.abs((long) exact.scale()) <= LONGEST_SCALE;
        String digits = plain ? ((BigDecimal) amount).toPlainString() : amount.toString();
        marks = new EffectSpec.BusinessRecord(marks.does(), marks.object(), digits + " " + currency);
        return this;
    }

    /** Sends the same key once within this time, across all runs; 1 second to 365 days. Requires {@link #key}. */
    public EffectBuilder oncePer(Duration value) {
        window = value;
        return this;
    }

    /** The data of the effect; inside {@link #oncePer} Semel compares them with the last accepted effect of the key. */
    public EffectBuilder data(@Nullable Object value) {
        data = CanonicalJsonWriter.bytes(wire.codec().write(value, "the data of " + what()));
        return this;
    }

    /** What Semel does if {@link #data} differ inside {@link #oncePer}: send, suppress or review. Default: send. */
    public EffectBuilder onChange(ChangedEffectDataPolicy value) {
        onChange = value;
        return this;
    }

    /**
     * The retry policy. Default: with {@link #providerHonoursKey}, backoff of at most 5 minutes until 80 % of the
     * provider's window has passed; with {@link #lookup} and {@link #repeatable}, the same backoff for 24 hours; else
     * {@link Retry#STANDARD}. With {@link #atMostOnce} and {@link #askOnDoubt} Semel retries only attempts that were
     * certainly not sent.
     */
    public EffectBuilder retry(Retry value) {
        plan = plan.retry(value);
        declaresRetry = true;
        return this;
    }

    /**
     * The workflow has an alternative, which it takes when this effect throws {@link dev.semel.error.StepFailed}. Without
     * a declared {@link #retry}, Semel then gives up after five attempts, as long as certainly none of them was sent.
     */
    public EffectBuilder withAlternative() {
        hasAlternative = true;
        return this;
    }

    /** Maximum duration of one attempt; afterwards the attempt counts as sent with an unknown outcome. */
    public EffectBuilder timeout(Duration value) {
        plan = plan.timeout(JavaWorkflowJsonAdapter.requirePositive(what(), "its timeout", value));
        return this;
    }

    /** Names of this effect in earlier versions of the code, so that unfinished runs find their records. */
    public EffectBuilder formerly(String... names) {
        plan = plan.formerly(names);
        return this;
    }

    /** The review that Semel opens when the effect is in doubt or its message has changed. */
    public EffectBuilder reviewOptions(ReviewOptions value) {
        reviewOptions = value;
        return this;
    }

    /** HTTP statuses that mean "already done" and count as success, for example 409. Default: none. */
    public EffectBuilder alreadyDone(int... statuses) {
        if (IntStream.of(statuses).anyMatch(status -> status < 100 || status > 599)) {
            throw invalid("a status in alreadyDone(…) is not between 100 and 599");
        }
        alreadyDone = IntStream.of(statuses).boxed().toList();
        return this;
    }

    /** The effect is safe to repeat, for example because it only reads. After a crash Semel sends it again. */
    public Effect repeatable(String why) {
        requireNotBlank("the reason in repeatable(…)", why);
        return new Effect(wire, plan(new EffectDuplicateProtection.Repeatable(why)));
    }

    /**
     * The provider accepts {@link Step#key} as an idempotency key and remembers it for this time. Semel re-sends with
     * the same key inside that window; after it an unknown outcome is in doubt.
     */
    public Effect providerHonoursKey(Duration remembered) {
        JavaWorkflowJsonAdapter.requirePositive(what(), "the provider's window", remembered);
        return new Effect(wire, plan(new EffectDuplicateProtection.ProviderKey(remembered)));
    }

    /** The provider can report the result for a key; Semel queries it before it sends again. */
    public <T extends @Nullable Object> LookupBeforeRetryEffect<T> lookup(
            Class<T> type, LookupBeforeRetryEffect.ProviderLookup<T> lookup) {
        return lookup(TypeRef.of(type), lookup);
    }

    public <T extends @Nullable Object> LookupBeforeRetryEffect<T> lookup(
            TypeRef<T> type, LookupBeforeRetryEffect.ProviderLookup<T> lookup) {
        return new LookupBeforeRetryEffect<>(wire, plan(new EffectDuplicateProtection.Lookup()), type, lookup);
    }

    /**
     * Semel never sends the effect again; the workflow receives an unknown outcome as {@link EffectOutcome.Indeterminate}.
     */
    public AtMostOnceEffect atMostOnce() {
        return new AtMostOnceEffect(wire, plan(new EffectDuplicateProtection.AtMostOnce()));
    }

    /** If the outcome is unknown, the run waits for the decision of a user, for example {@code role:support}. */
    public Effect askOnDoubt(String who) {
        requireNotBlank("the reviewer in askOnDoubt(…)", who);
        return new Effect(wire, plan(new EffectDuplicateProtection.Ask(who)));
    }

    private EffectSpec plan(EffectDuplicateProtection protection) {
        StepSpec step = declaresRetry
                ? plan
                : plan.retry(
                        hasAlternative
                                ? EffectRetryDefaults.withAlternative(protection)
                                : EffectRetryDefaults.of(protection));
        return new EffectSpec(step, wholeKey(), protection, once(), marks, alreadyDone, reviewOptions);
    }

    private @Nullable String wholeKey() {
        if (recipient == null) {
            return key == null ? null : bounded(key.text());
        }
        try {
            String front = key == null ? wire.operations().stepId(plan.name()) : key.text();
            return bounded(front + ":" + Key.joinEscaped(recipient).text());
        } catch (IllegalArgumentException e) {
            throw invalid("its recipient is empty or not Unicode text");
        }
    }

    private String bounded(String text) {
        int bytes = text.getBytes(StandardCharsets.UTF_8).length;
        if (bytes > MAX_KEY_BYTES) {
            throw invalid("its key has " + bytes + " bytes; the maximum is " + MAX_KEY_BYTES);
        }
        return text;
    }

    private EffectSpec.@Nullable OncePerWindow once() {
        if (window == null) {
            if (data != null || onChange != null) {
                throw invalid("data(…) and onChange(…) require oncePer(…)");
            }
            return null;
        }
        if (key == null) {
            throw invalid("oncePer(…) requires key(…), because the default key is different in every run");
        }
        try {
            ChangedEffectDataPolicy change = onChange == null ? ChangedEffectDataPolicy.SEND : onChange;
            return data == null
                    ? EffectSpec.OncePerWindow.keyOnly(window, change)
                    : EffectSpec.OncePerWindow.of(window, data, change);
        } catch (IllegalArgumentException e) {
            throw invalid("in oncePer(…), " + e.getMessage());
        }
    }

    private void requireNotBlank(String what, String value) {
        if (value.isBlank()) {
            throw invalid(what + " is empty");
        }
    }

    private String what() {
        return "effect \"" + plan.name() + "\"";
    }

    private RuntimeException invalid(@Nullable String why) {
        return JavaWorkflowJsonAdapter.invalidCode("Effect \"" + plan.name() + "\"", why)
                .with("step", plan.name());
    }
}
