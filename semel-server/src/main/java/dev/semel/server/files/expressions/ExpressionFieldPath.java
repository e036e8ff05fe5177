package dev.semel.server.files.expressions;

import dev.cel.common.ast.CelConstant;
import dev.cel.common.ast.CelExpr;
import java.util.ArrayList;
import java.util.List;
import java.util.Optional;

/** Such as `input.lines[0].sku`: a root name, then fields (text) and indexes (Long). */
public record ExpressionFieldPath(String root, List<Object> parts) {
    public ExpressionFieldPath {
        parts = List.copyOf(parts);
    }

    public static Optional<ExpressionFieldPath> of(CelExpr expression) {
        List<Object> parts = new ArrayList<>();
        CelExpr at = expression;
        while (true) {
            switch (at.getKind()) {
                case IDENT -> {
                    return Optional.of(new ExpressionFieldPath(at.ident().name(), parts.reversed()));
                }
                case SELECT -> {
                    if (at.select().testOnly()) {
                        return Optional.empty();
                    }
                    parts.add(at.select().field());
                    at = at.select().operand();
                }
                case CALL -> {
                    Optional<Object> index = index(at.call());
                    if (index.isEmpty()) {
                        return Optional.empty();
                    }
                    parts.add(index.get());
                    at = at.call().args().getFirst();
                }
                default -> {
                    return Optional.empty();
                }
            }
        }
    }

    /** The constant of `path["name"]` or `path[3]`. */
    private static Optional<Object> index(CelExpr.CelCall call) {
        if (!call.function().equals("_[_]") || call.args().get(1).getKind() != CelExpr.ExprKind.Kind.CONSTANT) {
            return Optional.empty();
        }
        CelConstant constant = call.args().get(1).constant();
        return switch (constant.getKind()) {
            case STRING_VALUE -> Optional.of(constant.stringValue());
            case INT64_VALUE -> Optional.of(constant.int64Value());
            default -> Optional.empty();
        };
    }

    /** The path as written in a workflow file. */
    @Override
    public String toString() {
        var text = new StringBuilder(root);
        for (Object part : parts) {
            boolean plain = part instanceof String name && name.matches("[A-Za-z_][A-Za-z0-9_]*");
            text.append(plain ? "." + part : part instanceof Long ? "[" + part + "]" : "[\"" + part + "\"]");
        }
        return text.toString();
    }
}
