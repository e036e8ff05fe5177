package dev.semel.server.language;

import dev.cel.common.CelErrorCode;
import dev.cel.runtime.CelEvaluationException;
import dev.cel.runtime.CelRuntime;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** One compiled `${ … }` expression of a workflow file. Thread-safe; evaluation has no side effects. */
public sealed interface Expression {
    /** Returns the value, or throws a {@link Failure} with the reason. */
    JsonNode evaluate(Scope scope, ResultSize size);

    /** The paths it reads, for warnings and messages. */
    List<FieldRef> reads();

    /**
     * A plain path such as `input.id`, read without the CEL engine.
     *
     * <p>It returns the original node, so a number of any size is copied without loss.
     */
    public record Plain(FieldRef path) implements Expression {
        @Override
        public JsonNode evaluate(Scope scope, ResultSize size) {
            JsonNode found = lookUp(path, scope);
            if (found == null) {
                throw new Failure(path + " is missing");
            }
            return size.counted(found);
        }

        @Override
        public List<FieldRef> reads() {
            return List.of(path);
        }
    }

    /** An expression that the CEL engine evaluates. */
    public record Computed(CelRuntime.Program program, List<FieldRef> reads) implements Expression {
        @Override
        public JsonNode evaluate(Scope scope, ResultSize size) {
            return Values.toJson(run(scope), size);
        }

        private Object run(Scope scope) {
            try {
                return ScopedValue.where(Budget.CURRENT, new Budget())
                        .call(() -> program.eval(name -> Optional.ofNullable(scope.variable(name))));
            } catch (CelEvaluationException e) {
                throw failure(e, scope);
            } catch (IndexOutOfBoundsException | ClassCastException | ArithmeticException e) {
                throw new Failure("its values have types that cannot be combined");
            }
        }

        /** The engine's message can contain values, so only its error code is used. */
        private Failure failure(CelEvaluationException e, Scope scope) {
            for (Throwable cause = e; cause != null; cause = cause.getCause()) {
                if (cause instanceof Failure ours) {
                    return ours;
                }
            }
            if (e.getErrorCode() == CelErrorCode.ATTRIBUTE_NOT_FOUND) {
                for (FieldRef path : reads) {
                    if (lookUp(path, scope) == null) {
                        return new Failure(path + " is missing");
                    }
                }
            }
            return new Failure(because(e.getErrorCode()));
        }

        private static String because(CelErrorCode code) {
            return switch (code) {
                case ATTRIBUTE_NOT_FOUND -> "a field that it reads is missing";
                case INDEX_OUT_OF_BOUNDS -> "a list index is out of range";
                case DIVIDE_BY_ZERO -> "it divides by zero";
                case NUMERIC_OVERFLOW -> "a number is out of the 64-bit range";
                case OVERLOAD_NOT_FOUND ->
                    "an operator or function does not accept the types of its values (convert with int(), double()"
                            + " or string())";
                case ITERATION_BUDGET_EXCEEDED -> "it needs more than " + Language.MOST_ITERATIONS + " iterations";
                case BAD_FORMAT -> "text could not be parsed as a number";
                case INVALID_ARGUMENT -> "an argument has the wrong type, or a conversion is out of range";
                case INTERNAL_ERROR, DUPLICATE_ATTRIBUTE, AMBIGUOUS_OVERLOAD, TYPE_NOT_FOUND ->
                    "its values have types that cannot be combined";
            };
        }
    }

    private static @Nullable JsonNode lookUp(FieldRef path, Scope scope) {
        List<Object> parts = path.parts();
        return switch (path.root()) {
            case "input" -> inside(scope.input(), parts);
            case "steps" -> {
                JsonNode result = parts.isEmpty()
                        ? null
                        : scope.steps().get(parts.getFirst().toString());
                yield result == null ? null : inside(result, parts.subList(1, parts.size()));
            }
            case "run" -> parts.contains("started_at") ? scope.more().get(Scope.STARTED) : text(scope.runId());
            case "step" -> text(scope.stepId());
            case "header" -> {
                String value =
                        parts.size() == 1 ? scope.header().get(parts.getFirst().toString()) : null;
                yield value == null ? null : text(value);
            }
            case "secret" ->
                parts.size() == 1 ? text(scope.secrets().apply(parts.getFirst().toString())) : null;
            default -> {
                JsonNode value = scope.more().get(path.root());
                yield value == null ? null : inside(value, parts);
            }
        };
    }

    private static JsonNode text(String value) {
        return JsonNodeFactory.instance.stringNode(value);
    }

    /** The value at the path, or null if a part of it is missing. */
    public static @Nullable JsonNode inside(JsonNode node, List<Object> parts) {
        JsonNode at = node;
        for (Object part : parts) {
            JsonNode next = part instanceof Long index ? item(at, index) : member(at, part.toString());
            if (next == null) {
                return null;
            }
            at = next;
        }
        return at.isMissingNode() ? null : at;
    }

    private static @Nullable JsonNode member(JsonNode node, String name) {
        return node.isObject() ? node.get(name) : null;
    }

    private static @Nullable JsonNode item(JsonNode node, long index) {
        return node.isArray() && index >= 0 && index < node.size() ? node.get((int) index) : null;
    }
}
