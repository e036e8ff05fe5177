package dev.semel.server.files.expressions;

import dev.cel.common.CelErrorCode;
import dev.cel.runtime.CelEvaluationException;
import dev.cel.runtime.CelRuntime;
import dev.semel.json.UnparsedJson;
import java.util.List;
import java.util.Optional;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** One compiled `${ … }` expression of a workflow file. Thread-safe; evaluation has no side effects. */
public sealed interface WorkflowExpression {
    /** Returns the value, or throws a {@link ExpressionEvaluationException} with the reason. */
    JsonNode evaluate(ExpressionScope scope, StepResultSizeLimit size);

    List<ExpressionFieldPath> readPaths();

    /** Read without the CEL engine. It returns the original node, so a number of any size is copied without loss. */
    public record PathExpression(ExpressionFieldPath path) implements WorkflowExpression {
        @Override
        public JsonNode evaluate(ExpressionScope scope, StepResultSizeLimit size) {
            JsonNode found = lookUp(path, scope);
            if (found == null) {
                throw new ExpressionEvaluationException(path + " is missing");
            }
            return size.count(found);
        }

        @Override
        public List<ExpressionFieldPath> readPaths() {
            return List.of(path);
        }
    }

    public record CelExpression(CelRuntime.Program program, List<ExpressionFieldPath> readPaths)
            implements WorkflowExpression {
        @Override
        public JsonNode evaluate(ExpressionScope scope, StepResultSizeLimit size) {
            return CelJsonConverter.toJson(run(scope), size);
        }

        private Object run(ExpressionScope scope) {
            try {
                return ScopedValue.where(ExpressionEvaluationBudget.CURRENT, new ExpressionEvaluationBudget())
                        .call(() -> program.eval(name -> Optional.ofNullable(scope.variable(name))));
            } catch (CelEvaluationException e) {
                throw failure(e, scope);
            } catch (IndexOutOfBoundsException | ClassCastException | ArithmeticException e) {
                throw new ExpressionEvaluationException("its values have types that cannot be combined");
            }
        }

        /** The engine's message can contain values, so only its error code is used. */
        private ExpressionEvaluationException failure(CelEvaluationException e, ExpressionScope scope) {
            for (Throwable cause = e; cause != null; cause = cause.getCause()) {
                if (cause instanceof ExpressionEvaluationException ours) {
                    return ours;
                }
            }
            if (e.getErrorCode() == CelErrorCode.ATTRIBUTE_NOT_FOUND) {
                for (ExpressionFieldPath path : readPaths) {
                    if (lookUp(path, scope) == null) {
                        return new ExpressionEvaluationException(path + " is missing");
                    }
                }
            }
            return new ExpressionEvaluationException(because(e.getErrorCode()));
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
                case ITERATION_BUDGET_EXCEEDED ->
                    "it needs more than " + CelEnvironment.MOST_ITERATIONS + " iterations";
                case BAD_FORMAT -> "text could not be parsed as a number";
                case INVALID_ARGUMENT -> "an argument has the wrong type, or a conversion is out of range";
                case INTERNAL_ERROR, DUPLICATE_ATTRIBUTE, AMBIGUOUS_OVERLOAD, TYPE_NOT_FOUND ->
                    "its values have types that cannot be combined";
            };
        }
    }

    private static @Nullable JsonNode lookUp(ExpressionFieldPath path, ExpressionScope scope) {
        List<Object> parts = path.parts();
        return switch (path.root()) {
            case "input" -> valueAt(scope.input(), parts);
            case "steps" -> {
                JsonNode result = parts.isEmpty()
                        ? null
                        : scope.steps().get(parts.getFirst().toString());
                yield result == null ? null : valueAt(result, parts.subList(1, parts.size()));
            }
            case "run" ->
                parts.contains("started_at") ? scope.variables().get(ExpressionScope.STARTED_AT) : text(scope.runId());
            case "step" -> text(scope.stepId());
            case "header" -> {
                String value =
                        parts.size() == 1 ? scope.header().get(parts.getFirst().toString()) : null;
                yield value == null ? null : text(value);
            }
            case "secret" ->
                parts.size() == 1 ? text(scope.secrets().apply(parts.getFirst().toString())) : null;
            default -> {
                JsonNode value = scope.variables().get(path.root());
                yield value == null ? null : valueAt(value, parts);
            }
        };
    }

    private static JsonNode text(String value) {
        return JsonNodeFactory.instance.stringNode(value);
    }

    /** The value at the path, or null if a part of it is missing. */
    public static @Nullable JsonNode valueAt(JsonNode node, List<Object> parts) {
        JsonNode at = UnparsedJson.parse(node);
        for (Object part : parts) {
            JsonNode next = part instanceof Long index ? item(at, index) : member(at, part.toString());
            if (next == null) {
                return null;
            }
            at = UnparsedJson.parse(next);
        }
        return at.isMissingNode() ? null : UnparsedJson.parseAll(at);
    }

    private static @Nullable JsonNode member(JsonNode node, String name) {
        return node.isObject() ? node.get(name) : null;
    }

    private static @Nullable JsonNode item(JsonNode node, long index) {
        return node.isArray() && index >= 0 && index < node.size() ? node.get((int) index) : null;
    }
}
