package dev.semel.server.pages;

import dev.semel.server.http.Inside;
import java.util.ArrayList;
import java.util.List;
import java.util.stream.Collectors;
import java.util.stream.Stream;

/** The filter form above a list. Its values are in the URL, so that users can share a filtered list. */
public final class Filters {
    static final List<String> AGES = List.of("1h", "24h", "7d", "30d");
    private static final int MOST_CHOICES = 100;

    private final Visit visit;
    private final List<Field> fields = new ArrayList<>();

    /**
     * One field of the filter form.
     *
     * @param options the values to choose from; empty for a text field
     */
    public record Field(String name, String label, String value, String hint, List<Option> options) {
        public boolean isChoice() {
            return !options.isEmpty();
        }

        /** Whether the URL has a value that is not an option; it stays selected. */
        public boolean isOther() {
            return !value.isEmpty()
                    && options.stream().noneMatch(option -> option.value().equals(value));
        }
    }

    /** One value of a select field. */
    public record Option(String value, String says) {}

    private Filters(Visit visit) {
        this.visit = visit;
    }

    static Filters of(Visit visit) {
        return new Filters(visit);
    }

    /** @param any label of the empty option */
    Filters choice(String name, String label, String any, List<String> values) {
        List<Option> options = new ArrayList<>();
        options.add(new Option("", any));
        values.forEach(value -> options.add(new Option(value, value.replace('_', ' '))));
        return choice(name, label, options);
    }

    Filters choice(String name, String label, List<Option> options) {
        fields.add(new Field(name, label, visit.asked(name).strip(), "", List.copyOf(options)));
        return this;
    }

    Filters text(String name, String label, String hint) {
        fields.add(new Field(name, label, visit.asked(name).strip(), hint, List.of()));
        return this;
    }

    /** A select field of all workflows; a text field if there are too many. */
    Filters workflow() throws Exception {
        Doc page = visit.maybe("/v1/workflows", "limit=" + MOST_CHOICES);
        List<String> names =
                page.items().stream().map(workflow -> workflow.text("workflow")).toList();
        return names.isEmpty() || names.size() > MOST_CHOICES || page.has("next")
                ? text("workflow", "Workflow", "all")
                : choice("workflow", "Workflow", "all workflows", names);
    }

    public List<Field> fields() {
        return List.copyOf(fields);
    }

    public boolean isSet() {
        return fields.stream().anyMatch(field -> !field.value().isEmpty());
    }

    String value(String name) {
        return fields.stream()
                .filter(field -> field.name().equals(name))
                .findFirst()
                .map(Field::value)
                .orElse("");
    }

    /** The set fields as a URL query. */
    String query() {
        return set().map(field -> Inside.encoded(field.name()) + "=" + Inside.encoded(field.value()))
                .collect(Collectors.joining("&"));
    }

    /** The set fields as a filter string for the API's `q` parameter. */
    String words() {
        return set().map(field -> field.name() + ":" + field.value()).collect(Collectors.joining(" "));
    }

    private Stream<Field> set() {
        return fields.stream().filter(field -> !field.value().isEmpty());
    }
}
