package dev.semel.server.operations.system;

import dev.semel.runtime.SemelRuntime;
import dev.semel.server.query.StoreReader;
import dev.semel.store.DatabaseRows;
import dev.semel.store.MetricCounter;
import dev.semel.store.MetricQueries;
import dev.semel.store.MetricUpdateCollector;
import dev.semel.store.StoreFailure;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * Exports the store's per-workflow counters for Prometheus, the same counts as `GET /v1/monitoring`. Every worker returns
 * the same values and a restart does not reset them, so scrape one worker or take the maximum. Names appear only for
 * callers who may read their workspace.
 */
final class PrometheusWorkflowMetrics {
    private static final long HOUR = 60;

    /** The maximum number of step labels per workflow, because Java code can name steps freely. */
    static final int MAX_STEPS = 100;

    /** The label of all further steps; no step can have this name. */
    static final String OTHERS = "(others)";

    private final SemelRuntime semel;
    private final Map<MetricSeries, Long> closedHours = new TreeMap<>();
    /** The steps with their own label: the first ones since this process started. */
    private final Map<String, Set<String>> steps = new TreeMap<>();

    private long closedUntil;

    PrometheusWorkflowMetrics(SemelRuntime semel) {
        this.semel = semel;
    }

    private record MetricSeries(String meter, String workspace, String workflow, String step)
            implements Comparable<MetricSeries> {
        @Override
        public int compareTo(MetricSeries other) {
            return labels().compareTo(other.labels());
        }

        boolean belongsTo(@Nullable String wanted) {
            return wanted == null || wanted.equals(workspace);
        }

        private String labels() {
            return meter + "\n" + workspace + "\n" + workflow + "\n" + step;
        }
    }

    private enum MetricFamily {
        REQUESTS("semel_requests_total", "Triggers by outcome"),
        EFFECTS("semel_effects_total", "Effects by outcome"),
        WRITES("semel_writes_total", "Accepted effects that create or update an object"),
        RECOVERIES("semel_recoveries_total", "Runs that completed after a failed attempt or a crash");

        private final String title;
        private final String help;

        MetricFamily(String title, String help) {
            this.title = title;
            this.help = help;
        }

        static MetricFamily of(MetricCounter figure) {
            return switch (figure) {
                case KEYED, UNKEYED, REPLAYED, CONFLICT, DUPLICATE_PAYLOAD, EXPIRED -> REQUESTS;
                case NOTIFIED, SUPPRESSED, UNPROTECTED -> EFFECTS;
                case WRITTEN -> WRITES;
                case RECOVERED -> RECOVERIES;
            };
        }
    }

    private static String outcome(MetricCounter figure) {
        return switch (figure) {
            case KEYED -> ",outcome=\"started\"";
            case UNKEYED -> ",outcome=\"started_without_key\"";
            case REPLAYED -> ",outcome=\"replayed\"";
            case CONFLICT -> ",outcome=\"conflict\"";
            case DUPLICATE_PAYLOAD -> ",outcome=\"duplicate_payload\"";
            case EXPIRED -> ",outcome=\"expired\"";
            case NOTIFIED -> ",outcome=\"notified\"";
            case SUPPRESSED -> ",outcome=\"suppressed\"";
            case UNPROTECTED -> ",outcome=\"unprotected\"";
            case WRITTEN, RECOVERED -> "";
        };
    }

    /**
     * Returns the Prometheus text format; empty if the store does not answer.
     *
     * @param workspace only this workspace; null: all
     */
    synchronized String scrapeText(@Nullable String workspace) {
        try {
            return render(workspace);
        } catch (StoreFailure e) {
            return "";
        }
    }

    private String render(@Nullable String workspace) {
        long minute = StoreReader.now(semel) / MetricUpdateCollector.MICROS_PER_MINUTE;
        // Hours that no longer change are summed once; the rest on every scrape.
        long settle = (minute - 2 * HOUR) / HOUR * HOUR;
        NameCache names = new NameCache();
        if (settle > closedUntil) {
            add(totals(closedUntil, settle), names, closedHours);
            closedUntil = settle;
        }
        Map<MetricSeries, Long> now = new TreeMap<>(closedHours);
        add(totals(closedUntil, Long.MAX_VALUE), names, now);
        StringBuilder out = new StringBuilder();
        for (MetricFamily meter : MetricFamily.values()) {
            out.append("# HELP ")
                    .append(meter.title)
                    .append(' ')
                    .append(meter.help)
                    .append('\n');
            out.append("# TYPE ").append(meter.title).append(" counter\n");
            now.forEach((line, n) -> {
                MetricCounter figure = MetricCounter.valueOf(line.meter());
                if (MetricFamily.of(figure) == meter && line.belongsTo(workspace)) {
                    out.append(meter.title).append(labels(line, outcome(figure)));
                    out.append(' ').append(n).append('\n');
                }
            });
        }
        addInDoubt(out, names, minute * MetricUpdateCollector.MICROS_PER_MINUTE, workspace);
        return out.toString();
    }

    private List<MetricQueries.CounterTotal> totals(long from, long until) {
        return StoreReader.read(semel, reads -> reads.metrics().totals(from, until));
    }

    private void add(List<MetricQueries.CounterTotal> totals, NameCache names, Map<MetricSeries, Long> lines) {
        for (MetricQueries.CounterTotal total : totals) {
            MetricSeries line = new MetricSeries(
                    total.counter().name(), names.workspace(total.ws()), names.workflow(total), step(total));
            lines.merge(line, total.count(), Long::sum);
        }
    }

    private String step(MetricQueries.CounterTotal total) {
        Set<String> own = steps.computeIfAbsent(total.workflowId(), _ -> new HashSet<>());
        boolean has = total.step().isEmpty() || own.contains(total.step());
        return has || (own.size() < MAX_STEPS && own.add(total.step())) ? total.step() : OTHERS;
    }

    private void addInDoubt(StringBuilder out, NameCache names, long now, @Nullable String workspace) {
        StringBuilder ages = new StringBuilder();
        out.append("# HELP semel_in_doubt Effects that wait for a decision\n# TYPE semel_in_doubt gauge\n");
        Integer ws = semel.view(reads -> reads.workspaceAfter(0));
        while (ws != null) {
            int one = ws;
            for (MetricQueries.InDoubtCount doubt :
                    StoreReader.read(semel, reads -> reads.metrics().inDoubtCounts(one))) {
                MetricSeries line =
                        new MetricSeries("", names.workspace(one), names.workflow(one, doubt.workflowId()), "");
                if (!line.belongsTo(workspace)) {
                    continue;
                }
                out.append("semel_in_doubt")
                        .append(labels(line, ""))
                        .append(' ')
                        .append(doubt.effects())
                        .append('\n');
                double age = Math.max(0, now - doubt.oldestAt()) / 1e6;
                ages.append("semel_in_doubt_oldest_seconds").append(labels(line, ""));
                ages.append(String.format(Locale.ROOT, " %.0f%n", age).replace("\r", ""));
            }
            ws = semel.view(reads -> reads.workspaceAfter(one));
        }
        out.append("# HELP semel_in_doubt_oldest_seconds Age of the oldest effect that waits for a decision\n");
        out.append("# TYPE semel_in_doubt_oldest_seconds gauge\n").append(ages);
    }

    private static String labels(MetricSeries line, String outcome) {
        String step = line.step().isEmpty() ? "" : ",step=\"" + escaped(line.step()) + "\"";
        return "{workspace=\"" + escaped(line.workspace()) + "\",workflow=\"" + escaped(line.workflow()) + "\"" + step
                + outcome + "}";
    }

    private static String escaped(String value) {
        return value.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
    }

    /** Looks up each workspace and workflow name once per scrape. */
    private final class NameCache {
        private final Map<Integer, Map<String, String>> workflows = new TreeMap<>();
        private final Map<Integer, String> workspaces = new TreeMap<>();

        String workspace(int ws) {
            return workspaces.computeIfAbsent(ws, one -> {
                DatabaseRows.@Nullable WorkspaceRow row = semel.view(reads -> reads.workspace(one));
                return row == null ? String.valueOf(one) : row.name();
            });
        }

        String workflow(MetricQueries.CounterTotal total) {
            return workflow(total.ws(), total.workflowId());
        }

        String workflow(int ws, String id) {
            return workflows
                    .computeIfAbsent(ws, one -> {
                        Map<String, String> names = new TreeMap<>();
                        StoreReader.read(semel, reads -> reads.workflows(one))
                                .forEach(row -> names.put(row.workflowId(), row.name()));
                        return names;
                    })
                    .getOrDefault(id, id);
        }
    }
}
