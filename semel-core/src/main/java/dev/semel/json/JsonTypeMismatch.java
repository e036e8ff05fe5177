package dev.semel.json;

import java.lang.reflect.Type;
import java.util.stream.Collectors;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.exc.MismatchedInputException;
import tools.jackson.databind.exc.ValueInstantiationException;

/** Names the JSON path and the expected type, never a value or Jackson's message. */
public final class JsonTypeMismatch extends Exception {
    private static final int LONGEST_POINTER = 256;

    private final String pointer;
    private final String rule;

    private JsonTypeMismatch(String pointer, String rule) {
        super(rule, null, false, false);
        this.pointer = pointer;
        this.rule = rule;
    }

    static JsonTypeMismatch of(JacksonException e) {
        String rule = switch (e) {
            case ValueInstantiationException rejected ->
                "the constructor of " + JsonCodec.nameOf(rejected.getType().getRawClass()) + " rejected it";
            case MismatchedInputException expected
            when expected.getTargetType() != null -> JsonCodec.nameOf(expected.getTargetType()) + " is expected there";
            default -> "the value does not match the type";
        };
        return new JsonTypeMismatch(pointer(e), rule);
    }

    public static JsonTypeMismatch missing(Type type) {
        return new JsonTypeMismatch("", JsonCodec.nameOf(type) + " is expected there");
    }

    /** JSON Pointer relative to the value; empty if the value itself does not fit. */
    public String pointer() {
        return pointer;
    }

    public String rule() {
        return rule;
    }

    /** Suffix for an error message. */
    String where() {
        return pointer.isEmpty() ? ": " + rule : ", at " + pointer + ": " + rule;
    }

    static String pointer(JacksonException e) {
        String pointer = e.getPath().stream()
                .map(part -> part.getPropertyName() == null ? String.valueOf(part.getIndex()) : part.getPropertyName())
                .map(name -> "/" + name.replace("~", "~0").replace("/", "~1"))
                .collect(Collectors.joining());
        return UntrustedNameLogSanitizer.of(pointer, LONGEST_POINTER);
    }

    /** The reason why a value could not be written, as a suffix for an error message. */
    static String unwritable(JacksonException e) {
        Throwable cause = e.getCause();
        String rule = cause == null || cause instanceof JacksonException
                ? "it contains a value without a JSON form"
                : "its Java accessor threw " + cause.getClass().getName();
        return new JsonTypeMismatch(pointer(e), rule).where();
    }
}
