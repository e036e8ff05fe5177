package dev.semel.server.pages;

import java.util.ArrayList;
import java.util.List;

/**
 * The steps of a run that its page draws: all of them, or the first and the last ones of many, or some from a place on.
 *
 * @param timeline as the API tells it, with what the run asked of people
 * @param first the number of the first one that is drawn, from 0
 * @param gap how many are left out between the first and the last part; 0 where there is one part
 */
public record Steps(Doc timeline, List<Doc> items, long total, long first, long gap) {
    /** Drawn at once; a page of many thousands would be of no use to anybody. */
    private static final int DRAWN = 400;

    private static final int HALF = DRAWN / 2;

    static Steps of(Visit visit, String run) throws Exception {
        String from = visit.asked("from");
        boolean somewhere = from.matches("[0-9]{1,9}");
        Doc timeline =
                visit.get(run + "/timeline", "limit=" + DRAWN + (somewhere ? "&after=" + Long.parseLong(from) : ""));
        long total = timeline.number("total");
        if (somewhere || total <= DRAWN) {
            return new Steps(timeline, timeline.items(), total, somewhere ? Long.parseLong(from) : 0, 0);
        }
        List<Doc> items = new ArrayList<>(timeline.items().subList(0, HALF));
        items.addAll(visit.get(run + "/timeline", "limit=" + HALF + "&after=" + (total - HALF))
                .items());
        return new Steps(timeline, List.copyOf(items), total, 0, total - items.size());
    }

    public boolean isPart() {
        return items.size() < total;
    }

    /** What is drawn, in words. */
    public String told() {
        return gap > 0
                ? "The first " + HALF + " and the last " + HALF + " of " + total + " steps are drawn"
                : "Steps " + (first + 1) + " to " + (first + items.size()) + " of " + total + " are drawn";
    }

    /** Where those begin that come behind; negative where none do. */
    public long behind() {
        return gap > 0 ? HALF : first + items.size() < total ? first + items.size() : -1;
    }

    /** Where those begin that come before; negative where none do. */
    public long before() {
        return first == 0 ? -1 : Math.max(0, first - DRAWN);
    }
}
