package dev.semel.server.pages;

import dev.semel.server.http.Inside;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;

/** A table of a list: its columns, told once, and its rows. */
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

    /** @param href where a link leads, or a button sends its form; empty for others */
    public record Cell(
            Kind kind, String text, String href, @Nullable Instant when) {}

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

    /** A link below a page, by the text of a member; nothing where that is empty. */
    Grid link(String title, String member, String page) {
        return link(title, doc -> doc.text(member), doc -> Inside.path(page, doc.text(member)));
    }

    Grid link(String title, Function<Doc, String> text, Function<Doc, String> href) {
        return add(
                title,
                doc -> new Cell(Kind.LINK, text.apply(doc), text.apply(doc).isEmpty() ? "" : href.apply(doc), null));
    }

    /** A button that does something to the row; none where its address is empty. */
    Grid deed(String title, Function<Doc, String> text, Function<Doc, String> action) {
        return add(title, doc -> new Cell(Kind.DEED, text.apply(doc), action.apply(doc), null));
    }

    private Grid add(String title, Function<Doc, Cell> cell) {
        columns.add(new Column(title, cell));
        return this;
    }

    /** What is said where there is nothing, and the one command that changes that. */
    Grid whenEmpty(String sentence, String oneCommand) {
        this.empty = sentence;
        this.command = oneCommand;
        return this;
    }

    /** A filter of this list, which the way to its older rows carries along; none where it is empty. */
    Grid within(String name, String value) {
        if (!value.isEmpty()) {
            within += Inside.encoded(name) + "=" + Inside.encoded(value) + "&";
        }
        return this;
    }

    /** The rows of a page of a list. */
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

    /** The address of the older rows, as this list is filtered; empty at the end. */
    public String next() {
        return next.isEmpty() ? "" : "?" + within + "after=" + Inside.encoded(next);
    }

    public String empty() {
        // A filter looks at so many rows for one page: nothing among these is not nothing at all.
        return next.isEmpty() ? empty : "Nothing among those that were looked at so far.";
    }

    public String command() {
        return next.isEmpty() ? command : "";
    }

    /** All of these filters. */
    Grid among(Filters filters) {
        filters.fields().forEach(field -> within(field.name(), field.value()));
        return this;
    }
}
