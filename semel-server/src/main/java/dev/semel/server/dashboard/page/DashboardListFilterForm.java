package dev.semel.server.dashboard.page;

import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;

/** The filter form above a list. Its values are in the URL, so that users can share a filtered list. */
public final class DashboardListFilterForm {
    public static final List<String> AGES = List.of("1h", "24h", "7d", "30d");
    private static final int MOST_CHOICES = 100;

    private final DashboardPageRequest visit;
    private final List<FilterField> fields = new ArrayList<>();

    /** @param options the values to choose from; empty for a text field */
    public record FilterField(String name, String label, String value, String hint, List<FilterOption> options) {
        public boolean isChoice() {
            return !options.isEmpty();
        }

        /** Whether the URL has a value that is not an option; it stays selected. */
        public boolean isOther() {
            return !value.isEmpty()
                    && options.stream().noneMatch(option -> option.value().equals(value));
        }
    }

    public record FilterOption(String value, String label) {}

    private DashboardListFilterForm(DashboardPageRequest visit) {
        this.visit = visit;
    }

    public static DashboardListFilterForm of(DashboardPageRequest visit) {
        return new DashboardListFilterForm(visit);
    }

    /** @param any label of the empty option */
    public DashboardListFilterForm choice(String name, String label, String any, List<String> values) {
        List<FilterOption> options = new ArrayList<>();
        options.add(new FilterOption("", any));
        values.forEach(value -> options.add(new FilterOption(value, value.replace('_', ' '))));
        return choice(name, label, options);
    }

    public DashboardListFilterForm choice(String name, String label, List<FilterOption> options) {
        fields.add(new FilterField(name, label, visit.queryParameter(name).strip(), "", List.copyOf(options)));
        return this;
    }

    public DashboardListFilterForm text(String name, String label, String hint) {
        fields.add(new FilterField(name, label, visit.queryParameter(name).strip(), hint, List.of()));
        return this;
    }

    /** A select field of all workflows; a text field if there are too many. */
    public DashboardListFilterForm workflow() throws Exception {
        DashboardTemplateJsonAccessor page =
                visit.getOrEmpty("/v1/workflows", UrlQuery.of("limit", String.valueOf(MOST_CHOICES)));
        List<String> names =
                page.items().stream().map(workflow -> workflow.text("workflow")).toList();
        return names.isEmpty() || names.size() > MOST_CHOICES || page.has("next")
                ? text("workflow", "Workflow", "all")
                : choice("workflow", "Workflow", "all workflows", names);
    }

    public List<FilterField> fields() {
        return List.copyOf(fields);
    }

    public boolean isSet() {
        return fields.stream().anyMatch(field -> !field.value().isEmpty());
    }

    public String value(String name) {
        return fields.stream()
                .filter(field -> field.name().equals(name))
                .findFirst()
                .map(FilterField::value)
                .orElse("");
    }

    /** The set fields as a URL query. */
    public UrlQuery toUrlQuery() {
        UrlQuery query = UrlQuery.EMPTY;
        for (FilterField field : fields) {
            query = query.and(field.name(), field.value());
        }
        return query;
    }

    /** The set fields as a filter string for the API's `q` parameter. */
    public String toFilterText() {
        return fields.stream()
                .filter(field -> !field.value().isEmpty())
                .map(field -> field.name() + ":" + field.value())
                .collect(Collectors.joining(" "));
    }
}
