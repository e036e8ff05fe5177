package dev.semel.server.files.expressions;

import dev.cel.checker.CelStandardDeclarations;
import dev.cel.common.CelFunctionDecl;
import dev.cel.common.CelOptions;
import dev.cel.common.CelOverloadDecl;
import dev.cel.common.ast.CelConstant;
import dev.cel.common.ast.CelExpr;
import dev.cel.common.types.CelType;
import dev.cel.common.types.ListType;
import dev.cel.common.types.MapType;
import dev.cel.common.types.OpaqueType;
import dev.cel.common.types.SimpleType;
import dev.cel.common.types.TypeParamType;
import dev.cel.common.values.NullValue;
import dev.cel.compiler.CelCompiler;
import dev.cel.compiler.CelCompilerFactory;
import dev.cel.parser.CelMacro;
import dev.cel.parser.CelMacroExprFactory;
import dev.cel.parser.CelStandardMacro;
import dev.cel.runtime.CelEvaluationException;
import dev.cel.runtime.CelFunctionBinding;
import dev.cel.runtime.CelRuntime;
import dev.cel.runtime.CelRuntimeFactory;
import dev.cel.runtime.CelStandardFunctions;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.function.BiFunction;
import java.util.function.Function;

/**
 * Configures the CEL compiler and runtime of the expression language, with a reduced standard library and Semel's
 * functions.
 *
 * <p>Expressions have no clock, randomness, I/O, regular expressions or access to Java objects.
 */
final class CelEnvironment {
    static final int LONGEST_EXPRESSION = 4096;
    static final int MOST_ITERATIONS = 10_000;
    static final int DEEPEST = 64;

    /** Only macros can produce names with `@`; authors cannot write them. */
    static final String FIND = "@find";

    static final String HAS = "@has";
    static final String EITHER = "@either";
    private static final String KEY = "@key";
    private static final String EXACT_TO_STRING = "exact_number_to_string";
    private static final String FORMAT = "@format";
    static final String IN_COHORT = "@in_cohort";

    static final Set<String> VARIABLES =
            Set.of("input", "steps", "run", "step", "event", "header", "secret", "response", "attempt");

    /** Functions whose value a step records before it is read, with the variable that replaces each. */
    static final Map<String, String> RECORDED_FUNCTIONS = Map.of("now", "@now", "uuid", "@uuid", "random", "@random");

    /** Functions that authors can call; the source of spelling suggestions. */
    static final Set<String> FUNCTIONS = Set.of(
            "has",
            "size",
            "lower",
            "trim",
            "default",
            "key",
            "sha256",
            "short_hash",
            "json",
            "money",
            "format",
            "any",
            "all",
            "filter",
            "map",
            "exists",
            "exists_one",
            "contains",
            "startsWith",
            "endsWith",
            "int",
            "double",
            "string",
            "now",
            "uuid",
            "random",
            "in_cohort");

    private static final Set<String> STANDARD = Set.of(
            "IN",
            "NOT_STRICTLY_FALSE",
            "CONDITIONAL",
            "LOGICAL_NOT",
            "LOGICAL_OR",
            "LOGICAL_AND",
            "EQUALS",
            "NOT_EQUALS",
            "ADD",
            "SUBTRACT",
            "MULTIPLY",
            "DIVIDE",
            "MODULO",
            "NEGATE",
            "INDEX",
            "SIZE",
            "INT",
            "DOUBLE",
            "STRING",
            "CONTAINS",
            "ENDS_WITH",
            "STARTS_WITH",
            "LESS",
            "LESS_EQUALS",
            "GREATER",
            "GREATER_EQUALS");

    /** Standard operators that {@link CostLimitedCelOperators} replaces at run time. */
    private static final Set<String> BOUNDED = Set.of("IN", "EQUALS", "NOT_EQUALS", "CONTAINS");

    private static final CelOptions OPTIONS = CelOptions.current()
            .maxExpressionCodePointSize(LONGEST_EXPRESSION)
            .maxParseRecursionDepth(DEEPEST)
            .comprehensionMaxIterations(MOST_ITERATIONS)
            .enableHeterogeneousNumericComparisons(true)
            .build();

    static final CelCompiler COMPILER = compiler();
    static final CelRuntime RUNTIME = runtime();

    private CelEnvironment() {}

    static CelCompiler compiler(Set<String> items) {
        if (items.isEmpty()) {
            return COMPILER;
        }
        var builder = COMPILER.toCompilerBuilder();
        items.forEach(item -> builder.addVar(item, SimpleType.DYN));
        return builder.build();
    }

    private static CelCompiler compiler() {
        MapType texts = MapType.create(SimpleType.STRING, SimpleType.STRING);
        return CelCompilerFactory.standardCelCompilerBuilder()
                .setOptions(OPTIONS)
                .setStandardEnvironmentEnabled(false)
                .setStandardDeclarations(CelStandardDeclarations.newBuilder()
                        .filterFunctions((function, overload) -> STANDARD.contains(function.name())
                                && offered(overload.celOverloadDecl().overloadId()))
                        .build())
                .setStandardMacros(CelStandardMacro.STANDARD_MACROS.stream()
                        .filter(macro -> macro != CelStandardMacro.HAS)
                        .toList())
                .addMacros(macros())
                .addVar("input", SimpleType.DYN)
                .addVar("event", SimpleType.DYN)
                .addVar("steps", MapType.create(SimpleType.STRING, SimpleType.DYN))
                .addVar("run", texts)
                .addVar("step", texts)
                .addVar("header", texts)
                .addVar("secret", texts)
                .addVar("response", SimpleType.DYN)
                .addVar("attempt", SimpleType.INT)
                .addVar("@now", SimpleType.STRING)
                .addVar("@uuid", SimpleType.STRING)
                .addVar("@random", SimpleType.DOUBLE)
                .addFunctionDeclarations(
                        CelFunctionDecl.newFunctionDeclaration(
                                "string",
                                CelOverloadDecl.newGlobalOverload(
                                        EXACT_TO_STRING, SimpleType.STRING, OpaqueType.create("exact_number"))),
                        function("lower", SimpleType.STRING, SimpleType.STRING),
                        function("trim", SimpleType.STRING, SimpleType.STRING),
                        function("sha256", SimpleType.STRING, SimpleType.STRING),
                        function("short_hash", SimpleType.STRING, SimpleType.STRING),
                        function("json", SimpleType.STRING, SimpleType.DYN),
                        function("money", SimpleType.STRING, SimpleType.INT, SimpleType.STRING),
                        function(KEY, SimpleType.STRING, ListType.create(SimpleType.DYN)),
                        function(FORMAT, SimpleType.STRING, SimpleType.STRING, ListType.create(SimpleType.DYN)),
                        function(
                                IN_COHORT,
                                SimpleType.BOOL,
                                ListType.create(SimpleType.DYN),
                                MapType.create(SimpleType.STRING, SimpleType.DYN)),
                        function(FIND, SimpleType.DYN, SimpleType.DYN, ListType.create(SimpleType.DYN)),
                        function(HAS, SimpleType.BOOL, SimpleType.DYN, ListType.create(SimpleType.DYN)),
                        function(EITHER, SimpleType.DYN, SimpleType.DYN, SimpleType.DYN),
                        function(
                                CelLiteralCostInstrumenter.CHARGE,
                                TypeParamType.create("T"),
                                TypeParamType.create("T")))
                .build();
    }

    private static CelFunctionDecl function(String name, CelType result, CelType... parameters) {
        return CelFunctionDecl.newFunctionDeclaration(
                name, CelOverloadDecl.newGlobalOverload(overload(name), result, parameters));
    }

    private static String overload(String name) {
        return "semel_" + name.replace("@", "");
    }

    /** Leaves out types that JSON does not have, so that no operator can produce one. */
    private static boolean offered(String overloadId) {
        return !overloadId.contains("bytes")
                && !overloadId.contains("duration")
                && !overloadId.contains("timestamp")
                && !overloadId.contains("uint64");
    }

    private static CelRuntime runtime() {
        CelStandardFunctions standard = CelStandardFunctions.newBuilder()
                .filterFunctions((function, overload) -> STANDARD.contains(function.name())
                        && !BOUNDED.contains(function.name())
                        && !List.of("ADD_STRING", "ADD_LIST", "ADD_BYTES", "DOUBLE_TO_STRING")
                                .contains(overload.toString()))
                .build();
        return CelRuntimeFactory.standardCelRuntimeBuilder()
                .setOptions(OPTIONS)
                .setStandardEnvironmentEnabled(false)
                .setStandardFunctions(standard)
                .addFunctionBindings(operators())
                .addFunctionBindings(functions())
                .build();
    }

    private static List<CelFunctionBinding> operators() {
        return List.of(
                binary("add_string", String.class, String.class, CostLimitedCelOperators::join),
                binary("add_list", List.class, List.class, CostLimitedCelOperators::append),
                binary("equals", Object.class, Object.class, CostLimitedCelOperators::equal),
                binary("not_equals", Object.class, Object.class, (a, b) -> !CostLimitedCelOperators.equal(a, b)),
                binary("in_list", Object.class, List.class, CostLimitedCelOperators::in),
                binary("in_map", Object.class, Map.class, (name, map) -> map.containsKey(name)),
                binary("contains_string", String.class, String.class, CostLimitedCelOperators::contains));
    }

    private static List<CelFunctionBinding> functions() {
        return List.of(
                unary("double_to_string", Double.class, ExpressionFunctions::numberText),
                unary(EXACT_TO_STRING, CelJsonConverter.ExactNumber.class, ExpressionFunctions::numberText),
                unary(overload("lower"), String.class, ExpressionFunctions::lower),
                unary(overload("trim"), String.class, ExpressionFunctions::trim),
                unary(overload("sha256"), String.class, ExpressionFunctions::sha256),
                unary(overload("short_hash"), String.class, ExpressionFunctions::shortHash),
                unary(overload("json"), Object.class, ExpressionFunctions::json),
                binary(overload("money"), Long.class, String.class, ExpressionFunctions::money),
                unary(overload(KEY), List.class, ExpressionFunctions::key),
                binary(overload(FORMAT), String.class, List.class, StringFormatFunction::format),
                binary(overload(IN_COHORT), List.class, Map.class, CohortMembershipFunction::isMember),
                binary(overload(FIND), Object.class, List.class, ExpressionFunctions::find),
                binary(overload(HAS), Object.class, List.class, ExpressionFunctions::exists),
                binary(overload(EITHER), Object.class, Object.class, ExpressionFunctions::firstNonNull),
                unary(overload(CelLiteralCostInstrumenter.CHARGE), Object.class, CelLiteralCostInstrumenter::charge));
    }

    /** Wraps a failure in CEL's checked exception; for any other, CEL prints all arguments into the message. */
    private static <A> CelFunctionBinding unary(String id, Class<A> a, Function<A, Object> function) {
        return CelFunctionBinding.from(id, a, argument -> {
            try {
                return function.apply(argument);
            } catch (ExpressionEvaluationException failure) {
                throw new CelEvaluationException("function failed", failure);
            }
        });
    }

    private static <A, B> CelFunctionBinding binary(
            String id, Class<A> a, Class<B> b, BiFunction<A, B, Object> function) {
        return CelFunctionBinding.from(id, a, b, (left, right) -> {
            try {
                return function.apply(left, right);
            } catch (ExpressionEvaluationException failure) {
                throw new CelEvaluationException("function failed", failure);
            }
        });
    }

    private static List<CelMacro> macros() {
        List<CelMacro> macros = new ArrayList<>();
        macros.add(CelMacro.newGlobalVarArgMacro(
                "key", (make, _, parts) -> Optional.of(make.newGlobalCall(KEY, make.newList(parts)))));
        macros.add(CelMacro.newGlobalVarArgMacro("format", (make, _, args) -> format(make, args)));
        macros.add(CelMacro.newGlobalMacro(
                "default", 2, (make, _, args) -> Optional.of(otherwise(make, args.get(0), args.get(1)))));
        macros.add(CelMacro.newGlobalMacro("has", 1, (make, _, args) -> Optional.of(has(make, args.getFirst()))));
        RECORDED_FUNCTIONS.forEach((function, name) -> macros.add(
                CelMacro.newGlobalMacro(function, 0, (make, _, _) -> Optional.of(make.newIdentifier(name)))));
        // in_cohort(steps.profile.id, "vip") reads recorded results of profile and cohort steps: it makes no query.
        macros.add(CelMacro.newGlobalMacro("in_cohort", 2, (make, _, args) -> inCohort(make, args)));
        // any(list, x, test) is list.exists(x, test), and so on: the same loop with the list as first argument.
        Map.of(
                        "any",
                        CelStandardMacro.EXISTS,
                        "all",
                        CelStandardMacro.ALL,
                        "filter",
                        CelStandardMacro.FILTER,
                        "map",
                        CelStandardMacro.MAP)
                .forEach((name, standard) -> macros.add(CelMacro.newGlobalMacro(
                        name,
                        3,
                        (make, _, args) -> standard.getDefinition()
                                .getExpander()
                                .expandMacro(make, args.getFirst(), args.subList(1, 3)))));
        return macros;
    }

    /** The format must be a literal: publishing can then check its placeholders, and data is never used as a format. */
    private static Optional<CelExpr> format(CelMacroExprFactory make, List<CelExpr> args) {
        boolean written = !args.isEmpty()
                && args.getFirst().getKind() == CelExpr.ExprKind.Kind.CONSTANT
                && args.getFirst().constant().getKind() == CelConstant.Kind.STRING_VALUE;
        String wrong = written
                ? StringFormatFunction.findProblem(args.getFirst().constant().stringValue(), args.size() - 1)
                : "format() needs a literal text as first argument and one value for each placeholder";
        return Optional.of(
                wrong != null
                        ? make.reportError(wrong)
                        : make.newGlobalCall(FORMAT, args.getFirst(), make.newList(args.subList(1, args.size()))));
    }

    private static Optional<CelExpr> inCohort(CelMacroExprFactory make, List<CelExpr> args) {
        CelExpr profile = args.getFirst();
        boolean isId = profile.getKind() == CelExpr.ExprKind.Kind.SELECT
                && profile.select().field().equals("id")
                && !profile.select().testOnly();
        if (!isId) {
            return Optional.of(make.reportError(
                    "in_cohort() needs the id of a user_profile step: in_cohort(steps.profile.id, \"name\")"));
        }
        CelExpr source = profile.select().operand();
        CelExpr cohorts = make.newSelect(source, "cohorts", false);
        String step = ExpressionFieldPath.of(source)
                .filter(path -> path.root().equals("steps") && path.parts().size() == 1)
                .map(path -> path.parts().getFirst().toString())
                .orElse("");
        return Optional.of(make.newGlobalCall(
                IN_COHORT,
                make.newList(profile, cohorts, args.get(1), make.newStringLiteral(step)),
                make.newIdentifier("steps")));
    }

    /**
     * `default(input.a.b, x)` must not fail if `a` is missing, so a path becomes a search that returns null. A path
     * occurs twice in the result, any other expression once: nested defaults must not double in size.
     */
    private static CelExpr otherwise(CelMacroExprFactory make, CelExpr wanted, CelExpr otherwise) {
        Optional<ExpressionFieldPath> path = ExpressionFieldPath.of(wanted);
        if (path.isEmpty()) {
            return make.newGlobalCall(EITHER, wanted, otherwise);
        }
        CelExpr isNull = make.newGlobalCall(
                "_==_", search(FIND, make, path.get()), make.newConstant(CelConstant.ofValue(NullValue.NULL_VALUE)));
        return make.newGlobalCall("_?_:_", isNull, otherwise, search(FIND, make, path.get()));
    }

    /** `has(a.b.c)` must not fail if `a.b` is missing or null, so a path becomes a search. */
    private static CelExpr has(CelMacroExprFactory make, CelExpr wanted) {
        Optional<ExpressionFieldPath> path =
                ExpressionFieldPath.of(wanted).filter(found -> !found.parts().isEmpty());
        if (path.isPresent()) {
            return search(HAS, make, path.get());
        }
        if (wanted.getKind() != CelExpr.ExprKind.Kind.SELECT || wanted.select().testOnly()) {
            return make.reportError("has() needs a path, as in has(input.order.id)");
        }
        return make.newGlobalCall(
                HAS,
                wanted.select().operand(),
                make.newList(make.newStringLiteral(wanted.select().field())));
    }

    private static CelExpr search(String function, CelMacroExprFactory make, ExpressionFieldPath path) {
        List<CelExpr> parts = new ArrayList<>();
        for (Object part : path.parts()) {
            parts.add(part instanceof String text ? make.newStringLiteral(text) : make.newIntLiteral((Long) part));
        }
        return make.newGlobalCall(function, make.newIdentifier(path.root()), make.newList(parts));
    }
}
