package dev.semel.testing.memory;

import dev.semel.store.Edit;
import dev.semel.store.Write;
import java.util.List;
import java.util.Map;

/** Removes rows by their age, the oldest ids first. */
final class Forgetting {
    private final Tables tables;

    Forgetting(Tables tables) {
        this.tables = tables;
    }

    int forget(Edit.Forget forget) {
        return switch (forget.memory()) {
            case AUDIT -> audit(forget);
            case REQUESTS -> requests(forget);
        };
    }

    private int audit(Edit.Forget forget) {
        var old = tables.audit.rows().entrySet().stream()
                .limit(forget.limit())
                .filter(entry -> entry.getValue().row().at() < forget.before())
                .map(Map.Entry::getKey)
                .toList();
        old.forEach(tables.audit::remove);
        return old.size();
    }

    private int requests(Edit.Forget forget) {
        int deleted = 0;
        for (int ws : List.copyOf(tables.workspaces.rows().keySet())) {
            List<Write.Seen> old = tables.requestsByWorkspace.entrySet().stream()
                    .filter(entry -> entry.getKey().first() == ws)
                    .limit(forget.limit() - deleted)
                    .map(Map.Entry::getValue)
                    .filter(seen -> seen.at() < forget.before())
                    .toList();
            old.forEach(seen -> tables.requests.remove(new Pair<>(seen.run(), seen.id())));
            deleted += old.size();
        }
        return deleted;
    }
}
