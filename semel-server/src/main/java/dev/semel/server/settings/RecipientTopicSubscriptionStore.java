package dev.semel.server.settings;

import dev.semel.json.StrictJsonCodec;
import dev.semel.runtime.SemelRuntime;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreWriteCommand;
import dev.semel.store.WorkspaceSettingName;
import java.util.ArrayList;
import java.util.List;
import java.util.Objects;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/**
 * Stores which topics a recipient subscribed to or unsubscribed from: channel kind, channel name or event. They outlive
 * the profile. Default: subscribed.
 */
public final class RecipientTopicSubscriptionStore {
    private static final int PAGE = 200;

    private final SemelRuntime semel;

    RecipientTopicSubscriptionStore(SemelRuntime semel) {
        this.semel = semel;
    }

    /** @param since time of the change in microseconds of the store's clock */
    public record Subscription(String topic, boolean subscribed, long since) {}

    /** All explicit choices of a recipient, by topic. */
    public List<Subscription> list(int workspace, String profile) {
        String prefix = profile + "\n";
        List<Subscription> found = new ArrayList<>();
        String after = prefix;
        for (boolean more = true; more; ) {
            String from = after;
            List<DatabaseRows.SettingRow> rows = Objects.requireNonNull(semel.view(
                    reads -> reads.settings(workspace, WorkspaceSettingKinds.SUBSCRIPTION.word(), from, PAGE)));
            rows.stream()
                    .takeWhile(row -> row.name().startsWith(prefix))
                    .map(RecipientTopicSubscriptionStore::toSubscription)
                    .forEach(found::add);
            more = rows.size() == PAGE && rows.getLast().name().startsWith(prefix);
            after = more ? rows.getLast().name() : after;
        }
        return found;
    }

    public static Subscription toSubscription(DatabaseRows.SettingRow row) {
        String topic = row.name().substring(row.name().indexOf('\n') + 1);
        boolean subscribed =
                StrictJsonCodec.parse(row.body()).path("subscribed").asBoolean(true);
        return new Subscription(topic, subscribed, row.changedAt());
    }

    public record SubscriptionChange(int workspace, String profile, String topic, boolean subscribed, String actor) {}

    /**
     * Prepares the edit that stores it. A choice of a profile is first stored for its addresses too, because other
     * profiles may share an address and the choice belongs to its reader.
     */
    public StoreWriteCommand.SaveSetting preparePut(SubscriptionChange word) {
        StoreWriteCommand.SaveSetting own = put(word.profile(), word);
        for (String address : addresses(word)) {
            semel.change(put(address, word));
        }
        return own;
    }

    private List<String> addresses(SubscriptionChange word) {
        DatabaseRows.SettingRow row = semel.view(
                reads -> reads.setting(word.workspace(), WorkspaceSettingKinds.PROFILE.word(), word.profile()));
        JsonNode profile = row == null ? JsonNodeFactory.instance.objectNode() : StrictJsonCodec.parse(row.body());
        return Stream.of("email", "phone")
                .map(member -> profile.path(member).asString(""))
                .filter(address -> !address.isEmpty() && !address.equals(word.profile()))
                .toList();
    }

    /** Normalises an address for lookups; spaces in phone numbers are removed. */
    public static String normalizeAddress(String to) {
        if (to.indexOf('@') > 0) {
            return RecipientProfile.lower(to);
        }
        return to.startsWith("+") ? to.replaceAll("[ ()./-]", "") : to;
    }

    private static StoreWriteCommand.SaveSetting put(String profile, SubscriptionChange word) {
        String name = WorkspaceSettingNameValidator.requireValidProfileId(normalizeAddress(profile)) + "\n"
                + WorkspaceSettingNameValidator.requireValid("topic", word.topic());
        return new StoreWriteCommand.SaveSetting(
                new WorkspaceSettingName(word.workspace(), WorkspaceSettingKinds.SUBSCRIPTION, name),
                StrictJsonCodec.write(JsonNodeFactory.instance.objectNode().put("subscribed", word.subscribed())),
                null,
                word.actor());
    }
}
