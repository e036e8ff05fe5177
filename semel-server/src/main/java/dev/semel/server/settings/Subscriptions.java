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
 * What people said they want and do not want, by topic: the kind of a channel, the name of a channel, or an event. Kept
 * whatever becomes of the profile; who said nothing is subscribed.
 */
public final class Subscriptions {
    private static final int MOST_TOPICS = 200;

    private final Semel semel;

    Subscriptions(Semel semel) {
        this.semel = semel;
    }

    /** @param since when they said so, in microseconds of the store's clock */
    public record Choice(String topic, boolean subscribed, long since) {}

    /** All that a person has said, by topic. */
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

    /** Null: they never said anything about it. */
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

    /** What somebody says about a topic. */
    public record Word(int workspace, String profile, String topic, boolean subscribed, String actor) {}

    /**
     * The change that keeps it. What a person with a profile says is kept for their addresses as well, first and by a change
     * of its own: another profile may have the same address, and the wish is that of whoever reads there.
     */
    public Edit.Put putting(Word word) {
        Edit.Put own = put(word.profile(), word);
        for (String address : addresses(word)) {
            semel.change(put(address, word));
        }
        return own;
    }

    private List<String> addresses(Word word) {
        Rows.Setting row =
                semel.view(reads -> reads.setting(word.workspace(), Kinds.PROFILE.word(), word.profile()));
        JsonNode profile = row == null ? JsonNodeFactory.instance.objectNode() : Json.parse(row.body());
        return Stream.of("email", "phone")
                .map(member -> profile.path(member).asString(""))
                .filter(address -> !address.isEmpty() && !address.equals(word.profile()))
                .toList();
    }

    /** What somebody is called of whom only an address is known; a number is the same with spaces in it. */
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
