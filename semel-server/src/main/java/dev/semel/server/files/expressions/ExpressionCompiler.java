package dev.semel.server.files.expressions;

import dev.cel.common.CelAbstractSyntaxTree;
import dev.cel.common.CelIssue;
import dev.cel.common.CelValidationException;
import dev.cel.common.CelValidationResult;
import dev.cel.common.types.CelKind;
import dev.cel.common.types.CelType;
import dev.cel.compiler.CelCompiler;
import dev.cel.runtime.CelEvaluationException;
import dev.cel.runtime.CelRuntime;
import dev.semel.server.files.yaml.YamlFileErrorCollector;
import java.util.HashMap;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;
import org.jspecify.annotations.Nullable;

/** Compiles `${ … }` expressions when a file is published: parses, validates names, checks types and plans. */
final class ExpressionCompiler {
    private static final Pattern NO_OVERLOAD =
            Pattern.compile("found no matching overload for '([^']*)' applied to '([^']*)'.*", Pattern.DOTALL);

    private final YamlFileErrorCollector problems;
    private final Map<Set<String>, CelCompiler> compilers = new HashMap<>();

    ExpressionCompiler(YamlFileErrorCollector problems) {
        this.problems = problems;
    }

    /**
     * Null if the expression is invalid; the error is added to the problems.
     *
     * @param wanted result types that are allowed here; empty for any
     */
    @Nullable
    WorkflowExpression compile(ExpressionPosition code, ExpressionCompileContext site, Set<CelKind> wanted) {
        if (code.code().isBlank()) {
            problems.add(code.range(0, 0), "the expression is empty.");
            return null;
        }
        int length = code.code().codePointCount(0, code.code().length());
        if (length > CelEnvironment.LONGEST_EXPRESSION) {
            problems.add(code.range(0, 0), "an expression may have at most 4 KiB.");
            return null;
        }
        CompiledExpression compiledExpression = CompiledExpression.cached(code.code(), site.loopVariables());
        CelAbstractSyntaxTree parsed = compiledExpression == null
                ? tree(compiler(site.loopVariables()).parse(code.code()), code)
                : compiledExpression.parsed();
        if (parsed == null) {
            return null;
        }
        int before = problems.count();
        List<ExpressionFieldPath> reads = new ExpressionReferenceValidator(parsed, code, site, problems).check();
        if (problems.count() > before) {
            return null;
        }
        Optional<ExpressionFieldPath> path = ExpressionFieldPath.of(parsed.getExpr());
        CompiledExpression made = compiledExpression == null
                ? made(parsed, path.isPresent(), code, site.loopVariables())
                : compiledExpression;
        if (made == null) {
            return null;
        }
        if (path.isPresent()) {
            return new WorkflowExpression.PathExpression(path.get());
        }
        CompiledExpression.CheckedProgram done = Objects.requireNonNull(made.checked());
        return fits(done.type(), wanted, code) ? new WorkflowExpression.CelExpression(done.program(), reads) : null;
    }

    /** Null if its types do not match; the error is added to the problems. */
    private @Nullable CompiledExpression made(
            CelAbstractSyntaxTree parsed, boolean path, ExpressionPosition code, Set<String> items) {
        if (path) {
            return new CompiledExpression(parsed, null).cache(code.code(), items);
        }
        CelAbstractSyntaxTree checked =
                tree(compiler(items).check(CelLiteralCostInstrumenter.instrument(parsed)), code);
        return checked == null
                ? null
                : new CompiledExpression(
                                parsed,
                                new CompiledExpression.CheckedProgram(checked.getResultType(), planned(checked)))
                        .cache(code.code(), items);
    }

    /** A compiler that also declares the loop variables in scope; creating one costs more than compiling with it. */
    private CelCompiler compiler(Set<String> items) {
        return compilers.computeIfAbsent(items, CelEnvironment::compiler);
    }

    private @Nullable CelAbstractSyntaxTree tree(CelValidationResult result, ExpressionPosition code) {
        try {
            return result.getAst();
        } catch (CelValidationException e) {
            // One mistake causes several parser errors; the first one shows where it is.
            e.getErrors().stream().findFirst().ifPresent(issue -> report(issue, result, code));
            return null;
        }
    }

    private void report(CelIssue issue, CelValidationResult result, ExpressionPosition code) {
        int offset =
                result.getSource().getLocationOffset(issue.getSourceLocation()).orElse(0);
        Matcher overload = NO_OVERLOAD.matcher(issue.getMessage());
        String message;
        if (overload.matches()) {
            String name = overload.group(1).replace("_", "").replace("@", "");
            String shown = Character.isLetter(overload.group(1).codePointAt(0)) ? overload.group(1) : name;
            message = "'%s' does not accept the types %s.".formatted(shown, overload.group(2));
        } else {
            message = "invalid expression: " + issue.getMessage().replaceAll("(?s) expecting .*| \\(in container.*", "")
                    + ".";
        }
        problems.add(code.range(Math.max(0, offset), offset + 1), message);
    }

    private boolean fits(CelType result, Set<CelKind> wanted, ExpressionPosition code) {
        if (wanted.isEmpty() || wanted.contains(result.kind()) || result.kind() == CelKind.DYN) {
            return true;
        }
        String words = String.join(
                " or ",
                wanted.stream()
                        .map(kind -> kind.name().toLowerCase(Locale.ROOT))
                        .sorted()
                        .toList());
        problems.add(
                code.range(0, code.code().length()),
                "the expression must return %s, not %s.".formatted(words, result.name()));
        return false;
    }

    private static CelRuntime.Program planned(CelAbstractSyntaxTree checked) {
        try {
            return CelEnvironment.RUNTIME.createProgram(checked);
        } catch (CelEvaluationException e) {
            throw new IllegalStateException("an expression that passed all checks could not be planned", e);
        }
    }
}
