package dev.semel.server.files.expressions;

import dev.semel.server.files.yaml.YamlSourceRange;

/**
 * Maps offsets inside one `${ … }` expression to positions in the workflow file.
 *
 * <p>Folded or escaped text differs from its source. After the first difference, error carets point at the start of the
 * expression instead of guessing.
 *
 * @param start offset of the first code point after `${`
 */
record ExpressionPosition(YamlSourceRange scalarRange, int start, String code, String sourceText) {
    YamlSourceRange range(int from, int to) {
        int[] codePoints = code.codePoints().toArray();
        int[] sourcePoints = sourceText.codePoints().toArray();
        int same = 0;
        while (same < codePoints.length && same < sourcePoints.length && codePoints[same] == sourcePoints[same]) {
            same++;
        }
        return from <= same
                ? scalarRange.narrow(start + from, start + Math.min(to, same))
                : scalarRange.narrow(start, start);
    }
}
