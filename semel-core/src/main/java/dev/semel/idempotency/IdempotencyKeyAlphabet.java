package dev.semel.idempotency;

/** The characters of keys and chosen run ids: visible ASCII and the space. */
final class IdempotencyKeyAlphabet {
    private IdempotencyKeyAlphabet() {}

    /** The index of the first character outside U+0020 to U+007E, or -1. */
    static int firstOutside(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (c < 0x20 || c > 0x7E) {
                return i;
            }
        }
        return -1;
    }

    /** Position and code of a character for a message, so that nothing invisible is printed. */
    static String describe(String text, int index) {
        return "character %d is U+%04X".formatted(index + 1, text.codePointAt(index));
    }
}
