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

/** A JSON response of the API, read by templates. Missing members are empty, so that a page never fails on one. */
public record Doc(JsonNode node) {
    public static final Doc NOTHING = new Doc(MissingNode.getInstance());

    public static Doc of(byte[] json) {
        return json.length == 0 ? NOTHING : new Doc(Json.parse(json));
    }

    /** A member as text; empty if missing. */
    public String text(String member) {
        return text(node.path(member));
    }

    private static String text(JsonNode value) {
        return value.isMissingNode() || value.isNull()
                ? ""
                : value.isString() ? value.stringValue() : Json.write(value);
    }

    /** This value as text. */
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

    /** The elements of this array. */
    public List<Doc> all() {
        List<Doc> all = new ArrayList<>();
        node.forEach(one -> all.add(new Doc(one)));
        return all;
    }

    /** The texts of an array, joined with commas. */
    public String words(String member) {
        return String.join(", ", list(member).stream().map(Doc::text).toList());
    }

    /** A time; null if missing. */
    public @Nullable Instant when(String member) {
        try {
            return has(member) ? Instant.parse(text(member)) : null;
        } catch (DateTimeException e) {
            return null;
        }
    }

    /** A member as indented JSON. */
    public String pretty(String member) {
        JsonNode value = node.path(member);
        return value.isMissingNode() || value.isNull() ? "" : value.toPrettyString();
    }

    /** The URL of the dashboard page for the id in a member. */
    public String link(String page, String member) {
        return Inside.path(page, text(member));
    }

    /** A number with thousands separators. */
    public String count(String member) {
        return String.format(Locale.ROOT, "%,d", number(member));
    }
}
