package dev.semel.json;

import java.lang.reflect.Type;
import java.util.stream.Collectors;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.exc.MismatchedInputException;
import tools.jackson.databind.exc.ValueInstantiationException;

/** A value does not fit a type: where, and what is expected there. Holds no value and no message of Jackson's. */
public final class Misfit extends Exception {
    private static final int LONGEST_POINTER = 256;

    private final String pointer;
    private final String rule;

    private Misfit(String pointer, String rule) {
        super(rule, null, false, false);
        this.pointer = pointer;
        this.rule = rule;
    }

    static Misfit of(JacksonException e) {
        String rule = switch (e) {
            case ValueInstantiationException refused ->
                "the constructor of " + Codec.nameOf(refused.getType().getRawClass()) + " refused it";
            case MismatchedInputException expected
            when expected.getTargetType() != null -> Codec.nameOf(expected.getTargetType()) + " is expected there";
            default -> "it does not fit";
        };
        return new Misfit(pointer(e), rule);
    }

    /** Null where a value is needed. */
    public static Misfit missing(Type type) {
        return new Misfit("", Codec.nameOf(type) + " is expected there");
    }

    /** JSON Pointer from the value; empty where the value itself does not fit. */
    public String pointer() {
        return pointer;
    }

    public String rule() {
        return rule;
    }

    /** To be put behind what did not fit. */
    String where() {
        return pointer.isEmpty() ? ": " + rule : ", at " + pointer + ": " + rule;
    }

    static String pointer(JacksonException e) {
        String pointer = e.getPath().stream()
                .map(part -> part.getPropertyName() == null ? String.valueOf(part.getIndex()) : part.getPropertyName())
                .map(name -> "/" + name.replace("~", "~0").replace("/", "~1"))
                .collect(Collectors.joining());
        return ShownName.of(pointer, LONGEST_POINTER);
    }

    /** Why a value could not be written, in our words, to be put behind it. */
    static String unwritable(JacksonException e) {
        Throwable cause = e.getCause();
        String rule = cause == null || cause instanceof JacksonException
                ? "there is something without a JSON form"
                : "reading it from its object failed with " + cause.getClass().getName();
        return new Misfit(pointer(e), rule).where();
    }
}
