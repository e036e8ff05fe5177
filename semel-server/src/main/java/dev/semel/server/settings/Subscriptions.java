package dev.semel.server.settings;

import dev.semel.Semel;
import dev.semel.json.Json;
import dev.semel.store.Edit;
import dev.semel.store.Rows;
import dev.semel.store.SettingName;
import java.util.List;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * Stores which topics a recipient subscribed to or unsubscribed from: channel kind, channel name or event. They outlive
 * the profile. Default: subscribed.
 */
public final class Subscriptions {
    private static final int MOST_TOPICS = 200;

    private final Semel semel;

    Subscriptions(Semel semel) {
        this.semel = semel;
    }

    /** @param since time of the change in microseconds of the store's clock */
    public record Choice(String topic, boolean subscribed, long since) {}

    /** All explicit choices of a recipient, by topic. */
    public List<Choice> of(int workspace, String profile) {
        String from = profile + "\n";
        List<Rows.Setting> rows =
                semel.view(reads -> reads.settings(workspace, Kinds.SUBSCRIPTION.word(), from, MOST_TOPICS));
        return rows == null
                ? List.of()
                : rows.stream()
                        .takeWhile(row -> row.name().startsWith(from))
                        .map(Subscriptions::choice)
                        .toList();
    }

    /** Null: no explicit choice. */
    public @Nullable Choice find(int workspace, String profile, String topic) {
        Rows.Setting row =
                semel.view(reads -> reads.setting(workspace, Kinds.SUBSCRIPTION.word(), profile + "\n" + topic));
        return row == null ? null : choice(row);
    }

    public static Choice choice(Rows.Setting row) {
        String topic = row.name().substring(row.name().indexOf('\n') + 1);
        boolean subscribed = Json.parse(row.body()).path("subscribed").asBoolean(true);
        return new Choice(topic, subscribed, row.changedAt());
    }

    /** A requested subscription change. */
    public record Word(int workspace, String profile, String topic, boolean subscribed, String actor) {}

    /**
     * Prepares the edit that stores it. A choice of a profile is first stored for its addresses too, because other
     * profiles may share an address and the choice belongs to its reader.
     */
    public Edit.Put putting(Word word) {
        Edit.Put own = put(word.profile(), word);
        for (String address : addresses(word)) {
            semel.change(put(address, word));
        }
        return own;
    }

    private List<String> addresses(Word word) {
        Rows.Setting row = semel.view(reads -> reads.setting(word.workspace(), Kinds.PROFILE.word(), word.profile()));
        JsonNode profile = row == null ? JsonNodeFactory.instance.objectNode() : Json.parse(row.body());
        return Stream.of("email", "phone")
                .map(member -> profile.path(member).asString(""))
                .filter(address -> !address.isEmpty() && !address.equals(word.profile()))
                .toList();
    }

    /** Normalises an address for lookups; spaces in phone numbers are removed. */
    public static String called(String to) {
        if (to.indexOf('@') > 0) {
            return Profile.lower(to);
        }
        return to.startsWith("+") ? to.replaceAll("[ ()./-]", "") : to;
    }

    private static Edit.Put put(String profile, Word word) {
        String name = Names.profile(called(profile)) + "\n" + Names.checked("topic", word.topic());
        return new Edit.Put(
                new SettingName(word.workspace(), Kinds.SUBSCRIPTION, name),
                Json.write(JsonNodeFactory.instance.objectNode().put("subscribed", word.subscribed())),
                null,
                word.actor());
    }
}
