package dev.semel.server.api;

import dev.semel.Semel;
import dev.semel.store.Counted;
import dev.semel.store.Figure;
import dev.semel.store.Figures;
import dev.semel.store.Rows;
import dev.semel.store.StoreFailure;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Objects;
import java.util.Set;
import java.util.TreeMap;
import org.jspecify.annotations.Nullable;

/**
 * The signals for Prometheus, from the same counts that `GET /v1/signals` tells: they are those of the store, so every
 * worker says the same, and a restart does not set them back. Ask one worker, or take the maximum. Names of workflows and
 * steps are told to whoever may read their workspace.
 */
final class SignalMeters {
    private static final long HOUR = 60;

    /** So many steps of a workflow have lines of their own; steps of code may be called anything. */
    static final int MOST_STEPS = 100;

    /** Under which the others are added up; no step is called like this. */
    static final String OTHERS = "(others)";

    private final Semel semel;
    private final Map<Line, Long> settled = new TreeMap<>();
    /** Which steps of a workflow have lines: those that came first, for as long as the process lives. */
    private final Map<String, Set<String>> steps = new TreeMap<>();

    private long settledUntil;

    SignalMeters(Semel semel) {
        this.semel = semel;
    }

    private record Line(String meter, String workspace, String workflow, String step) implements Comparable<Line> {
        @Override
        public int compareTo(Line other) {
            return labels().compareTo(other.labels());
        }

        boolean isOf(@Nullable String wanted) {
            return wanted == null || wanted.equals(workspace);
        }

        private String labels() {
            return meter + "\n" + workspace + "\n" + workflow + "\n" + step;
        }
    }

    /** Which meter a figure belongs to, and what distinguishes it there. */
    private enum Meter {
        REQUESTS("semel_requests_total", "Triggers by how they were answered"),
        EFFECTS("semel_effects_total", "Effects by what became of them"),
        WRITES("semel_writes_total", "Effects that create or update something and were accepted"),
        RECOVERIES("semel_recoveries_total", "Runs that completed after a failed attempt or a crash");

        private final String title;
        private final String help;

        Meter(String title, String help) {
            this.title = title;
            this.help = help;
        }

        static Meter of(Figure figure) {
            return switch (figure) {
                case KEYED, UNKEYED, REPLAYED, CONFLICT, SAME_PAYLOAD, EXPIRED -> REQUESTS;
                case TOLD, SUPPRESSED, UNPROTECTED -> EFFECTS;
                case WRITTEN -> WRITES;
                case RECOVERED -> RECOVERIES;
            };
        }
    }

    private static String outcome(Figure figure) {
        return switch (figure) {
            case KEYED -> ",outcome=\"started\"";
            case UNKEYED -> ",outcome=\"started_without_key\"";
            case REPLAYED -> ",outcome=\"replayed\"";
            case CONFLICT -> ",outcome=\"conflict\"";
            case SAME_PAYLOAD -> ",outcome=\"same_payload\"";
            case EXPIRED -> ",outcome=\"expired\"";
            case TOLD -> ",outcome=\"told\"";
            case SUPPRESSED -> ",outcome=\"suppressed\"";
            case UNPROTECTED -> ",outcome=\"unprotected\"";
            case WRITTEN, RECOVERED -> "";
        };
    }

    /**
     * In the text format of Prometheus; nothing where the store does not answer.
     *
     * @param workspace only the lines of that one; null for all
     */
    synchronized String text(@Nullable String workspace) {
        try {
            return written(workspace);
        } catch (StoreFailure e) {
            return "";
        }
    }

    private String written(@Nullable String workspace) {
        long minute = Objects.requireNonNull(semel.view(reads -> reads.now())) / Counted.MINUTE;
        // Hours that nobody counts in any more are added up once; the rest with every look.
        long settle = (minute - 2 * HOUR) / HOUR * HOUR;
        Names names = new Names();
        if (settle > settledUntil) {
            add(totals(settledUntil, settle), names, settled);
            settledUntil = settle;
        }
        Map<Line, Long> now = new TreeMap<>(settled);
        add(totals(settledUntil, Long.MAX_VALUE), names, now);
        StringBuilder out = new StringBuilder();
        for (Meter meter : Meter.values()) {
            out.append("# HELP ")
                    .append(meter.title)
                    .append(' ')
                    .append(meter.help)
                    .append('\n');
            out.append("# TYPE ").append(meter.title).append(" counter\n");
            now.forEach((line, n) -> {
                Figure figure = Figure.valueOf(line.meter());
                if (Meter.of(figure) == meter && line.isOf(workspace)) {
                    out.append(meter.title).append(labels(line, outcome(figure)));
                    out.append(' ').append(n).append('\n');
                }
            });
        }
        doubts(out, names, minute * Counted.MINUTE, workspace);
        return out.toString();
    }

    private List<Figures.Total> totals(long from, long until) {
        return Objects.requireNonNull(semel.view(reads -> reads.figures().totals(from, until)));
    }

    private void add(List<Figures.Total> totals, Names names, Map<Line, Long> lines) {
        for (Figures.Total total : totals) {
            Line line =
                    new Line(total.figure().name(), names.workspace(total.ws()), names.workflow(total), step(total));
            lines.merge(line, total.n(), Long::sum);
        }
    }

    private String step(Figures.Total total) {
        Set<String> own = steps.computeIfAbsent(total.workflowId(), _ -> new HashSet<>());
        boolean has = total.step().isEmpty() || own.contains(total.step());
        return has || (own.size() < MOST_STEPS && own.add(total.step())) ? total.step() : OTHERS;
    }

    private void doubts(StringBuilder out, Names names, long now, @Nullable String workspace) {
        StringBuilder ages = new StringBuilder();
        out.append("# HELP semel_in_doubt Effects that wait for a decision\n# TYPE semel_in_doubt gauge\n");
        Integer ws = semel.view(reads -> reads.workspaceAfter(0));
        while (ws != null) {
            int one = ws;
            for (Figures.Doubt doubt :
                    Objects.requireNonNull(semel.view(reads -> reads.figures().doubts(one)))) {
                Line line = new Line("", names.workspace(one), names.workflow(one, doubt.workflowId()), "");
                if (!line.isOf(workspace)) {
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
        out.append("# HELP semel_in_doubt_oldest_seconds How long the oldest of them waits\n");
        out.append("# TYPE semel_in_doubt_oldest_seconds gauge\n").append(ages);
    }

    private static String labels(Line line, String outcome) {
        String step = line.step().isEmpty() ? "" : ",step=\"" + escaped(line.step()) + "\"";
        return "{workspace=\"" + escaped(line.workspace()) + "\",workflow=\"" + escaped(line.workflow()) + "\"" + step
                + outcome + "}";
    }

    private static String escaped(String value) {
        return value.replace("\\", "\\\\").replace("\"", "\\\"").replace("\n", "\\n");
    }

    /** Names of workspaces and workflows, looked up once for a text. */
    private final class Names {
        private final Map<Integer, Map<String, String>> workflows = new TreeMap<>();
        private final Map<Integer, String> workspaces = new TreeMap<>();

        String workspace(int ws) {
            return workspaces.computeIfAbsent(ws, one -> {
                Rows.@Nullable Workspace row = semel.view(reads -> reads.workspace(one));
                return row == null ? String.valueOf(one) : row.name();
            });
        }

        String workflow(Figures.Total total) {
            return workflow(total.ws(), total.workflowId());
        }

        String workflow(int ws, String id) {
            return workflows
                    .computeIfAbsent(ws, one -> {
                        Map<String, String> names = new TreeMap<>();
                        Objects.requireNonNull(semel.view(reads -> reads.workflows(one)))
                                .forEach(row -> names.put(row.workflowId(), row.name()));
                        return names;
                    })
                    .getOrDefault(id, id);
        }
    }
}
