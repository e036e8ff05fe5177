package dev.semel.trials.chaos.checks;

/** The names of the effects, which both the workflows and the judge know. */
public final class EffectStepNames {
    /** provider_key, to a receiver that knows its keys. */
    public static final String CHARGE = "charge";
    /** at_most_once. */
    public static final String LETTER = "letter";
    /** A sleep, right before the parcel. */
    public static final String NAP = "nap";
    /** lookup, to a receiver that accepts everything again. */
    public static final String PARCEL = "parcel";
    /** repeatable. */
    public static final String PING = "ping";
    /** ask. */
    public static final String ASKED = "asked";
    /** One key for several runs. */
    public static final String SHARED = "shared";

    private EffectStepNames() {}
}
