package dev.semel.server.files.expressions;

import dev.cel.common.types.CelKind;
import dev.semel.server.files.yaml.YamlFileErrorCollector;
import dev.semel.server.files.yaml.YamlNode;
import dev.semel.server.files.yaml.YamlSourceRange;
import dev.semel.server.files.yaml.YamlSourceText;
import java.util.ArrayList;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** Finds and compiles the `${ … }` expressions in the values of a workflow file. `$${` is a literal `${`. */
public final class YamlValueTemplateCompiler {
    /** Result types of an expression that makes a key: text, or a number in its canonical text. */
    public static final Set<CelKind> IDENTIFIER = Set.of(CelKind.STRING, CelKind.INT, CelKind.DOUBLE);

    /** Compiling one takes up to a millisecond; the limit keeps publishing from blocking a server. */
    static final int MOST_EXPRESSIONS = 1_000;

    private final YamlSourceText source;
    private final YamlFileErrorCollector problems;
    private final ExpressionCompiler expressions;
    private int count;

    public YamlValueTemplateCompiler(YamlSourceText source, YamlFileErrorCollector problems) {
        this.source = source;
        this.problems = problems;
        this.expressions = new ExpressionCompiler(problems);
    }

    public YamlValueTemplate compile(YamlNode tree, ExpressionCompileContext site) {
        return compile(tree, site, Set.of());
    }

    /** @param wanted result types that are allowed if the whole value is one expression */
    public YamlValueTemplate compile(YamlNode tree, ExpressionCompileContext site, Set<CelKind> wanted) {
        return switch (tree) {
            case YamlNode.ScalarNode scalar ->
                scalar.value().isString() ? text(scalar, site, wanted) : literal(scalar.value());
            case YamlNode.ListNode items ->
                new YamlValueTemplate.ListTemplate(
                        items.items().stream().map(item -> compile(item, site)).toList());
            case YamlNode.MapNode members -> {
                Map<String, YamlValueTemplate> templates = new LinkedHashMap<>();
                members.members().forEach((name, member) -> templates.put(name, compile(member.value(), site)));
                yield new YamlValueTemplate.MapTemplate(templates);
            }
        };
    }

    private static YamlValueTemplate literal(JsonNode value) {
        return new YamlValueTemplate.Literal(value);
    }

    private static YamlValueTemplate literal(CharSequence text) {
        return literal(JsonNodeFactory.instance.stringNode(text.toString()));
    }

    private YamlValueTemplate text(YamlNode.ScalarNode scalar, ExpressionCompileContext site, Set<CelKind> wanted) {
        String text = scalar.value().stringValue();
        List<YamlValueTemplate> parts = new ArrayList<>();
        var plain = new StringBuilder();
        var raw = new SourceScanner(
                scalar.range(),
                source.substring(scalar.range().start(), scalar.range().end()));
        int at = 0;
        while (at < text.length()) {
            if (text.startsWith("$${", at)) {
                plain.append("${");
                at += 3;
            } else if (text.startsWith("${", at)) {
                int end = closing(text, at + 2);
                ExpressionPosition code = raw.next(text.substring(at + 2, Math.max(end, at + 2)));
                if (end < 0) {
                    problems.add(code.range(0, 0), "the expression is not closed; add the missing '}'.");
                    return literal(text);
                }
                if (++count > MOST_EXPRESSIONS) {
                    tooMany(code);
                    return literal(text);
                }
                boolean whole = at == 0 && end == text.stripTrailing().length() - 1;
                WorkflowExpression expression = expressions.compile(code, site, whole ? wanted : Set.of());
                if (whole) {
                    return expression == null ? literal(text) : new YamlValueTemplate.SingleExpression(expression);
                }
                addPart(parts, plain, expression);
                at = end + 1;
            } else {
                plain.append(text.charAt(at++));
            }
        }
        if (parts.isEmpty()) {
            return literal(plain);
        }
        addPart(parts, plain, null);
        return new YamlValueTemplate.InterpolatedText(parts);
    }

    private void tooMany(ExpressionPosition code) {
        if (count == MOST_EXPRESSIONS + 1) {
            problems.add(code.range(0, 0), "a file may have at most %d expressions.".formatted(MOST_EXPRESSIONS));
        }
    }

    private static void addPart(
            List<YamlValueTemplate> parts, StringBuilder plain, @Nullable WorkflowExpression expression) {
        if (!plain.isEmpty()) {
            parts.add(literal(plain));
            plain.setLength(0);
        }
        if (expression != null) {
            parts.add(new YamlValueTemplate.SingleExpression(expression));
        }
    }

    /** The `}` that ends the expression: braces of maps count, braces in quotes do not. */
    private static int closing(String text, int start) {
        int open = 0;
        char quote = 0;
        for (int i = start; i < text.length(); i++) {
            char c = text.charAt(i);
            if (quote != 0) {
                if (c == '\\') {
                    i++;
                } else if (c == quote) {
                    quote = 0;
                }
            } else if (c == '"' || c == '\'') {
                quote = c;
            } else if (c == '{') {
                open++;
            } else if (c == '}' && open-- == 0) {
                return i;
            }
        }
        return -1;
    }

    /** Finds the expressions of a scalar in the source text, which still has its quotes, escapes and folding. */
    private static final class SourceScanner {
        private final YamlSourceRange spot;
        private final String text;
        private int at;
        private int points;

        SourceScanner(YamlSourceRange spot, String text) {
            this.spot = spot;
            this.text = text;
        }

        ExpressionPosition next(String code) {
            int from = at;
            while (at < text.length()) {
                if (text.startsWith("$${", at)) {
                    at += 3;
                } else if (text.startsWith("${", at)) {
                    at += 2;
                    points += text.codePointCount(from, at);
                    String written = text.substring(at, Math.min(text.length(), at + code.length()));
                    return new ExpressionPosition(spot, spot.start() + points, code, written);
                } else {
                    at++;
                }
            }
            points += text.codePointCount(from, at);
            return new ExpressionPosition(spot, spot.start(), code, "");
        }
    }
}
