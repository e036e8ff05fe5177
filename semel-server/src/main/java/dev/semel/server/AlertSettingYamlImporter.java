package dev.semel.server;

import dev.semel.error.SemelException;
import dev.semel.runtime.SemelRuntime;
import dev.semel.server.files.yaml.YamlFileErrorCollector;
import dev.semel.server.files.yaml.YamlNode;
import dev.semel.server.files.yaml.YamlReader;
import dev.semel.server.files.yaml.YamlSourceRange;
import dev.semel.server.files.yaml.YamlSourceText;
import dev.semel.server.settings.AlertSetting;
import dev.semel.server.settings.WorkspaceSettingNameValidator;
import dev.semel.server.settings.WorkspaceSettingRepositories;
import dev.semel.server.settings.WorkspaceSettingRepository;
import dev.semel.store.DatabaseRows;
import dev.semel.store.StoreWriteCommand;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import tools.jackson.databind.JsonNode;

/**
 * Imports alerts from the file `alerts.yaml` beside the workflows. Every import overwrites alerts of the same name. It
 * deletes alerts that were removed from the file, unless a user has changed them since.
 */
final class AlertSettingYamlImporter {
    /** Actor that is recorded for documents from the file. */
    static final String ACTOR = "alerts.yaml";

    private static final Set<String> NAMES = Set.of("alerts.yaml", "alerts.yml", "alerts.json");
    private static final int PAGE = 200;
    private static final int MAX_ALERTS = 200;
    private static final String FIX = "Correct the file. docs/how-to/set-up-alerts.md shows an example.";

    private final SemelRuntime semel;
    private final WorkspaceSettingRepository<AlertSetting> repository;
    private final int ws;

    AlertSettingYamlImporter(SemelRuntime semel, WorkspaceSettingRepositories settings, int ws) {
        this.semel = semel;
        this.repository = settings.alerts();
        this.ws = ws;
    }

    static boolean isAlertFile(String fileName) {
        return NAMES.contains(fileName);
    }

    /** Imports the alerts of a text and returns a summary. An invalid text changes nothing. */
    String importAlerts(String text) {
        Map<String, JsonNode> wanted = read(text);
        int changed = 0;
        for (Map.Entry<String, JsonNode> one : wanted.entrySet()) {
            DatabaseRows.SettingRow before = repository.findRow(ws, one.getKey());
            StoreWriteCommand.SettingResult placed = semel.change(repository.preparePut(
                    new WorkspaceSettingRepository.SettingDraft(ws, one.getKey(), one.getValue(), null, ACTOR)));
            boolean same = before != null
                    && placed instanceof StoreWriteCommand.SettingResult.Saved(DatabaseRows.SettingRow now)
                    && now.version() == before.version();
            changed += same ? 0 : 1;
        }
        int removed = deleteRemovedAlerts(wanted.keySet());
        return wanted.size() + (wanted.size() == 1 ? " alert, " : " alerts, ") + changed + " changed, " + removed
                + " removed";
    }

    private int deleteRemovedAlerts(Set<String> wanted) {
        int removed = 0;
        String after = "";
        List<DatabaseRows.SettingRow> page;
        do {
            page = repository.page(ws, after, PAGE);
            for (DatabaseRows.SettingRow row : page) {
                after = row.name();
                if (row.changedBy().equals(ACTOR) && !wanted.contains(row.name())) {
                    // Deletes only the version that was read, so a concurrent change survives.
                    var unused = semel.change(repository.prepareRemove(ws, row.name(), row.version(), ACTOR));
                    removed++;
                }
            }
        } while (page.size() == PAGE);
        return removed;
    }

    /** Parses the alerts by name; rejects errors with line and column. */
    Map<String, JsonNode> read(String text) {
        YamlSourceText source = new YamlSourceText(text);
        YamlFileErrorCollector problems = new YamlFileErrorCollector(source, "alerts file", "No alert was changed.");
        Map<String, JsonNode> found = new LinkedHashMap<>();
        YamlNode tree = YamlReader.read(text, source, problems);
        if (tree instanceof YamlNode.MapNode root && root.get("alerts") instanceof YamlNode.MapNode alerts) {
            root.members().forEach((name, member) -> {
                if (!name.equals("alerts") && !name.equals("semel")) {
                    problems.add(
                            member.nameRange(),
                            "\"" + name + "\" is not a known field.",
                            "allowed: alerts, semel",
                            FIX);
                }
            });
            if (alerts.members().size() > MAX_ALERTS) {
                problems.add(alerts.range(), "the file has more than " + MAX_ALERTS + " alerts.", "here", FIX);
            }
            alerts.members().forEach((name, member) -> one(name, member, problems, found));
        } else if (tree != null) {
            problems.add(tree.range(), "the file must contain `alerts:` with a name for each alert.", "here", FIX);
        }
        problems.throwIfAny();
        return found;
    }

    private void one(
            String name, YamlNode.MapEntry member, YamlFileErrorCollector problems, Map<String, JsonNode> found) {
        JsonNode document = member.value().toJson();
        if (!WorkspaceSettingNameValidator.isValid(name)) {
            problems.add(
                    member.nameRange(),
                    "a name must have 1 to 64 letters, digits, dots, _ and -, and begin with a letter.",
                    "not a valid name",
                    FIX);
        }
        try {
            var unused = repository.parse(document);
            found.put(name, document);
        } catch (SemelException e) {
            Object errors = e.members().get("errors");
            if (errors instanceof List<?> all) {
                all.forEach(error -> problem(error, member, problems));
            } else {
                problems.add(member.nameRange(), e.detail(), "here", FIX);
            }
        }
    }

    private static void problem(Object error, YamlNode.MapEntry member, YamlFileErrorCollector problems) {
        if (error instanceof Map<?, ?> one) {
            String pointer = String.valueOf(one.get("pointer"));
            String field = pointer.isEmpty() ? "it" : pointer.substring(1);
            problems.add(spot(member, field), "`" + field + "` " + one.get("message") + ".", "here", FIX);
        }
    }

    /** Position of the field; if it is missing, of its alert. */
    private static YamlSourceRange spot(YamlNode.MapEntry member, String field) {
        YamlNode value = member.value() instanceof YamlNode.MapNode fields ? fields.get(field) : null;
        return value == null ? member.nameRange() : value.range();
    }
}
