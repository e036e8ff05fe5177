package dev.semel.server.settings;

import dev.semel.runtime.SemelRuntime;
import dev.semel.store.StoreCommand;
import dev.semel.store.StoredRows;
import dev.semel.store.SettingName;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Stores named groups of recipient profiles (cohorts) and their members. */
public final class ProfileCohorts {
    private static final int LARGEST = 4 << 10;
    private static final int MOST_SHOWN = 200;

    private final SemelRuntime semel;
    private final SettingRepository<Cohort> documents;

    /** @param description shown to users */
    public record Cohort(@Nullable String description) {
        static Cohort read(JsonNode node) {
            SettingDocumentReader document = SettingDocumentReader.of(node);
            Cohort cohort = new Cohort(document.optionalText("description", 1_000));
            document.rejectUnknownMembers();
            document.throwIfInvalid("cohort");
            return cohort;
        }
    }

    /** Membership of one profile in one cohort. */
    public record Membership(int workspace, String cohort, String profile) {
        private SettingName name() {
            return new SettingName(workspace, SettingKinds.MEMBER, cohort + "\n" + SettingNames.requireValidProfileId(profile));
        }
    }

    ProfileCohorts(SemelRuntime semel) {
        this.semel = semel;
        this.documents = new SettingRepository<>(semel, new SettingRepository.DocumentType<>(SettingKinds.COHORT, "cohort", LARGEST, Cohort::read));
    }

    public SettingRepository<Cohort> documents() {
        return documents;
    }

    public boolean contains(Membership seat) {
        return semel.view(reads -> reads.setting(
                        seat.workspace(), SettingKinds.MEMBER.word(), seat.name().text()))
                != null;
    }

    public StoreCommand.SaveSetting prepareAdd(Membership seat, String actor) {
        return new StoreCommand.SaveSetting(seat.name(), "{}", null, actor);
    }

    public StoreCommand.RemoveSetting prepareRemove(Membership seat, String actor) {
        return new StoreCommand.RemoveSetting(seat.name(), null, actor);
    }

    /** Members in id order, after {@code after}. */
    public List<StoredRows.SettingRow> members(int workspace, String cohort, String after, int limit) {
        String prefix = cohort + "\n";
        List<StoredRows.SettingRow> rows =
                semel.view(reads -> reads.settings(workspace, SettingKinds.MEMBER.word(), prefix + after, limit));
        return rows == null
                ? List.of()
                : rows.stream().takeWhile(row -> row.name().startsWith(prefix)).toList();
    }

    public static String profile(StoredRows.SettingRow member) {
        return member.name().substring(member.name().indexOf('\n') + 1);
    }

    /** The cohorts of a profile, among the first 200 cohorts. */
    public List<String> of(int workspace, String profile) {
        List<String> found = semel.view(reads -> {
            List<String> names = new ArrayList<>();
            for (StoredRows.SettingRow cohort : reads.settings(workspace, SettingKinds.COHORT.word(), "", MOST_SHOWN)) {
                if (reads.setting(workspace, SettingKinds.MEMBER.word(), cohort.name() + "\n" + profile) != null) {
                    names.add(cohort.name());
                }
            }
            return names;
        });
        return found == null ? List.of() : found;
    }
}
