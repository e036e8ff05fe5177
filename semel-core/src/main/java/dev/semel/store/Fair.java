package dev.semel.store;

import java.util.ArrayList;
import java.util.Collections;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;

/**
 * Divides a claim of due runs fairly between workspaces, then between the workflows of each. A workflow with one due
 * run does not wait behind one with ten thousand. Unused quota goes to those that have more due runs.
 */
public final class Fair {
    private Fair() {}

    /** A workflow with due runs that no worker executes. */
    public record Group(int workspace, String workflowId) {}

    /** How many runs of one workflow to claim, longest due first. */
    public record Share(Group group, int most) {}

    /** A claimed run and its workflow. */
    public record Taken(String workflowId, Write.Driver driver) {}

    /** The store statement that claims runs within these quotas. */
    @FunctionalInterface
    public interface Taking<E extends Exception> {
        List<Taken> take(List<Share> shares) throws E;
    }

    /**
     * Claims up to {@code limit} runs.
     *
     * @param turn changes with time, so that other workflows come first when the limit is too small for all
     */
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
