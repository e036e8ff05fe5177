package dev.semel.trials.chaos.checks;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;

/**
 * Everything that the judge knows.
 *
 * @param heard the receiver's log, in the order in which it came
 * @param reported the clients' ledger
 * @param events what workers noted of themselves: {@code worker ⇥ what ⇥ detail}
 */
public record Evidence(
        List<ReceivedRequest> heard,
        List<ClientRecord> reported,
        DatabaseDump dump,
        List<Fault> faults,
        List<String[]> events) {
    /** The requests of each effect and step. */
    Map<String, List<ReceivedRequest>> byName() {
        Map<String, List<ReceivedRequest>> names = new HashMap<>();
        heard.forEach(line ->
                names.computeIfAbsent(line.name(), _ -> new ArrayList<>()).add(line));
        return names;
    }

    Map<String, List<ClientRecord>> byKey() {
        Map<String, List<ClientRecord>> keys = new HashMap<>();
        reported.forEach(
                line -> keys.computeIfAbsent(line.key(), _ -> new ArrayList<>()).add(line));
        return keys;
    }

    Map<String, List<DatabaseDump.Run>> runsByKey() {
        Map<String, List<DatabaseDump.Run>> keys = new HashMap<>();
        dump.runs()
                .forEach(run ->
                        keys.computeIfAbsent(run.key(), _ -> new ArrayList<>()).add(run));
        return keys;
    }

    /** How often a worker noted something. */
    long noted(String what) {
        return events.stream().filter(event -> event[1].equals(what)).count();
    }
}
