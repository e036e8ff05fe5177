package dev.semel.trials.dashboard;

import java.util.Objects;

/** When a person sees the first of a page: from the click to the first paint with content, as the browser tells it. */
public final class FirstPaint implements AutoCloseable {
    private static final String PAINT = """
        () => new Promise(seen => new PerformanceObserver((list, observer) => {
            for (const entry of list.getEntries()) {
                if (entry.name === 'first-contentful-paint') { observer.disconnect(); seen(entry.startTime); }
            }
        }).observe({type: 'paint', buffered: true}))
        """;

    private final BrowserTab tab;

    public FirstPaint(int port) {
        this.tab = BrowserTab.open(port).enter();
    }

    /** In milliseconds. The same tab, and so a browser that has style and script already, as any page but the first. */
    public double millis(String path) {
        tab.go(path);
        return ((Number) Objects.requireNonNull(tab.page().evaluate(PAINT))).doubleValue();
    }

    @Override
    public void close() {
        tab.close();
    }
}
