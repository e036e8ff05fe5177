package dev.semel.server.settings;

import dev.semel.Semel;
import dev.semel.json.Json;
import dev.semel.store.Edit;
import dev.semel.store.Rows;
import dev.semel.store.SettingName;
import java.util.List;
import org.jspecify.annotations.Nullable;
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

    public Edit.Put putting(Word word) {
        String name = Names.profile(word.profile()) + "\n" + Names.checked("topic", word.topic());
        return new Edit.Put(
                new SettingName(word.workspace(), Kinds.SUBSCRIPTION, name),
                Json.write(JsonNodeFactory.instance.objectNode().put("subscribed", word.subscribed())),
                null,
                word.actor());
    }
}
