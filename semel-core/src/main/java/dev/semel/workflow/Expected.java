package dev.semel.workflow;

/**
 * A deed or a wait that a workflow says beforehand it has.
 *
 * @param kind the word of the journal: effect, tx, call, await or approval
 * @param protection the word for what protects an effect; of a call the name of the workflow; empty for a wait
 * @param identity what makes it the same deed in another version of the workflow, as it is written there: what protects
 *     it, and under which key
 * @param does what an effect means: create, update or notify; empty for anything else
 * @param across its key counts for other runs too, and one of those may have done it
 */
public record Expected(Place place, String kind, String protection, String identity, String does, boolean across) {
    /** One of which nobody says what it means, and that no other run can have done. */
    public Expected(Place place, String kind, String protection, String identity) {
        this(place, kind, protection, identity, "", false);
    }

    /**
     * Where it stands.
     *
     * @param path in the records of runs. `[]` stands for every item of a loop, and a dot at the end for every name that
     *     begins like this
     * @param certain every run that is not cut short comes to it once: it hangs on no condition and stands in no loop
     * @param loops it stands in a loop, so that a run may come to it several times
     * @param items how the items of the loops around it are named, as it is written
     */
    public record Place(String path, boolean certain, boolean loops, String items) {
        /** As it is shown. */
        public String shown() {
            return path.endsWith(".") ? path.substring(0, path.length() - 1) : path;
        }

        /** Whether this path of a run is here. */
        public boolean covers(String other) {
            int at = 0;
            for (int i = 0; i < path.length(); i++) {
                if (path.startsWith("[]", i)) {
                    at = behindItem(other, at);
                    i++;
                } else if (at >= other.length() || other.charAt(at++) != path.charAt(i)) {
                    return false;
                }
                if (at < 0) {
                    return false;
                }
            }
            return at == other.length() || (path.endsWith(".") && other.indexOf('/', at) < 0);
        }

        /** Where the item that begins there ends; -1 where none begins. */
        private static int behindItem(String path, int from) {
            if (from >= path.length() || path.charAt(from) != '[') {
                return -1;
            }
            for (int i = from + 1; i < path.length(); i++) {
                if (path.charAt(i) == '\\') {
                    i++; // what follows is part of a name
                } else if (path.charAt(i) == ']') {
                    return i + 1;
                }
            }
            return -1;
        }
    }

    /** Whether it is the same deed, for all that is written. */
    public boolean isLike(Expected other) {
        return kind.equals(other.kind) && identity.equals(other.identity);
    }
}
