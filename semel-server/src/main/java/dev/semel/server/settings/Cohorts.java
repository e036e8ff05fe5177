package dev.semel.server.settings;

import dev.semel.Semel;
import dev.semel.store.Edit;
import dev.semel.store.Rows;
import dev.semel.store.SettingName;
import java.util.ArrayList;
import java.util.List;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;

/** Stores named groups of recipient profiles (cohorts) and their members. */
public final class Cohorts {
    private static final int LARGEST = 4 << 10;
    private static final int MOST_SHOWN = 200;

    private final Semel semel;
    private final Shelf<Cohort> shelf;

    /** @param description shown to users */
    public record Cohort(@Nullable String description) {
        static Cohort read(JsonNode node) {
            Document document = Document.of(node);
            Cohort cohort = new Cohort(document.maybeText("description", 1_000));
            document.end();
            document.refuseWhatIsWrong("cohort");
            return cohort;
        }
    }

    /** Membership of one profile in one cohort. */
    public record Seat(int workspace, String cohort, String profile) {
        private SettingName name() {
            return new SettingName(workspace, Kinds.MEMBER, cohort + "\n" + Names.profile(profile));
        }
    }

    Cohorts(Semel semel) {
        this.semel = semel;
        this.shelf = new Shelf<>(semel, new Shelf.Sort<>(Kinds.COHORT, "cohort", LARGEST, Cohort::read));
    }

    public Shelf<Cohort> shelf() {
        return shelf;
    }

    public boolean has(Seat seat) {
        return semel.view(reads -> reads.setting(
                        seat.workspace(), Kinds.MEMBER.word(), seat.name().text()))
                != null;
    }

    public Edit.Put adding(Seat seat, String actor) {
        return new Edit.Put(seat.name(), "{}", null, actor);
    }

    public Edit.Remove removing(Seat seat, String actor) {
        return new Edit.Remove(seat.name(), null, actor);
    }

    /** Members in id order, after {@code after}. */
    public List<Rows.Setting> members(int workspace, String cohort, String after, int limit) {
        String prefix = cohort + "\n";
        List<Rows.Setting> rows =
                semel.view(reads -> reads.settings(workspace, Kinds.MEMBER.word(), prefix + after, limit));
        return rows == null
                ? List.of()
                : rows.stream().takeWhile(row -> row.name().startsWith(prefix)).toList();
    }

    public static String profile(Rows.Setting member) {
        return member.name().substring(member.name().indexOf('\n') + 1);
    }

    /** The cohorts of a profile, among the first 200 cohorts. */
    public List<String> of(int workspace, String profile) {
        List<String> found = semel.view(reads -> {
            List<String> names = new ArrayList<>();
            for (Rows.Setting cohort : reads.settings(workspace, Kinds.COHORT.word(), "", MOST_SHOWN)) {
                if (reads.setting(workspace, Kinds.MEMBER.word(), cohort.name() + "\n" + profile) != null) {
                    names.add(cohort.name());
                }
            }
            return names;
        });
        return found == null ? List.of() : found;
    }
}
