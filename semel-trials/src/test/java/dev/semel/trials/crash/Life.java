package dev.semel.trials.crash;

import java.util.List;

/**
 * One life of a process that runs the workflow of a cell: what {@link CrashChild} is told, as one line.
 *
 * @param name of the cell: the key of its run, and the last part of the receiver's path
 * @param run the id of the run if the store has it; empty: it has to be asked for
 */
record Life(
        String store,
        Deed deed,
        String name,
        String receiver,
        String manners,
        Halt halt,
        String run,
        Decision decision,
        Mutation mutation) {
    /** Where the process ends: at the n-th passing of a label. */
    record Halt(String label, int passing) {
        static final Halt NEVER = new Halt("-", 0);

        @Override
        public String toString() {
            return label + (passing == 1 ? "" : "#" + passing);
        }
    }

    /** What a person says of an effect in doubt. */
    enum Decision {
        NONE,
        HAPPENED,
        DID_NOT_HAPPEN
    }

    /** Faults that are planted in the sending code, to show that the judgement sees them. */
    enum Mutation {
        NONE,
        /** Each attempt makes a key of its own. */
        NEW_KEY_EACH_TIME,
        /** A client that repeats a request by itself. */
        SENT_TWICE,
        /** Says that it was sent, and did not. */
        NOT_SENT
    }

    Life haltingAt(Halt value) {
        return new Life(store, deed, name, receiver, manners, value, run, decision, mutation);
    }

    Life of(String runId) {
        return new Life(store, deed, name, receiver, manners, halt, runId, decision, mutation);
    }

    Life deciding(Decision value) {
        return new Life(store, deed, name, receiver, manners, halt, run, value, mutation);
    }

    String line() {
        return String.join(
                "\t",
                List.of(
                        store,
                        deed.name(),
                        name,
                        receiver,
                        manners,
                        halt.label(),
                        Integer.toString(halt.passing()),
                        run,
                        decision.name(),
                        mutation.name()));
    }

    static Life parse(String line) {
        String[] parts = line.split("\t", -1);
        return new Life(
                parts[0],
                Deed.valueOf(parts[1]),
                parts[2],
                parts[3],
                parts[4],
                new Halt(parts[5], Integer.parseInt(parts[6])),
                parts[7],
                Decision.valueOf(parts[8]),
                Mutation.valueOf(parts[9]));
    }
}
