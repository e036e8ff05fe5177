package dev.semel.key;

/** Visible ASCII and the space: what keys and chosen run ids are made of. */
final class KeyAlphabet {
    private KeyAlphabet() {}

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

    /** For a message: where, and which character by its code, so that nothing invisible is printed. */
    static String describe(String text, int index) {
        return "character %d is U+%04X".formatted(index + 1, text.codePointAt(index));
    }
}
