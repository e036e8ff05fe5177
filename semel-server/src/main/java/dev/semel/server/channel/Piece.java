package dev.semel.server.channel;

import java.util.List;

/** A template as it was read: text, values, and blocks of pieces. */
sealed interface Piece {
    record Words(String text) implements Piece {}

    /** @param link whether a link begins with it, so that its scheme matters */
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

    /** @param item the name of one item inside the block */
    record Each(Operand.Path path, String item, List<Piece> body, List<Piece> otherwise, Place place) implements Piece {
        public Each {
            body = List.copyOf(body);
            otherwise = List.copyOf(otherwise);
        }
    }

    /** What is done to a value before it is written. */
    sealed interface Filter {
        record Default(Operand value) implements Filter {}

        record Money(Operand currency) implements Filter {}
    }
}
