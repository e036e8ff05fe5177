package dev.semel.server.access;

import dev.semel.runtime.SemelRuntime;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJson;
import dev.semel.store.StoreCommand;
import dev.semel.store.StoreCommand.SettingResult;
import dev.semel.store.SettingName;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/**
 * Prevents changes that would leave no administrator who can log in. The change applies only at the catalog version of
 * the count, so two administrators cannot demote each other.
 */
public final class LastAdministratorGuard {
    private static final int AT_ONCE = 100;
    private static final int MOST_TRIES = 20;

    private final SemelRuntime semel;
    private final UserAccounts people;

    LastAdministratorGuard(SemelRuntime semel, UserAccounts people) {
        this.semel = semel;
        this.people = people;
    }

    /**
     * Applies a change of a user unless it removes the last administrator.
     *
     * @param place an {@link StoreCommand.SaveSetting} or {@link StoreCommand.RemoveSetting} over the version that was read
     * @param act applies the edit; returns null if nothing changed
     * @return null if the user changed since they were read
     */
    public <T> @Nullable T applyUnlessLast(StoreCommand<SettingResult> place, Function<StoreCommand<SettingResult>, @Nullable T> act) {
        RequestedUser wanted = RequestedUser.of(place);
        SettingName who = wanted.who();
        for (int i = 0; i < MOST_TRIES; i++) {
            // Reads the version first: a concurrent change then fails the edit instead of falsifying the count.
            long change = Objects.requireNonNull(semel.view(reads -> reads.catalogVersion()));
            UserAccounts.User person = people.find(who.workspace(), who.text());
            boolean takesOne = person != null && administers(person) && !wanted.administers();
            if (takesOne && !hasOtherAdministrator(who)) {
                throw lastAdministrator(who.text());
            }
            T done = act.apply(takesOne ? new StoreCommand.ChangeSettingIfCatalogUnchanged(place, change) : place);
            if (done != null || person == null || !takesOne || !Objects.equals(person.version(), wanted.expectedVersion())) {
                return done;
            }
        }
        throw new SemelException(
                ErrorCode.OVERLOADED,
                "Concurrent setting changes prevented the check for a remaining administrator. Nothing was"
                        + " changed.",
                "Retry in a moment.");
    }

    private boolean administers(UserAccounts.User person) {
        return person.role() == Role.ADMIN && !person.disabled() && (!person.external() || people.identityProvider() != null);
    }

    /**
     * The user as the edit would leave them.
     *
     * @param expectedVersion the user version that it replaces
     */
    private record RequestedUser(SettingName who, @Nullable Integer expectedVersion, boolean administers) {
        static RequestedUser of(StoreCommand<SettingResult> place) {
            return switch (place) {
                case StoreCommand.SaveSetting put -> new RequestedUser(put.name(), put.expectedVersion(), administers(StrictJson.parse(put.body())));
                case StoreCommand.RemoveSetting remove -> new RequestedUser(remove.name(), remove.expectedVersion(), false);
                default -> throw new IllegalArgumentException("the edit must put or remove a user");
            };
        }

        private static boolean administers(JsonNode person) {
            return person.path("role").asString("").equals(Role.ADMIN.word())
                    && !person.path(UserAccounts.DISABLED).asBoolean(false);
        }
    }

    private boolean hasOtherAdministrator(SettingName who) {
        String after = "";
        while (true) {
            List<UserAccounts.User> page = people.list(who.workspace(), after, AT_ONCE);
            if (page.stream().anyMatch(one -> administers(one) && !one.name().equals(who.text()))) {
                return true;
            }
            if (page.size() < AT_ONCE) {
                return false;
            }
            after = page.getLast().name();
        }
    }

    private static SemelException lastAdministrator(String name) {
        return new SemelException(
                ErrorCode.LAST_ADMIN,
                name + " is the last administrator who can log in. Nothing was changed.",
                "Give another user the role admin first, or have another administrator log in again.");
    }
}
