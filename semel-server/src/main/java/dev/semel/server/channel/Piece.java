package dev.semel.server.channel;

import java.util.List;

/** A node of a parsed message template: text, a value, or a conditional or loop block. */
sealed interface Piece {
    record Words(String text) implements Piece {}

    /** @param link whether the value begins a link, so that its scheme is checked */
    record Value(Operand operand, List<Filter> filters, boolean link, Place place) implements Piece {
        public Value {
            filters = List.copyOf(filters);
        }
    }

    record If(Operand.Path path, List<Piece> then, List<Piece> otherwise) implements Piece {
        public If {
            then = List.copyOf(then);
            otherwise = List.copyOf(otherwise);
        }
    }

    /** @param item the variable name of the current list item */
    record Each(Operand.Path path, String item, List<Piece> body, List<Piece> otherwise, Place place) implements Piece {
        public Each {
            body = List.copyOf(body);
            otherwise = List.copyOf(otherwise);
        }
    }

    /** A filter that changes a value before it is written. */
    sealed interface Filter {
        record Default(Operand value) implements Filter {}

        record Money(Operand currency) implements Filter {}
    }
}
