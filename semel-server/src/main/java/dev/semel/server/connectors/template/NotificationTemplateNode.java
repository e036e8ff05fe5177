package dev.semel.server.connectors.template;

import java.util.List;

sealed interface NotificationTemplateNode {
    record Text(String text) implements NotificationTemplateNode {}

    /** @param link whether the value begins a link, so that its scheme is checked */
    record Value(
            NotificationTemplateOperand operand, List<Filter> filters, boolean link, NotificationTemplatePosition place)
            implements NotificationTemplateNode {
        public Value {
            filters = List.copyOf(filters);
        }
    }

    record If(
            NotificationTemplateOperand.Path path,
            List<NotificationTemplateNode> then,
            List<NotificationTemplateNode> otherwise)
            implements NotificationTemplateNode {
        public If {
            then = List.copyOf(then);
            otherwise = List.copyOf(otherwise);
        }
    }

    /** @param item the variable name of the current list item */
    record Each(
            NotificationTemplateOperand.Path path,
            String item,
            List<NotificationTemplateNode> body,
            List<NotificationTemplateNode> otherwise,
            NotificationTemplatePosition place)
            implements NotificationTemplateNode {
        public Each {
            body = List.copyOf(body);
            otherwise = List.copyOf(otherwise);
        }
    }

    sealed interface Filter {
        record Default(NotificationTemplateOperand value) implements Filter {}

        record Money(NotificationTemplateOperand currency) implements Filter {}
    }
}
