package dev.semel.trials.crash;

import java.util.ArrayList;
import java.util.HashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.regex.Matcher;
import java.util.regex.Pattern;

/**
 * One system call as strace wrote it.
 *
 * @param target the file or socket behind the first argument
 * @param text all arguments
 * @param start line where the call was entered
 * @param end line where it returned; the lines of a log are in the order in which things happened
 */
record Syscall(long thread, String name, String target, String text, int start, int end) {
    private static final Set<String> READS = Set.of("read", "readv", "recvfrom", "recvmsg");
    private static final Set<String> WRITES = Set.of("write", "writev", "sendto", "sendmsg");
    private static final Set<String> SYNCS = Set.of("fsync", "fdatasync");

    private static final Pattern WHOLE = Pattern.compile("(\\d+)\\s+(\\w+)\\((.*)\\)\\s+= (-?\\d+).*");
    private static final Pattern ENTERED = Pattern.compile("(\\d+)\\s+(\\w+)\\((.*) <unfinished \\.\\.\\.>");
    private static final Pattern RETURNED =
            Pattern.compile("(\\d+)\\s+<\\.\\.\\. (\\w+) resumed>(.*)\\)\\s+= (-?\\d+).*");
    private static final Pattern TARGET = Pattern.compile("\\d+<([^>]*)>.*");

    boolean reads() {
        return READS.contains(name);
    }

    boolean writes() {
        return WRITES.contains(name);
    }

    boolean syncs() {
        return SYNCS.contains(name);
    }

    /** The calls that returned without an error, in the order of their return. */
    static List<Syscall> parse(List<String> lines) {
        List<Syscall> calls = new ArrayList<>();
        Map<String, Entry> open = new HashMap<>();
        for (int i = 0; i < lines.size(); i++) {
            Matcher whole = WHOLE.matcher(lines.get(i));
            Matcher entered = ENTERED.matcher(lines.get(i));
            Matcher returned = RETURNED.matcher(lines.get(i));
            if (returned.matches()) {
                Entry entry = open.remove(returned.group(1));
                if (entry != null && !returned.group(4).startsWith("-")) {
                    calls.add(call(returned.group(1), returned.group(2), entry.text() + returned.group(3))
                            .between(entry.line(), i));
                }
            } else if (entered.matches()) {
                open.put(entered.group(1), new Entry(i, entered.group(3)));
            } else if (whole.matches() && !whole.group(4).startsWith("-")) {
                calls.add(call(whole.group(1), whole.group(2), whole.group(3)).between(i, i));
            }
        }
        return calls;
    }

    /** A call that has not returned yet. */
    private record Entry(int line, String text) {}

    private static Syscall call(String thread, String name, String text) {
        Matcher target = TARGET.matcher(text);
        return new Syscall(Long.parseLong(thread), name, target.matches() ? target.group(1) : "", text, 0, 0);
    }

    private Syscall between(int from, int to) {
        return new Syscall(thread, name, target, text, from, to);
    }
}
