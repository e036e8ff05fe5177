package dev.semel.server.dashboard.run;

import dev.semel.server.dashboard.page.DashboardPageRequest;
import dev.semel.server.dashboard.page.DashboardTemplateJsonAccessor;
import dev.semel.server.dashboard.page.UrlQuery;
import java.util.ArrayList;
import java.util.List;

/**
 * The steps that the run page shows: all, or the first and last of many, or a range.
 *
 * @param timeline the API's response, with the run's reviews
 * @param first index of the first step shown, from 0
 * @param omitted number of steps left out between the first and the last part; else 0
 */
public record RunTimelineStepRange(
        DashboardTemplateJsonAccessor timeline,
        List<DashboardTemplateJsonAccessor> items,
        long total,
        long first,
        long omitted) {
    /** The limit of steps on one page. */
    private static final int MAX_SHOWN = 400;

    private static final int HALF = MAX_SHOWN / 2;

    static RunTimelineStepRange of(DashboardPageRequest visit, String run) throws Exception {
        String from = visit.queryParameter("from");
        boolean range = from.matches("[0-9]{1,9}");
        DashboardTemplateJsonAccessor timeline = visit.get(
                run + "/timeline",
                UrlQuery.of("limit", String.valueOf(MAX_SHOWN)).and("after", range ? from : ""));
        long total = timeline.number("total");
        if (range || total <= MAX_SHOWN) {
            return new RunTimelineStepRange(timeline, timeline.items(), total, range ? Long.parseLong(from) : 0, 0);
        }
        List<DashboardTemplateJsonAccessor> items =
                new ArrayList<>(timeline.items().subList(0, HALF));
        items.addAll(visit.get(
                        run + "/timeline",
                        UrlQuery.of("limit", String.valueOf(HALF)).and("after", String.valueOf(total - HALF)))
                .items());
        return new RunTimelineStepRange(timeline, List.copyOf(items), total, 0, total - items.size());
    }

    public boolean isPart() {
        return items.size() < total;
    }

    public String rangeText() {
        return omitted > 0
                ? "The page shows the first " + HALF + " and the last " + HALF + " of " + total + " steps"
                : "The page shows steps " + (first + 1) + " to " + (first + items.size()) + " of " + total;
    }

    /** The start of the next range; negative if there is none. */
    public long nextStart() {
        return omitted > 0 ? HALF : first + items.size() < total ? first + items.size() : -1;
    }

    /** The start of the previous range; negative if there is none. */
    public long previousStart() {
        return first == 0 ? -1 : Math.max(0, first - MAX_SHOWN);
    }
}
