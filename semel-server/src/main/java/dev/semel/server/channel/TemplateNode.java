package dev.semel.server.channel;

import java.util.List;

/** A node of a parsed message template: text, a value, or a conditional or loop block. */
sealed interface TemplateNode {
    record Text(String text) implements TemplateNode {}

    /** @param link whether the value begins a link, so that its scheme is checked */
    record Value(TemplateOperand operand, List<Filter> filters, boolean link, TemplatePosition place)
            implements TemplateNode {
        public Value {
            filters = List.copyOf(filters);
        }
    }

    record If(TemplateOperand.Path path, List<TemplateNode> then, List<TemplateNode> otherwise)
            implements TemplateNode {
        public If {
            then = List.copyOf(then);
            otherwise = List.copyOf(otherwise);
        }
    }

    /** @param item the variable name of the current list item */
    record Each(
            TemplateOperand.Path path,
            String item,
            List<TemplateNode> body,
            List<TemplateNode> otherwise,
            TemplatePosition place)
            implements TemplateNode {
        public Each {
            body = List.copyOf(body);
            otherwise = List.copyOf(otherwise);
        }
    }

    /** A filter that changes a value before it is written. */
    sealed interface Filter {
        record Default(TemplateOperand value) implements Filter {}

        record Money(TemplateOperand currency) implements Filter {}
    }
}
