package dev.semel.store;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * How a claim is shared out: between workspaces first, then between the workflows of each. Whoever has ten thousand runs
 * due does not keep one with a single run waiting. What a share leaves over goes to those who want more.
 */
public final class Fair {
    private Fair() {}

    /** A workflow with runs that are due and that nobody drives. */
    public record Group(int workspace, String workflowId) {}

    /** Up to so many runs of one workflow, the longest due first. */
    public record Share(Group group, int most) {}

    public record Taken(String workflowId, Write.Driver driver) {}

    @FunctionalInterface
    public interface Taking<E extends Exception> {
        List<Taken> take(List<Share> shares) throws E;
    }

    /** @param turn moves with time, so that it is not always the same ones that come first where there is not enough for all */
    public static <E extends Exception> List<Write.Driver> claim(
            int limit, List<Group> groups, long turn, Taking<E> taking) throws E {
        List<Write.Driver> claimed = new ArrayList<>();
        List<Group> hungry = groups;
        while (claimed.size() < limit && !hungry.isEmpty()) {
            List<Share> shares = divide(limit - claimed.size(), hungry, turn);
            Map<String, Integer> got = new LinkedHashMap<>();
            for (Taken taken : taking.take(shares)) {
                claimed.add(taken.driver());
                got.merge(taken.workflowId(), 1, Integer::sum);
            }
            hungry = shares.stream()
                    .filter(share -> got.getOrDefault(share.group().workflowId(), 0) == share.most())
                    .map(Share::group)
                    .toList();
        }
        return claimed;
    }

    static List<Share> divide(int limit, List<Group> groups, long turn) {
        Map<Integer, List<Group>> workspaces = new LinkedHashMap<>();
        for (Group group : rotated(groups, turn)) {
            workspaces
                    .computeIfAbsent(group.workspace(), _ -> new ArrayList<>())
                    .add(group);
        }
        List<Share> shares = new ArrayList<>();
        int left = limit;
        int waiting = workspaces.size();
        for (List<Group> own : workspaces.values()) {
            int share = (left + waiting - 1) / waiting--;
            left -= share;
            int open = own.size();
            for (Group group : own) {
                int most = (share + open - 1) / open--;
                share -= most;
                if (most > 0) {
                    shares.add(new Share(group, most));
                }
            }
        }
        return shares;
    }

    private static List<Group> rotated(List<Group> groups, long turn) {
        List<Group> all = new ArrayList<>(groups);
        Collections.rotate(all, (int) Math.floorMod(turn, (long) all.size()));
        return all;
    }
}
