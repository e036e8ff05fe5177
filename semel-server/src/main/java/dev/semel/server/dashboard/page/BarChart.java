package dev.semel.server.dashboard.page;

import java.time.Duration;
import java.time.Instant;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;

public record BarChart(List<Column> columns, long max) {
    private static final int WIDTH = 300;
    private static final int HEIGHT = 40;
    private static final int COLUMN = 4;

    /** One bar, in chart coordinates. */
    public record Column(int x, int y, int width, int height) {}

    /** @param members the counters to show; several are summed */
    public static BarChart of(DashboardTemplateJsonAccessor signals, String... members) {
        Instant since = signals.time("since");
        Instant until = signals.time("until");
        List<DashboardTemplateJsonAccessor> points = signals.list("series");
        long most =
                points.stream().mapToLong(point -> sum(point, members)).max().orElse(0);
        List<Column> columns = new ArrayList<>();
        if (since == null || until == null || most == 0) {
            return new BarChart(columns, most);
        }
        double length = Math.max(1, Duration.between(since, until).toSeconds());
        for (DashboardTemplateJsonAccessor point : points) {
            Instant at = point.time("at");
            long count = sum(point, members);
            if (at != null && count > 0) {
                int x = (int) Math.clamp(Duration.between(since, at).toSeconds() / length * WIDTH, 0, WIDTH - COLUMN);
                int height = (int) Math.max(2, count * HEIGHT / most);
                columns.add(new Column(x, HEIGHT - height, COLUMN, height));
            }
        }
        return new BarChart(columns, most);
    }

    private static long sum(DashboardTemplateJsonAccessor point, String... members) {
        return Arrays.stream(members).mapToLong(point::number).sum();
    }
}
