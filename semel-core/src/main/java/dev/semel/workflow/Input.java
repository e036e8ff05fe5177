package dev.semel.workflow;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.Codec;
import dev.semel.json.Misfit;
import dev.semel.key.FingerprintField;
import dev.semel.key.IdempotencyKey;
import java.lang.reflect.Type;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** The input of a workflow: how `data` become the type it asks for, and what is taken out of it before a run starts. */
record Input<I>(String workflow, Type type, Codec codec) {
    /** What the accessor of a field is called by people, and the member it stands for where it stands for one. */
    record Field<I>(String name, @Nullable String member, Function<I, ?> accessor) {}

    I read(JsonNode data) {
        try {
            return fitted(data);
        } catch (Misfit e) {
            String pointer = "/data" + e.pointer();
            throw new SemelException(
                            ErrorCode.INVALID_INPUT,
                            "The data do not fit the input of workflow \"" + workflow + "\" at " + pointer + ": "
                                    + e.rule() + ". No run was started.",
                            "Correct the data and send them again; the key is still free.")
                    .with("errors", List.of(Map.of("pointer", pointer, "message", e.rule())));
        }
    }

    /**
     * A field of the fingerprint. Where the data do not fit, or the accessor fails, the member counts as it came: such
     * data are never admitted, so a repeat of what was admitted is still told apart from a change, by the conflict rule
     * and not by a complaint about its form.
     */
    FingerprintField fingerprint(Field<I> field) {
        return new FingerprintField(field.name(), data -> {
            try {
                return value(field, fitted(data));
            } catch (Misfit | RuntimeException e) {
                return field.member() == null ? data : data.path(field.member());
            }
        });
    }

    /** The input of a run that was admitted, perhaps by an earlier version of the code. */
    I recorded(JsonNode data) {
        try {
            return fitted(data);
        } catch (Misfit e) {
            throw codec.unreadable("The input of workflow \"" + workflow + "\"", type, e);
        }
    }

    /** Recorded data as the type would write them now; as they are where they do not fit it any more. */
    JsonNode rewritten(JsonNode data) {
        try {
            return codec.write(fitted(data), "the input of workflow \"" + workflow + "\"");
        } catch (Misfit | RuntimeException e) {
            return data;
        }
    }

    /** Refuses data that cannot be read, or whose fingerprint cannot be taken. */
    void check(JsonNode data, List<Field<I>> fields) {
        I input = read(data);
        for (Field<I> field : fields) {
            try {
                value(field, input);
            } catch (RuntimeException e) {
                throw new SemelException(
                        ErrorCode.INVALID_INPUT,
                        "The fingerprint of workflow \"" + workflow + "\" cannot be taken: reading " + field.name()
                                + " failed with " + e.getClass().getSimpleName() + ". No run was started.",
                        "Send data that have this field, or correct the workflow; the key is still free.");
            }
        }
    }

    /** The key that the workflow makes itself. A run without it could be a silent double, so there is none. */
    String derivedKey(JsonNode data, Function<I, ?> accessor) {
        Object made;
        try {
            made = accessor.apply(fitted(data));
        } catch (Misfit e) {
            throw noKey("the data do not fit at /data" + e.pointer() + ": " + e.rule());
        } catch (RuntimeException e) {
            throw noKey("making it failed with " + e.getClass().getSimpleName());
        }
        if (made == null || made.toString().isBlank()) {
            throw noKey("the data have nothing to make it from");
        }
        try {
            return IdempotencyKey.of(Key.of(made).text().strip()).text();
        } catch (IllegalArgumentException | SemelException e) {
            throw new SemelException(
                    ErrorCode.IDEMPOTENCY_KEY_INVALID,
                    "The key that workflow \"" + workflow + "\" made itself (keyedBy) is not valid: it must have 1 to"
                            + " 255 visible ASCII characters. No run was started.",
                    "Let keyedBy return a short id, or Key.of(…) with several parts, which escapes others.");
        }
    }

    Gates.GateKey gateKey(String gate, Field<I> field) {
        return new Gates.GateKey(gate, field.name(), data -> {
            Object made = field.accessor().apply(read(data));
            return made == null || made.toString().isBlank()
                    ? null
                    : Key.of(made).text();
        });
    }

    private JsonNode value(Field<I> field, I input) {
        return codec.write(field.accessor().apply(input), "field " + field.name());
    }

    @SuppressWarnings("NullAway") // a workflow without input has the type Void, whose only value is null
    private I fitted(JsonNode data) throws Misfit {
        I input = codec.fitted(data, type);
        if (input == null && type != Void.class) {
            throw Misfit.missing(type);
        }
        return input;
    }

    private SemelException noKey(String because) {
        return new SemelException(
                ErrorCode.IDEMPOTENCY_KEY_REQUIRED,
                "Workflow \"" + workflow + "\" makes its key itself (keyedBy) but has none, because " + because
                        + ". No run was started.",
                "Send the field that the key is made of, or send an Idempotency-Key.");
    }
}
