package dev.semel.server.dashboard.page;

import dev.semel.json.StrictJsonCodec;
import dev.semel.server.http.InProcessApiClient;
import java.time.DateTimeException;
import java.time.Instant;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.MissingNode;
import tools.jackson.databind.node.ObjectNode;

/** A JSON response of the API, read by templates. Missing members are empty, so that a page never fails on one. */
public record DashboardTemplateJsonAccessor(JsonNode node) {
    public static final DashboardTemplateJsonAccessor EMPTY =
            new DashboardTemplateJsonAccessor(MissingNode.getInstance());

    public static DashboardTemplateJsonAccessor parse(byte[] json) {
        return json.length == 0 ? EMPTY : new DashboardTemplateJsonAccessor(StrictJsonCodec.parse(json));
    }

    public static ObjectNode newObject() {
        return JsonNodeFactory.instance.objectNode();
    }

    /** A member as text; empty if missing. */
    public String text(String member) {
        return text(node.path(member));
    }

    private static String text(JsonNode value) {
        return value.isMissingNode() || value.isNull()
                ? ""
                : value.isString() ? value.stringValue() : StrictJsonCodec.write(value);
    }

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

    public DashboardTemplateJsonAccessor at(String member) {
        return new DashboardTemplateJsonAccessor(node.path(member));
    }

    public List<DashboardTemplateJsonAccessor> list(String member) {
        return new DashboardTemplateJsonAccessor(node.path(member)).all();
    }

    public List<DashboardTemplateJsonAccessor> items() {
        return list("items");
    }

    public List<DashboardTemplateJsonAccessor> all() {
        List<DashboardTemplateJsonAccessor> all = new ArrayList<>();
        node.forEach(one -> all.add(new DashboardTemplateJsonAccessor(one)));
        return all;
    }

    /** The texts of an array, joined with commas. */
    public String joinedText(String member) {
        return String.join(
                ", ",
                list(member).stream().map(DashboardTemplateJsonAccessor::text).toList());
    }

    /** A time; null if missing. */
    public @Nullable Instant time(String member) {
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
        return InProcessApiClient.path(page, text(member));
    }

    /** A number with thousands separators. */
    public String count(String member) {
        return String.format(Locale.ROOT, "%,d", number(member));
    }
}
