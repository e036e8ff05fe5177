package dev.semel.server.access;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.json.StrictJsonCodec;
import dev.semel.runtime.SemelRuntime;
import dev.semel.store.StoreWriteCommand;
import dev.semel.store.StoreWriteCommand.SettingResult;
import dev.semel.store.WorkspaceSettingName;
import java.util.List;
import java.util.Objects;
import java.util.function.Function;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** A change applies only at the catalog version of the count of administrators, so two cannot demote each other. */
public final class LastAdministratorGuard {
    private static final int AT_ONCE = 100;
    private static final int MOST_TRIES = 20;

    private final SemelRuntime semel;
    private final UserAccountStore users;

    LastAdministratorGuard(SemelRuntime semel, UserAccountStore users) {
        this.semel = semel;
        this.users = users;
    }

    /**
     * Applies a change of a user unless it removes the last administrator.
     *
     * @param storeCommand an {@link StoreWriteCommand.SaveSetting} or {@link StoreWriteCommand.RemoveSetting} over the version that was read
     * @param act applies the edit; returns null if nothing changed
     * @return null if the user changed since they were read
     */
    public <T> @Nullable T applyUnlessLast(
            StoreWriteCommand<SettingResult> storeCommand,
            Function<StoreWriteCommand<SettingResult>, @Nullable T> act) {
        RequestedUser wanted = RequestedUser.of(storeCommand);
        WorkspaceSettingName who = wanted.who();
        for (int i = 0; i < MOST_TRIES; i++) {
            // Reads the version first: a concurrent change then fails the edit instead of falsifying the count.
            long change = Objects.requireNonNull(semel.view(reads -> reads.catalogVersion()));
            UserAccountStore.User user = users.find(who.workspace(), who.text());
            boolean takesOne = user != null && administers(user) && !wanted.administers();
            if (takesOne && !hasOtherAdministrator(who)) {
                throw lastAdministrator(who.text());
            }
            T done = act.apply(
                    takesOne
                            ? new StoreWriteCommand.ChangeSettingIfCatalogUnchanged(storeCommand, change)
                            : storeCommand);
            if (done != null
                    || user == null
                    || !takesOne
                    || !Objects.equals(user.version(), wanted.expectedVersion())) {
                return done;
            }
        }
        throw new SemelException(
                ErrorCode.OVERLOADED,
                "Other requests changed settings at the same time, so Semel could not check that an administrator"
                        + " remains. Nothing was changed.",
                "Retry in a moment.");
    }

    private boolean administers(UserAccountStore.User user) {
        return user.role() == UserRole.ADMIN
                && !user.disabled()
                && (!user.external() || users.identityProvider() != null);
    }

    /** @param expectedVersion the user version that it replaces */
    private record RequestedUser(
            WorkspaceSettingName who, @Nullable Integer expectedVersion, boolean administers) {
        static RequestedUser of(StoreWriteCommand<SettingResult> storeCommand) {
            return switch (storeCommand) {
                case StoreWriteCommand.SaveSetting put ->
                    new RequestedUser(
                            put.name(), put.expectedVersion(), administers(StrictJsonCodec.parse(put.body())));
                case StoreWriteCommand.RemoveSetting remove ->
                    new RequestedUser(remove.name(), remove.expectedVersion(), false);
                default -> throw new IllegalArgumentException("the command must save or remove a user");
            };
        }

        private static boolean administers(JsonNode user) {
            return user.path("role").asString("").equals(UserRole.ADMIN.word())
                    && !user.path(UserAccountStore.DISABLED).asBoolean(false);
        }
    }

    private boolean hasOtherAdministrator(WorkspaceSettingName who) {
        String after = "";
        while (true) {
            List<UserAccountStore.User> page = users.list(who.workspace(), after, AT_ONCE);
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
                "Give another user the role admin first. Users of the identity provider get their role at their next"
                        + " login.");
    }
}
