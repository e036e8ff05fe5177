package dev.semel.definition;

/**
 * @param kind its kind in the journal: effect, tx, call, await or approval
 * @param protection the protection of an effect; for a call the name of the workflow; empty for a wait
 * @param identity protection and key as written in the workflow, to recognise the same action in another version
 * @param does what an effect does: create, update or notify; otherwise empty
 * @param crossRun whether its key also applies to other runs, one of which may have done it
 */
public record DeclaredStep(
        StepLocation location, String kind, String protection, String identity, String does, boolean crossRun) {
    /** A step without {@code does}, whose key applies only to its own run. */
    public DeclaredStep(StepLocation place, String kind, String protection, String identity) {
        this(place, kind, protection, identity, "", false);
    }

    /**
     * @param path path in the journal. `[]` matches every item of a loop, and a trailing dot every name with this
     *     prefix
     * @param always whether every complete run reaches it exactly once: it is in no condition and in no loop
     * @param inLoop whether it is in a loop, so that a run may reach it several times
     * @param itemKeys the key expressions of the loops around it, as written
     */
    public record StepLocation(String path, boolean always, boolean inLoop, String itemKeys) {
        public String displayPath() {
            return hasChannels() ? path.substring(0, path.length() - 1) : path;
        }

        /** Whether it is a notification, which has one effect for each channel. */
        public boolean hasChannels() {
            return path.endsWith(".");
        }

        /** Whether it is in a loop over items, and not only a message that a run sends over several channels or none. */
        public boolean isPerItem() {
            return path.contains("[]");
        }

        /** Whether a path from a run's journal is at this location. */
        public boolean matches(String other) {
            int at = 0;
            for (int i = 0; i < path.length(); i++) {
                if (path.startsWith("[]", i)) {
                    at = afterItem(other, at);
                    i++;
                } else if (at >= other.length() || other.charAt(at++) != path.charAt(i)) {
                    return false;
                }
                if (at < 0) {
                    return false;
                }
            }
            return at == other.length() || (hasChannels() && other.indexOf('/', at) < 0);
        }

        /** The position after the item that begins at this position; -1 if none begins. */
        private static int afterItem(String path, int from) {
            if (from >= path.length() || path.charAt(from) != '[') {
                return -1;
            }
            for (int i = from + 1; i < path.length(); i++) {
                if (path.charAt(i) == '\\') {
                    i++; // the next character is escaped
                } else if (path.charAt(i) == ']') {
                    return i + 1;
                }
            }
            return -1;
        }
    }

    public boolean isSameAction(DeclaredStep other) {
        return kind.equals(other.kind) && identity.equals(other.identity);
    }
}
