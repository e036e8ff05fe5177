package dev.semel.server.files.expressions;

import com.google.common.collect.ImmutableList;
import dev.cel.common.CelAbstractSyntaxTree;
import dev.cel.common.CelSource;
import dev.cel.common.ast.CelExpr;
import dev.cel.common.ast.CelExpr.ExprKind.Kind;
import java.util.Collection;
import java.util.List;
import java.util.Map;
import java.util.Optional;

/**
 * Rewrites a CEL expression so that every list and map literal charges its full size to the evaluation budget.
 *
 * <p>A loop variable used twice in each of sixty nested loops makes a value of sixty small lists that has 2^60 items
 * when it is walked, even only to print it in an error message.
 */
final class CelLiteralCostInstrumenter {
    static final String CHARGE = "@weigh";

    private final CelSource.Builder source;
    private long lastId;

    private CelLiteralCostInstrumenter(CelAbstractSyntaxTree ast) {
        source = ast.getSource().toBuilder();
        lastId = ast.getSource().getPositionsMap().keySet().stream()
                        .mapToLong(Long::longValue)
                        .max()
                        .orElse(0)
                + 10_000;
    }

    static CelAbstractSyntaxTree instrument(CelAbstractSyntaxTree ast) {
        var weighing = new CelLiteralCostInstrumenter(ast);
        CelExpr root = weighing.visit(ast.getExpr());
        return CelAbstractSyntaxTree.newParsedAst(root, weighing.source.build());
    }

    private CelExpr visit(CelExpr at) {
        return switch (at.getKind()) {
            case CONSTANT, IDENT, STRUCT, NOT_SET -> at;
            case SELECT ->
                CelExpr.ofSelect(
                        at.id(),
                        visit(at.select().operand()),
                        at.select().field(),
                        at.select().testOnly());
            case CALL ->
                CelExpr.ofCall(
                        at.id(),
                        at.call().target().map(this::visit),
                        at.call().function(),
                        all(at.call().args()));
            case LIST -> {
                List<CelExpr> elements = at.list().elements();
                CelExpr list = CelExpr.ofList(at.id(), all(elements), at.list().optionalIndices());
                yield elements.stream().allMatch(CelLiteralCostInstrumenter::constant) ? list : weighed(list);
            }
            case MAP -> {
                var entries = at.map().entries().stream()
                        .map(entry -> CelExpr.ofMapEntry(
                                entry.id(), visit(entry.key()), visit(entry.value()), entry.optionalEntry()))
                        .collect(ImmutableList.toImmutableList());
                CelExpr map = CelExpr.ofMap(at.id(), entries);
                yield at.map().entries().stream().allMatch(entry -> constant(entry.value())) ? map : weighed(map);
            }
            case COMPREHENSION -> loop(at);
        };
    }

    private CelExpr loop(CelExpr at) {
        CelExpr.CelComprehension loop = at.comprehension();
        return CelExpr.ofComprehension(
                at.id(),
                loop.iterVar(),
                loop.iterVar2(),
                visit(loop.iterRange()),
                loop.accuVar(),
                visit(loop.accuInit()),
                visit(loop.loopCondition()),
                visit(loop.loopStep()),
                visit(loop.result()));
    }

    private ImmutableList<CelExpr> all(List<CelExpr> expressions) {
        return expressions.stream().map(this::visit).collect(ImmutableList.toImmutableList());
    }

    private static boolean constant(CelExpr expression) {
        return expression.getKind() == Kind.CONSTANT;
    }

    private CelExpr weighed(CelExpr literal) {
        lastId++;
        source.addPositions(lastId, source.getPositionsMap().getOrDefault(literal.id(), 0));
        return CelExpr.ofCall(lastId, Optional.empty(), CHARGE, ImmutableList.of(literal));
    }

    /** Charges the size of a value. Views of the input cost one unit, because they are never copied. */
    static Object charge(Object value) {
        ExpressionEvaluationBudget.spend(1);
        switch (value) {
            case String text -> ExpressionEvaluationBudget.spend(text.length() / 4);
            case CelJsonConverter.ObjectView _, CelJsonConverter.MemberView _, CelJsonConverter.ArrayView _ -> {}
            case Map<?, ?> map ->
                map.forEach((name, item) -> {
                    charge(name);
                    charge(item);
                });
            case Collection<?> items -> items.forEach(CelLiteralCostInstrumenter::charge);
            default -> {}
        }
        return value;
    }
}
