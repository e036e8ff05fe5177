package dev.semel.server.pages;

import dev.semel.server.http.Inside;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A table for an API list: column definitions, rows, and the text for an empty list. */
public final class Grid {
    private final String caption;
    private final List<Column> columns = new ArrayList<>();
    private List<Doc> rows = List.of();
    private String next = "";
    private String within = "";
    private String empty = "";
    private String command = "";

    /** How a cell is shown. */
    public enum Kind {
        TEXT,
        CODE,
        LINK,
        TIME,
        STATUS,
        DEED
    }

    /**
     * One table cell.
     *
     * @param href target of a link or of a button's form; empty for other kinds
     */
    public record Cell(
            Kind kind, String text, String href, @Nullable Instant when) {}

    /** A column: its title, and how it shows a row. */
    private record Column(String title, Function<Doc, Cell> cell) {}

    private Grid(String caption) {
        this.caption = caption;
    }

    static Grid named(String caption) {
        return new Grid(caption);
    }

    Grid text(String title, String member) {
        return text(title, doc -> doc.text(member));
    }

    Grid text(String title, Function<Doc, String> text) {
        return add(title, doc -> new Cell(Kind.TEXT, text.apply(doc), "", null));
    }

    Grid code(String title, String member) {
        return add(title, doc -> new Cell(Kind.CODE, doc.text(member), "", null));
    }

    Grid time(String title, String member) {
        return add(title, doc -> new Cell(Kind.TIME, "", "", doc.when(member)));
    }

    Grid status(String title, String member) {
        return status(title, doc -> doc.text(member));
    }

    Grid status(String title, Function<Doc, String> word) {
        return add(title, doc -> new Cell(Kind.STATUS, word.apply(doc), "", null));
    }

    /** A link to the page of the id in a member. */
    Grid link(String title, String member, String page) {
        return link(title, doc -> doc.text(member), doc -> Inside.path(page, doc.text(member)));
    }

    Grid link(String title, Function<Doc, String> text, Function<Doc, String> href) {
        return add(
                title,
                doc -> new Cell(Kind.LINK, text.apply(doc), text.apply(doc).isEmpty() ? "" : href.apply(doc), null));
    }

    /** A button that submits a form for the row; hidden if its URL is empty. */
    Grid deed(String title, Function<Doc, String> text, Function<Doc, String> action) {
        return add(title, doc -> new Cell(Kind.DEED, text.apply(doc), action.apply(doc), null));
    }

    private Grid add(String title, Function<Doc, Cell> cell) {
        columns.add(new Column(title, cell));
        return this;
    }

    /** The text for an empty list, and a command that adds the first entry. */
    Grid whenEmpty(String sentence, String oneCommand) {
        this.empty = sentence;
        this.command = oneCommand;
        return this;
    }

    /** Adds a filter to the link to older rows. */
    Grid within(String name, String value) {
        if (!value.isEmpty()) {
            within += Inside.encoded(name) + "=" + Inside.encoded(value) + "&";
        }
        return this;
    }

    /** Sets the rows from one page of an API list. */
    Grid of(Doc list) {
        this.next = list.text("next");
        return of(list.items());
    }

    Grid of(List<Doc> docs) {
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
        return next.isEmpty() ? "" : "?" + within + "after=" + Inside.encoded(next);
    }

    public String empty() {
        // The API scans a limited number of rows per page, so older rows can still match.
        return next.isEmpty() ? empty : "No match among the rows searched so far. Open older rows to continue.";
    }

    public String command() {
        return next.isEmpty() ? command : "";
    }

    /** Adds all fields of a filter form. */
    Grid among(Filters filters) {
        filters.fields().forEach(field -> within(field.name(), field.value()));
        return this;
    }
}
