package dev.semel.server.files.expressions;

import dev.semel.json.SizeLimits;
import tools.jackson.databind.JsonNode;

/** Limits the result of a step or of the output while it is built. */
public final class StepResultSizeLimit {
    static final int LIMIT = SizeLimits.DEFAULT.expressionResult();

    private long bytes;

    public JsonNode count(JsonNode node) {
        add(2);
        if (node.isString()) {
            addText(node.stringValue());
        } else if (node.isObject()) {
            for (var member : node.properties()) {
                addText(member.getKey());
                count(member.getValue());
            }
        } else if (node.isArray()) {
            node.forEach(this::count);
        } else {
            add(node.isBigDecimal() || node.isBigInteger() ? node.asString().length() : 20);
        }
        return node;
    }

    public void addText(String text) {
        add(text.length() + 4L);
        for (int i = 0; i < text.length(); i++) {
            if (text.charAt(i) >= 0x80) {
                add(text.charAt(i) < 0x800 ? 1 : 2);
            }
        }
    }

    public void add(long more) {
        bytes += more;
        if (bytes > LIMIT) {
            throw new ExpressionEvaluationException("its result is larger than " + SizeLimits.inKibibytes(LIMIT));
        }
    }
}
