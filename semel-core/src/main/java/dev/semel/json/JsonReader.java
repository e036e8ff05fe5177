package dev.semel.json;

import dev.semel.error.SemelException;
import java.math.BigDecimal;
import java.math.BigInteger;
import tools.jackson.core.JacksonException;
import tools.jackson.core.JsonParser;
import tools.jackson.core.JsonToken;
import tools.jackson.core.ObjectReadContext;
import tools.jackson.core.StreamReadConstraints;
import tools.jackson.core.TokenStreamFactory;
import tools.jackson.core.json.JsonFactory;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/** Checks the limits itself, so that each error names the position and quotes nothing. */
final class JsonReader {
    /**
     * Jackson's shared symbol table is off: names would outlive their document, and one tenant could fill it for all.
     * Jackson's own limits are only a fallback.
     */
    private static final JsonFactory FACTORY = JsonFactory.builder()
            .disable(TokenStreamFactory.Feature.CANONICALIZE_PROPERTY_NAMES)
            .streamReadConstraints(StreamReadConstraints.builder()
                    .maxNestingDepth(StrictJsonCodec.MAX_DEPTH + 1)
                    .maxNumberLength(Integer.MAX_VALUE)
                    .maxStringLength(Integer.MAX_VALUE)
                    .maxNameLength(Integer.MAX_VALUE)
                    .build())
            .build();

    private static final JsonNodeFactory NODES = JsonNodeFactory.instance;

    /** A number of this length may exceed the limit when it is written again with its point moved. */
    private static final int LENGTH_THAT_MAY_GROW = StrictJsonCodec.MAX_NUMBER - 20;

    private final String text;
    private final JsonParser parser;

    /** The text is well-formed, so only an escape can produce half of a surrogate pair. */
    private final boolean hasEscapes;

    private int values;

    private JsonReader(String text, JsonParser parser) {
        this.text = text;
        this.parser = parser;
        this.hasEscapes = text.contains("\\");
    }

    static JsonNode read(String text) {
        try (JsonParser parser = FACTORY.createParser(ObjectReadContext.empty(), text)) {
            return new JsonReader(text, parser).document();
        } catch (JacksonException e) {
            throw JacksonErrorTranslator.of(text, e);
        }
    }

    private JsonNode document() {
        JsonToken first = parser.nextToken();
        if (first == null) {
            throw InvalidJsonErrorFactory.at(text, text.length(), "the document is empty");
        }
        JsonNode root = value(first, 1);
        if (parser.nextToken() != null) {
            throw problem("there is more text after the end of the document");
        }
        return root;
    }

    private JsonNode value(JsonToken token, int depth) {
        if (++values > StrictJsonCodec.MAX_VALUES) {
            throw problem("the document has more than " + StrictJsonCodec.MAX_VALUES + " values");
        }
        return switch (token) {
            case START_OBJECT -> object(depth);
            case START_ARRAY -> array(depth);
            case VALUE_STRING -> NODES.stringNode(string(parser.getString(), StrictJsonCodec.MAX_STRING, "string"));
            case VALUE_NUMBER_INT -> integer();
            case VALUE_NUMBER_FLOAT -> NODES.numberNode(decimal());
            case VALUE_TRUE -> NODES.booleanNode(true);
            case VALUE_FALSE -> NODES.booleanNode(false);
            case VALUE_NULL -> NODES.nullNode();
            default -> throw problem("a value is expected here");
        };
    }

    private ObjectNode object(int depth) {
        checkDepth(depth);
        ObjectNode object = NODES.objectNode();
        for (String name = parser.nextName(); name != null; name = parser.nextName()) {
            string(name, StrictJsonCodec.MAX_NAME, "member name");
            // Checked before the value is read, so that the error points to the name.
            if (object.has(name)) {
                throw problem("this member name appears twice in one object");
            }
            object.set(name, value(parser.nextToken(), depth + 1));
        }
        return object;
    }

    private ArrayNode array(int depth) {
        checkDepth(depth);
        ArrayNode array = NODES.arrayNode();
        for (JsonToken token = parser.nextToken(); token != JsonToken.END_ARRAY; token = parser.nextToken()) {
            array.add(value(token, depth + 1));
        }
        return array;
    }

    private String string(String string, int limit, String kind) {
        if (string.length() > limit) {
            throw problem("a " + kind + " is longer than " + limit + " characters");
        }
        if (hasEscapes && UnpairedSurrogateDetector.firstLone(string) >= 0) {
            throw problem("a " + kind + " has an escape for half of a surrogate pair, which is not a character");
        }
        return string;
    }

    private JsonNode integer() {
        checkNumberLength(parser.getStringLength());
        return switch (parser.getNumberType()) {
            case INT -> NODES.numberNode(parser.getIntValue());
            case LONG -> NODES.numberNode(parser.getLongValue());
            default -> NODES.numberNode(new BigInteger(parser.getString()));
        };
    }

    private BigDecimal decimal() {
        int length = parser.getStringLength();
        checkNumberLength(length);
        BigDecimal value;
        try {
            // Not parser.getDecimalValue(): its NumberFormatException quotes the number.
            value = new BigDecimal(parser.getStringCharacters(), parser.getStringOffset(), length);
        } catch (ArithmeticException | NumberFormatException e) {
            throw exponentProblem();
        }
        if (Math.abs((long) value.scale()) > StrictJsonCodec.MAX_SCALE) {
            throw exponentProblem();
        }
        if (length > LENGTH_THAT_MAY_GROW) {
            checkNumberLength(value.toString().length());
        }
        return value;
    }

    private void checkNumberLength(int length) {
        if (length > StrictJsonCodec.MAX_NUMBER) {
            throw problem("a number is longer than " + StrictJsonCodec.MAX_NUMBER + " characters");
        }
    }

    private SemelException exponentProblem() {
        return problem("the exponent of a number is outside the range of ±" + StrictJsonCodec.MAX_SCALE);
    }

    private void checkDepth(int depth) {
        if (depth > StrictJsonCodec.MAX_DEPTH) {
            int offset = (int) parser.currentTokenLocation().getCharOffset();
            throw InvalidJsonErrorFactory.at(
                    text, offset, "it is nested deeper than " + StrictJsonCodec.MAX_DEPTH + " levels");
        }
    }

    private SemelException problem(String message) {
        int offset = (int) parser.currentTokenLocation().getCharOffset();
        String pointer = parser.streamReadContext().pathAsPointer().toString();
        return InvalidJsonErrorFactory.at(text, offset, pointer, message);
    }
}
