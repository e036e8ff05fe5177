package dev.semel.server.dashboard.page;

import dev.semel.server.http.InProcessApiClient;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A table for an API list: column definitions, rows, and the text for an empty list. */
public final class DashboardListTableModel {
    private final String caption;
    private final List<Column> columns = new ArrayList<>();
    private List<DashboardTemplateJsonAccessor> rows = List.of();
    private String next = "";
    private UrlQuery filters = UrlQuery.EMPTY;
    private String emptyText = "";
    private String command = "";

    public enum CellKind {
        TEXT,
        CODE,
        LINK,
        TIME,
        STATUS,
        BUTTON
    }

    /** @param href target of a link or of a button's form; empty for other kinds */
    public record Cell(
            CellKind kind,
            String text,
            String href,
            @Nullable Instant time) {}

    private record Column(String title, Function<DashboardTemplateJsonAccessor, Cell> cell) {}

    private DashboardListTableModel(String caption) {
        this.caption = caption;
    }

    public static DashboardListTableModel titled(String caption) {
        return new DashboardListTableModel(caption);
    }

    public DashboardListTableModel text(String title, String member) {
        return text(title, doc -> doc.text(member));
    }

    public DashboardListTableModel text(String title, Function<DashboardTemplateJsonAccessor, String> text) {
        return add(title, doc -> new Cell(CellKind.TEXT, text.apply(doc), "", null));
    }

    public DashboardListTableModel code(String title, String member) {
        return add(title, doc -> new Cell(CellKind.CODE, doc.text(member), "", null));
    }

    public DashboardListTableModel time(String title, String member) {
        return add(title, doc -> new Cell(CellKind.TIME, "", "", doc.time(member)));
    }

    public DashboardListTableModel status(String title, String member) {
        return status(title, doc -> doc.text(member));
    }

    public DashboardListTableModel status(String title, Function<DashboardTemplateJsonAccessor, String> word) {
        return add(title, doc -> new Cell(CellKind.STATUS, word.apply(doc), "", null));
    }

    /** A link to the page of the id in a member. */
    public DashboardListTableModel link(String title, String member, String page) {
        return link(title, doc -> doc.text(member), doc -> InProcessApiClient.path(page, doc.text(member)));
    }

    public DashboardListTableModel link(
            String title,
            Function<DashboardTemplateJsonAccessor, String> text,
            Function<DashboardTemplateJsonAccessor, String> href) {
        return add(
                title,
                doc -> new Cell(
                        CellKind.LINK, text.apply(doc), text.apply(doc).isEmpty() ? "" : href.apply(doc), null));
    }

    /** A link to the same list, filtered by the value of a member. */
    public DashboardListTableModel filterLink(String title, String member, String filter) {
        return link(
                title,
                doc -> doc.text(member),
                doc -> UrlQuery.of(filter, doc.text(member)).suffix());
    }

    /** A button that submits a form for the row; hidden if its URL is empty. */
    public DashboardListTableModel button(
            String title,
            Function<DashboardTemplateJsonAccessor, String> text,
            Function<DashboardTemplateJsonAccessor, String> action) {
        return add(title, doc -> new Cell(CellKind.BUTTON, text.apply(doc), action.apply(doc), null));
    }

    private DashboardListTableModel add(String title, Function<DashboardTemplateJsonAccessor, Cell> cell) {
        columns.add(new Column(title, cell));
        return this;
    }

    /** The text for an empty list, and a command that adds the first entry. */
    public DashboardListTableModel whenEmpty(String sentence, String oneCommand) {
        this.emptyText = sentence;
        this.command = oneCommand;
        return this;
    }

    /** Adds a filter to the link to older rows. */
    public DashboardListTableModel withFilter(String name, String value) {
        filters = filters.and(name, value);
        return this;
    }

    public DashboardListTableModel withRows(DashboardTemplateJsonAccessor list) {
        this.next = list.text("next");
        return withRows(list.items());
    }

    public DashboardListTableModel withRows(List<DashboardTemplateJsonAccessor> docs) {
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
        return next.isEmpty() ? "" : filters.and("after", next).suffix();
    }

    public String emptyText() {
        // The API scans a limited number of rows per page, so older rows can still match.
        return next.isEmpty() ? emptyText : "No match among the rows searched so far. Open older rows to continue.";
    }

    public String command() {
        return next.isEmpty() ? command : "";
    }

    public DashboardListTableModel withFilters(DashboardListFilterForm form) {
        form.fields().forEach(field -> withFilter(field.name(), field.value()));
        return this;
    }
}
