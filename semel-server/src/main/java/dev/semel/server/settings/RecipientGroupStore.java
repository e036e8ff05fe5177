package dev.semel.server.settings;

import dev.semel.runtime.SemelRuntime;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreWriteCommand;
import dev.semel.store.WorkspaceSettingName;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Stores named groups of recipient profiles (cohorts) and their members. */
public final class RecipientGroupStore {
    private static final int LARGEST = 4 << 10;
    private static final int PAGE = 200;

    private final SemelRuntime semel;
    private final WorkspaceSettingRepository<Cohort> documents;

    /** @param description shown to users */
    public record Cohort(@Nullable String description) {
        static Cohort read(JsonNode node) {
            WorkspaceSettingJsonParser document = WorkspaceSettingJsonParser.of(node);
            return document.finish("cohort", new Cohort(document.optionalText("description", 1_000)));
        }
    }

    public record Membership(int workspace, String cohort, String profile) {
        private WorkspaceSettingName name() {
            return new WorkspaceSettingName(
                    workspace,
                    WorkspaceSettingKinds.MEMBER,
                    cohort + "\n" + WorkspaceSettingNameValidator.requireValidProfileId(profile));
        }
    }

    RecipientGroupStore(SemelRuntime semel) {
        this.semel = semel;
        this.documents = new WorkspaceSettingRepository<>(semel, WorkspaceSettingKinds.COHORT, LARGEST, Cohort::read);
    }

    public WorkspaceSettingRepository<Cohort> documents() {
        return documents;
    }

    public boolean contains(Membership seat) {
        return semel.view(reads -> reads.setting(
                        seat.workspace(),
                        WorkspaceSettingKinds.MEMBER.word(),
                        seat.name().text()))
                != null;
    }

    public StoreWriteCommand.SaveSetting prepareAdd(Membership seat, String actor) {
        return new StoreWriteCommand.SaveSetting(seat.name(), "{}", null, actor);
    }

    public StoreWriteCommand.RemoveSetting prepareRemove(Membership seat, String actor) {
        return new StoreWriteCommand.RemoveSetting(seat.name(), null, actor);
    }

    /** Members in id order, after {@code after}. */
    public List<DatabaseRows.SettingRow> members(int workspace, String cohort, String after, int limit) {
        String prefix = cohort + "\n";
        List<DatabaseRows.SettingRow> rows = semel.view(
                reads -> reads.settings(workspace, WorkspaceSettingKinds.MEMBER.word(), prefix + after, limit));
        return rows == null
                ? List.of()
                : rows.stream().takeWhile(row -> row.name().startsWith(prefix)).toList();
    }

    public static String profile(DatabaseRows.SettingRow member) {
        return member.name().substring(member.name().indexOf('\n') + 1);
    }

    /** The cohorts of a profile. */
    public List<String> of(int workspace, String profile) {
        List<String> names = new ArrayList<>();
        String after = "";
        for (boolean more = true; more; ) {
            List<DatabaseRows.SettingRow> page = documents.page(workspace, after, PAGE);
            for (DatabaseRows.SettingRow cohort : page) {
                if (contains(new Membership(workspace, cohort.name(), profile))) {
                    names.add(cohort.name());
                }
            }
            more = page.size() == PAGE;
            after = more ? page.getLast().name() : after;
        }
        return names;
    }
}
