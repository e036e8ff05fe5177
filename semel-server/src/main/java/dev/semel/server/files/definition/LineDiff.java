package dev.semel.server.files.definition;

import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

/**
 * Computes a unified diff of two texts, line by line.
 *
 * <p>It is the shortest diff (Myers 1986), unless more than a thousand lines differ: then the whole middle is shown as
 * replaced.
 */
public final class LineDiff {
    private static final int MOST_CHANGES = 1_000;
    private static final int CONTEXT = 3;

    private final List<String> before;
    private final List<String> after;
    private final List<DiffLine> lines = new ArrayList<>();

    /** One line of the diff: ' ', '-' or '+' and the text. */
    private record DiffLine(char mark, String text) {}

    private LineDiff(String before, String after) {
        this.before = before.lines().toList();
        this.after = after.lines().toList();
    }

    /** Empty if no line differs. */
    public static String unified(String before, String after) {
        LineDiff diff = new LineDiff(before, after);
        diff.compare();
        return diff.shown();
    }

    private void compare() {
        int head = 0;
        int shorter = Math.min(before.size(), after.size());
        while (head < shorter && before.get(head).equals(after.get(head))) {
            head++;
        }
        int tail = 0;
        while (tail < shorter - head && fromEnd(before, tail).equals(fromEnd(after, tail))) {
            tail++;
        }
        before.subList(0, head).forEach(line -> lines.add(new DiffLine(' ', line)));
        middle(before.subList(head, before.size() - tail), after.subList(head, after.size() - tail));
        before.subList(before.size() - tail, before.size()).forEach(line -> lines.add(new DiffLine(' ', line)));
    }

    private static String fromEnd(List<String> list, int place) {
        return list.get(list.size() - 1 - place);
    }

    /** Finds how far each diagonal reaches with one more change, and stores each round. */
    private void middle(List<String> from, List<String> to) {
        int most = Math.min(from.size() + to.size(), MOST_CHANGES);
        int centre = most + 1;
        int[] reach = new int[2 * most + 3];
        List<int[]> rounds = new ArrayList<>();
        for (int changes = 0; changes <= most; changes++) {
            rounds.add(Arrays.copyOfRange(reach, centre - changes - 1, centre + changes + 2));
            for (int k = -changes; k <= changes; k += 2) {
                boolean down = k == -changes || (k != changes && reach[centre + k - 1] < reach[centre + k + 1]);
                int x = down ? reach[centre + k + 1] : reach[centre + k - 1] + 1;
                while (x < from.size() && x - k < to.size() && from.get(x).equals(to.get(x - k))) {
                    x++;
                }
                reach[centre + k] = x;
                if (x >= from.size() && x - k >= to.size()) {
                    lines.addAll(walkedBack(from, to, rounds));
                    return;
                }
            }
        }
        from.forEach(line -> lines.add(new DiffLine('-', line)));
        to.forEach(line -> lines.add(new DiffLine('+', line)));
    }

    private static List<DiffLine> walkedBack(List<String> from, List<String> to, List<int[]> rounds) {
        List<DiffLine> found = new ArrayList<>();
        int x = from.size();
        int y = to.size();
        for (int changes = rounds.size() - 1; changes >= 0; changes--) {
            int[] reach = rounds.get(changes);
            int centre = changes + 1;
            int k = x - y;
            boolean down = k == -changes || (k != changes && reach[centre + k - 1] < reach[centre + k + 1]);
            int startX = down ? reach[centre + k + 1] : reach[centre + k - 1];
            int startY = startX - (down ? k + 1 : k - 1);
            while (x > startX && y > startY && x > 0 && y > 0) {
                x--;
                y--;
                found.add(new DiffLine(' ', from.get(x)));
            }
            if (changes > 0) {
                found.add(down ? new DiffLine('+', to.get(startY)) : new DiffLine('-', from.get(startX)));
            }
            x = startX;
            y = startY;
        }
        return found.reversed();
    }

    private String shown() {
        StringBuilder out = new StringBuilder();
        int at = 0;
        while (at < lines.size()) {
            if (lines.get(at).mark() == ' ') {
                at++;
                continue;
            }
            int start = Math.max(0, at - CONTEXT);
            int end = endOfHunk(at);
            hunk(out, start, end);
            at = end;
        }
        return out.toString();
    }

    /** The end of a hunk: after the context of its last change. Changes within two contexts share a hunk. */
    private int endOfHunk(int first) {
        int last = first;
        for (int i = first; i < lines.size() && i - last <= 2 * CONTEXT; i++) {
            last = lines.get(i).mark() == ' ' ? last : i;
        }
        return Math.min(lines.size(), last + CONTEXT + 1);
    }

    private void hunk(StringBuilder out, int start, int end) {
        List<DiffLine> part = lines.subList(start, end);
        out.append("@@ -")
                .append(range(start, part, '+'))
                .append(" +")
                .append(range(start, part, '-'))
                .append(" @@\n");
        part.forEach(line -> out.append(line.mark()).append(line.text()).append('\n'));
    }

    /** The start line and length of a hunk on one side: all lines except those of the other side. */
    private String range(int start, List<DiffLine> part, char others) {
        long front = lines.subList(0, start).stream()
                .filter(line -> line.mark() != others)
                .count();
        long length = part.stream().filter(line -> line.mark() != others).count();
        return (length == 0 ? front : front + 1) + "," + length;
    }
}
