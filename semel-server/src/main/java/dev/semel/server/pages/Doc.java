package dev.semel.server.pages;

import dev.semel.json.Json;
import dev.semel.server.http.Inside;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.MissingNode;

/** An answer of the API, as templates ask for it: what is not there is empty, so that a page never fails over it. */
public record Doc(JsonNode node) {
    public static final Doc NOTHING = new Doc(MissingNode.getInstance());

    public static Doc of(byte[] json) {
        return json.length == 0 ? NOTHING : new Doc(Json.parse(json));
    }

    /** The text of a member; a number as it is written; empty where there is none. */
    public String text(String member) {
        return text(node.path(member));
    }

    private static String text(JsonNode value) {
        return value.isMissingNode() || value.isNull()
                ? ""
                : value.isString() ? value.stringValue() : Json.write(value);
    }

    /** This value itself as text. */
    public String text() {
        return text(node);
    }

    public boolean has(String member) {
        return !text(member).isEmpty();
    }

    public boolean is(String member) {
        return node.path(member).asBoolean(false);
    }

    public long number(String member) {
        return node.path(member).asLong(0);
    }

    public Doc at(String member) {
        return new Doc(node.path(member));
    }

    public List<Doc> list(String member) {
        return new Doc(node.path(member)).all();
    }

    public List<Doc> items() {
        return list("items");
    }

    /** The members of this list itself. */
    public List<Doc> all() {
        List<Doc> all = new ArrayList<>();
        node.forEach(one -> all.add(new Doc(one)));
        return all;
    }

    /** The texts of a list, joined. */
    public String words(String member) {
        return String.join(", ", list(member).stream().map(Doc::text).toList());
    }

    /** A time; null where there is none. */
    public @Nullable Instant when(String member) {
        try {
            return has(member) ? Instant.parse(text(member)) : null;
        } catch (DateTimeException e) {
            return null;
        }
    }

    /** JSON laid out for people. */
    public String pretty(String member) {
        JsonNode value = node.path(member);
        return value.isMissingNode() || value.isNull() ? "" : value.toPrettyString();
    }

    /** The address of the page of what a member names. */
    public String link(String page, String member) {
        return Inside.path(page, text(member));
    }

    /** Thousands apart. */
    public String count(String member) {
        return String.format(Locale.ROOT, "%,d", number(member));
    }
}
