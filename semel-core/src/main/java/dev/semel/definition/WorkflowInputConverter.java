package dev.semel.definition;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.idempotency.FingerprintField;
import dev.semel.idempotency.IdempotencyKey;
import dev.semel.json.JsonCodec;
import dev.semel.json.JsonTypeMismatch;
import dev.semel.workflow.Key;
import java.lang.reflect.Type;
import java.util.List;
import java.util.Map;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

public record WorkflowInputConverter<I>(String workflow, Type type, JsonCodec codec) {
    /** An accessor with the name that users see, and the JSON member that it reads if it reads exactly one. */
    public record InputField<I>(String name, @Nullable String member, Function<I, ?> accessor) {}

    I read(JsonNode data) {
        try {
            return convert(data);
        } catch (JsonTypeMismatch e) {
            String pointer = "/data" + e.pointer();
            throw new SemelException(
                            ErrorCode.INVALID_INPUT,
                            "The data do not match the input type of workflow \"" + workflow + "\" at " + pointer + ": "
                                    + e.rule() + ". No run was started.",
                            "Correct the data and send them again. The key is still unused.")
                    .with("errors", List.of(Map.of("pointer", pointer, "message", e.rule())));
        }
    }

    /**
     * If the data do not match the type or the accessor fails, the raw member is used. Such data are never admitted as
     * fresh; for a repeat, the conflict rule applies instead of a validation error.
     */
    public FingerprintField fingerprintField(InputField<I> field) {
        return new FingerprintField(field.name(), data -> {
            try {
                return value(field, convert(data));
            } catch (JsonTypeMismatch | RuntimeException e) {
                return field.member() == null ? data : data.path(field.member());
            }
        });
    }

    /** The input of an admitted run, possibly written by an earlier version of the code. */
    public I readRecorded(JsonNode data) {
        try {
            return convert(data);
        } catch (JsonTypeMismatch e) {
            throw codec.unreadableError("The input of workflow \"" + workflow + "\"", type, e);
        }
    }

    /** Recorded data as the current type would write them; unchanged if they no longer match the type. */
    JsonNode normalize(JsonNode data) {
        try {
            return codec.write(convert(data), "the input of workflow \"" + workflow + "\"");
        } catch (JsonTypeMismatch | RuntimeException e) {
            return data;
        }
    }

    /** Rejects data that do not match the type or whose fingerprint cannot be computed. */
    void check(JsonNode data, List<InputField<I>> fields) {
        I input = read(data);
        for (InputField<I> field : fields) {
            try {
                value(field, input);
            } catch (RuntimeException e) {
                throw new SemelException(
                        ErrorCode.INVALID_INPUT,
                        "The fingerprint of workflow \"" + workflow + "\" cannot be computed: reading " + field.name()
                                + " failed with " + e.getClass().getSimpleName() + ". No run was started.",
                        "Send data that contain this field, or correct the workflow. The key is still unused.");
            }
        }
    }

    /** Derives the key from the data. Throws if there is none, because a run without it could be a silent duplicate. */
    String derivedKey(JsonNode data, Function<I, ?> accessor) {
        Object made;
        try {
            made = accessor.apply(convert(data));
        } catch (JsonTypeMismatch e) {
            throw noKey("the data do not match the input type at /data" + e.pointer() + ": " + e.rule());
        } catch (RuntimeException e) {
            throw noKey("the code of keyedBy failed with " + e.getClass().getSimpleName());
        }
        if (made == null || made.toString().isBlank()) {
            throw noKey("keyedBy returned nothing for these data");
        }
        try {
            return IdempotencyKey.of(Key.of(made).text().strip()).text();
        } catch (IllegalArgumentException | SemelException e) {
            throw new SemelException(
                    ErrorCode.IDEMPOTENCY_KEY_INVALID,
                    "The key that workflow \"" + workflow + "\" derived (keyedBy) is not valid: it must have 1 to"
                            + " 255 visible ASCII characters. No run was started.",
                    "Return a short id from keyedBy. Or return Key.of(…) with two or more parts: Semel then escapes"
                            + " all characters that are not visible ASCII.");
        }
    }

    public ConcurrencyControl.ConcurrencyKey concurrencyKey(String gate, InputField<I> field) {
        return new ConcurrencyControl.ConcurrencyKey(gate, field.name(), data -> {
            Object made = field.accessor().apply(read(data));
            return made == null || made.toString().isBlank()
                    ? null
                    : Key.of(made).text();
        });
    }

    private JsonNode value(InputField<I> field, I input) {
        return codec.write(field.accessor().apply(input), "field " + field.name());
    }

    @SuppressWarnings("NullAway") // a workflow without input has the type Void, whose only value is null
    private I convert(JsonNode data) throws JsonTypeMismatch {
        I input = codec.convert(data, type);
        if (input == null && type != Void.class) {
            throw JsonTypeMismatch.missing(type);
        }
        return input;
    }

    private SemelException noKey(String because) {
        return new SemelException(
                ErrorCode.IDEMPOTENCY_KEY_REQUIRED,
                "Workflow \"" + workflow + "\" derives its key from the data (keyedBy), but these data give no key: "
                        + because + ". No run was started.",
                "Send the field that the key is derived from, or send an Idempotency-Key.");
    }
}
