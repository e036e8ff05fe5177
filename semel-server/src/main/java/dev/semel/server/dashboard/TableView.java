package dev.semel.server.dashboard;

import dev.semel.server.http.InternalApiClient;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A table for an API list: column definitions, rows, and the text for an empty list. */
public final class TableView {
    private final String caption;
    private final List<Column> columns = new ArrayList<>();
    private List<ApiJson> rows = List.of();
    private String next = "";
    private String withFilter = "";
    private String emptyText = "";
    private String command = "";

    /** How a cell is shown. */
    public enum CellKind {
        TEXT,
        CODE,
        LINK,
        TIME,
        STATUS,
        BUTTON
    }

    /**
     * One table cell.
     *
     * @param href target of a link or of a button's form; empty for other kinds
     */
    public record Cell(
            CellKind kind,
            String text,
            String href,
            @Nullable Instant time) {}

    /** A column: its title, and how it shows a row. */
    private record Column(String title, Function<ApiJson, Cell> cell) {}

    private TableView(String caption) {
        this.caption = caption;
    }

    static TableView titled(String caption) {
        return new TableView(caption);
    }

    TableView text(String title, String member) {
        return text(title, doc -> doc.text(member));
    }

    TableView text(String title, Function<ApiJson, String> text) {
        return add(title, doc -> new Cell(CellKind.TEXT, text.apply(doc), "", null));
    }

    TableView code(String title, String member) {
        return add(title, doc -> new Cell(CellKind.CODE, doc.text(member), "", null));
    }

    TableView time(String title, String member) {
        return add(title, doc -> new Cell(CellKind.TIME, "", "", doc.time(member)));
    }

    TableView status(String title, String member) {
        return status(title, doc -> doc.text(member));
    }

    TableView status(String title, Function<ApiJson, String> word) {
        return add(title, doc -> new Cell(CellKind.STATUS, word.apply(doc), "", null));
    }

    /** A link to the page of the id in a member. */
    TableView link(String title, String member, String page) {
        return link(title, doc -> doc.text(member), doc -> InternalApiClient.path(page, doc.text(member)));
    }

    TableView link(String title, Function<ApiJson, String> text, Function<ApiJson, String> href) {
        return add(
                title,
                doc -> new Cell(
                        CellKind.LINK, text.apply(doc), text.apply(doc).isEmpty() ? "" : href.apply(doc), null));
    }

    /** A button that submits a form for the row; hidden if its URL is empty. */
    TableView button(String title, Function<ApiJson, String> text, Function<ApiJson, String> action) {
        return add(title, doc -> new Cell(CellKind.BUTTON, text.apply(doc), action.apply(doc), null));
    }

    private TableView add(String title, Function<ApiJson, Cell> cell) {
        columns.add(new Column(title, cell));
        return this;
    }

    /** The text for an empty list, and a command that adds the first entry. */
    TableView whenEmpty(String sentence, String oneCommand) {
        this.emptyText = sentence;
        this.command = oneCommand;
        return this;
    }

    /** Adds a filter to the link to older rows. */
    TableView withFilter(String name, String value) {
        if (!value.isEmpty()) {
            withFilter += InternalApiClient.encode(name) + "=" + InternalApiClient.encode(value) + "&";
        }
        return this;
    }

    /** Sets the rows from one page of an API list. */
    TableView withRows(ApiJson list) {
        this.next = list.text("next");
        return withRows(list.items());
    }

    TableView withRows(List<ApiJson> docs) {
        this.rows = List.copyOf(docs);
        return this;
    }

    public String caption() {
        return caption;
    }

    public List<String> titles() {
        return columns.stream().map(Column::title).toList();
    }

    public List<List<Cell>> rows() {
        return rows.stream()
                .map(row ->
                        columns.stream().map(column -> column.cell().apply(row)).toList())
                .toList();
    }

    /** The URL of older rows with the same filters; empty on the last page. */
    public String next() {
        return next.isEmpty() ? "" : "?" + withFilter + "after=" + InternalApiClient.encode(next);
    }

    public String emptyText() {
        // The API scans a limited number of rows per page, so older rows can still match.
        return next.isEmpty() ? emptyText : "No match among the rows searched so far. Open older rows to continue.";
    }

    public String command() {
        return next.isEmpty() ? command : "";
    }

    /** Adds all fields of a filter form. */
    TableView withFilters(FilterForm filters) {
        filters.fields().forEach(field -> withFilter(field.name(), field.value()));
        return this;
    }
}
