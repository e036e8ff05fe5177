package dev.semel.json;

/** Finds unpaired surrogates, which have no UTF-8 form; stores would silently replace them by a question mark. */
final class UnpairedSurrogateDetector {
    private UnpairedSurrogateDetector() {}

    /** The index of the first unpaired surrogate, or -1. */
    static int firstLone(String text) {
        for (int i = 0; i < text.length(); i++) {
            char c = text.charAt(i);
            if (!Character.isSurrogate(c)) {
                continue;
            }
            boolean pair = Character.isHighSurrogate(c)
                    && i + 1 < text.length()
                    && Character.isLowSurrogate(text.charAt(i + 1));
            if (!pair) {
                return i;
            }
            i++;
        }
        return -1;
    }
}
