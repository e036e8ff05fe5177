package dev.semel.trials.crash;

import java.util.List;

/**
 * One life of a process that runs the workflow of a cell: what {@link CrashChild} is notified, as one line.
 *
 * @param name of the cell: the key of its run, and the last part of the receiver's path
 * @param run the id of the run if the store has it; empty: it has to be asked for
 */
record ProcessLife(
        String store,
        CrashAction effect,
        String name,
        String receiver,
        String manners,
        HaltPoint halt,
        String run,
        Decision decision,
        Mutation mutation) {
    /** Where the process ends: at the n-th passing of a label. */
    record HaltPoint(String label, int passing) {
        static final HaltPoint NEVER = new HaltPoint("-", 0);

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

    ProcessLife haltingAt(HaltPoint value) {
        return new ProcessLife(store, effect, name, receiver, manners, value, run, decision, mutation);
    }

    ProcessLife of(String runId) {
        return new ProcessLife(store, effect, name, receiver, manners, halt, runId, decision, mutation);
    }

    ProcessLife deciding(Decision value) {
        return new ProcessLife(store, effect, name, receiver, manners, halt, run, value, mutation);
    }

    String line() {
        return String.join(
                "\t",
                List.of(
                        store,
                        effect.name(),
                        name,
                        receiver,
                        manners,
                        halt.label(),
                        Integer.toString(halt.passing()),
                        run,
                        decision.name(),
                        mutation.name()));
    }

    static ProcessLife parse(String line) {
        String[] parts = line.split("\t", -1);
        return new ProcessLife(
                parts[0],
                CrashAction.valueOf(parts[1]),
                parts[2],
                parts[3],
                parts[4],
                new HaltPoint(parts[5], Integer.parseInt(parts[6])),
                parts[7],
                Decision.valueOf(parts[8]),
                Mutation.valueOf(parts[9]));
    }
}
