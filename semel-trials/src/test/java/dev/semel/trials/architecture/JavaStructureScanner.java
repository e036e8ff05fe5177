package dev.semel.trials.architecture;

import com.sun.source.tree.BinaryTree;
import com.sun.source.tree.ClassTree;
import com.sun.source.tree.CompilationUnitTree;
import com.sun.source.tree.LiteralTree;
import com.sun.source.tree.MemberSelectTree;
import com.sun.source.tree.MethodInvocationTree;
import com.sun.source.tree.MethodTree;
import com.sun.source.tree.SynchronizedTree;
import com.sun.source.tree.Tree;
import com.sun.source.util.TreePathScanner;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;

/** Visits one parsed file and collects its {@link JavaFileStructure}. */
final class JavaStructureScanner extends TreePathScanner<@Nullable Void, @Nullable Void> {
    private final ParsedJava parsed;
    private final List<JavaFileStructure.NamedType> types = new ArrayList<>();
    private final List<JavaFileStructure.MethodSize> methods = new ArrayList<>();
    private final List<JavaFileStructure.ConcatenatedText> glued = new ArrayList<>();
    private final List<Integer> monitors = new ArrayList<>();

    JavaStructureScanner(ParsedJava parsed) {
        this.parsed = parsed;
    }

    JavaFileStructure shape() {
        CompilationUnitTree unit = parsed.unit();
        scan(unit, null);
        String place =
                unit.getPackageName() == null ? "" : unit.getPackageName().toString();
        return new JavaFileStructure(parsed.file(), place, types, methods, glued, monitors);
    }

    @Override
    public @Nullable Void visitClass(ClassTree type, @Nullable Void nothing) {
        if (!type.getSimpleName().isEmpty()) {
            types.add(new JavaFileStructure.NamedType(type.getSimpleName().toString(), parsed.startLine(type)));
        }
        return super.visitClass(type, nothing);
    }

    @Override
    public @Nullable Void visitMethod(MethodTree method, @Nullable Void nothing) {
        int bodyLines = method.getBody() == null
                ? 0
                : parsed.endLine(method.getBody()) - parsed.startLine(method.getBody()) + 1;
        methods.add(new JavaFileStructure.MethodSize(method.getName().toString(), parsed.startLine(method), bodyLines));
        return super.visitMethod(method, nothing);
    }

    @Override
    public @Nullable Void visitSynchronized(SynchronizedTree block, @Nullable Void nothing) {
        monitors.add(parsed.startLine(block));
        return super.visitSynchronized(block, nothing);
    }

    @Override
    public @Nullable Void visitBinary(BinaryTree sum, @Nullable Void nothing) {
        // Only the outermost sum of a chain is noted: a + b + c is ((a + b) + c).
        boolean outermost = getCurrentPath().getParentPath().getLeaf().getKind() != Tree.Kind.PLUS;
        if (sum.getKind() == Tree.Kind.PLUS && outermost) {
            glued.add(new JavaFileStructure.ConcatenatedText(literals(sum), parsed.startLine(sum)));
        }
        return super.visitBinary(sum, nothing);
    }

    @Override
    public @Nullable Void visitMethodInvocation(MethodInvocationTree call, @Nullable Void nothing) {
        if (call.getMethodSelect() instanceof MemberSelectTree select
                && select.getIdentifier().contentEquals("formatted")) {
            glued.add(new JavaFileStructure.ConcatenatedText(literals(select.getExpression()), parsed.startLine(call)));
        }
        return super.visitMethodInvocation(call, nothing);
    }

    private static String literals(Tree tree) {
        return switch (tree) {
            case BinaryTree sum
            when sum.getKind() == Tree.Kind.PLUS -> literals(sum.getLeftOperand()) + literals(sum.getRightOperand());
            case LiteralTree literal when literal.getValue() instanceof String text -> text;
            default -> "?";
        };
    }
}
