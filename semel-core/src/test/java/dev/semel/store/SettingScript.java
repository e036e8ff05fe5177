package dev.semel.store;

import java.util.List;
import java.util.Random;
import java.util.random.RandomGenerator;
import org.jspecify.annotations.Nullable;

/** Changes of settings, few names and few texts. Has dice of its own, so that it leaves the other histories as they are. */
final class SettingScript {
    private static final List<WorkspaceSettingName.SettingKind> KINDS =
            List.of(SettingRules.WATCHED, SettingRules.KEEPING, SettingRules.PLAIN);
    private static final List<String> NAMES = List.of("a", "b", "b\na");

    private final RandomGenerator random = new Random(7);

    /** @param change the number of the catalog */
    StoreWriteCommand<?> next(long change) {
        StoreWriteCommand<StoreWriteCommand.SettingResult> storeCommand = random.nextInt(3) == 0
                ? new StoreWriteCommand.RemoveSetting(name(), expected(), "tester")
                : new StoreWriteCommand.SaveSetting(name(), "{\"n\":" + random.nextInt(3) + "}", expected(), "tester");
        return storeCommand.changesCatalog() && random.nextInt(4) == 0
                ? new StoreWriteCommand.ChangeSettingIfCatalogUnchanged(storeCommand, change - random.nextInt(2))
                : storeCommand;
    }

    private WorkspaceSettingName name() {
        WorkspaceSettingName.SettingKind kind = KINDS.get(random.nextInt(KINDS.size()));
        return new WorkspaceSettingName(1 + random.nextInt(2), kind, NAMES.get(random.nextInt(NAMES.size())));
    }

    private @Nullable Integer expected() {
        return random.nextBoolean() ? null : Integer.valueOf(random.nextInt(4));
    }
}
