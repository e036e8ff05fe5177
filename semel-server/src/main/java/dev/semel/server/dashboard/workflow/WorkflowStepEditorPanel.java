package dev.semel.server.dashboard.workflow;

import dev.semel.server.dashboard.page.DashboardTemplateJsonAccessor;
import dev.semel.server.dashboard.page.SubmittedForm;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Set;
import java.util.stream.Collectors;
import java.util.stream.IntStream;
import java.util.stream.Stream;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ArrayNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

public final class WorkflowStepEditorPanel {
    static final Set<String> EFFECTS = Set.of("http", "send", "notify", "digest", "java");
    private static final Set<String> MESSAGES = Set.of("send", "notify", "digest");
    private static final List<String> TABS = List.of("general", "idempotent", "protection", "retry", "overrides");
    private static final int MOST_FREE = 12;
    private static final String NAME = "[A-Za-z][A-Za-z0-9_-]{0,63}";

    private final DashboardTemplateJsonAccessor draft;
    private final DashboardTemplateJsonAccessor line;
    private final String step;
    private final String tab;

    private WorkflowStepEditorPanel(
            DashboardTemplateJsonAccessor draft, DashboardTemplateJsonAccessor line, String step, String tab) {
        this.draft = draft;
        this.line = line;
        this.step = step;
        this.tab = tab;
    }

    /** A closed panel if the step does not exist. */
    static WorkflowStepEditorPanel of(DashboardTemplateJsonAccessor draft, String step, String tab) {
        DashboardTemplateJsonAccessor line = draft.list("steps").stream()
                .filter(one -> !step.isEmpty() && one.text("step").equals(step))
                .findFirst()
                .orElse(DashboardTemplateJsonAccessor.EMPTY);
        return new WorkflowStepEditorPanel(draft, line, step, TABS.contains(tab) ? tab : "general");
    }

    public boolean isOpen() {
        return line.node().isObject();
    }

    public String step() {
        return step;
    }

    public String tab() {
        return tab;
    }

    public String kind() {
        return line.text("kind");
    }

    /** The line of the file at which the step begins. */
    public String line() {
        return line.text("line");
    }

    public List<String> tabs() {
        return TABS;
    }

    public static String title(String tab) {
        return Character.toUpperCase(tab.charAt(0)) + tab.substring(1);
    }

    public boolean applies() {
        return switch (tab) {
            case "idempotent", "protection" -> EFFECTS.contains(kind());
            case "retry" -> EFFECTS.contains(kind()) || kind().equals("tx");
            case "overrides" -> MESSAGES.contains(kind());
            default -> true;
        };
    }

    public String notApplicableReason() {
        return tab.equals("overrides")
                ? "Overrides apply only to message steps."
                : "A step of this kind has no side effect, so these settings do not apply.";
    }

    public List<WorkflowStepEditorField> fields() {
        DashboardTemplateJsonAccessor fields = draft.at("fields");
        Stream<WorkflowStepEditorField> own = WorkflowStepEditorField.forTab(tab, kind()).stream();
        Stream<WorkflowStepEditorField> free = switch (tab) {
            case "general" -> inner(fields);
            case "overrides" -> overrides(fields);
            default -> Stream.empty();
        };
        return Stream.concat(own, free).map(field -> field.withValue(fields)).toList();
    }

    /** The fields whose names the author chose: values of a set step, cases of a choose step. */
    private Stream<WorkflowStepEditorField> inner(DashboardTemplateJsonAccessor fields) {
        return switch (kind()) {
            case "set" -> free(fields, "set");
            case "choose" -> cases(fields);
            default -> Stream.empty();
        };
    }

    /** The condition of each case in order; the default case has none. */
    private static Stream<WorkflowStepEditorField> cases(DashboardTemplateJsonAccessor fields) {
        List<DashboardTemplateJsonAccessor> all = fields.list("choose");
        return IntStream.range(0, Math.min(MOST_FREE, all.size()))
                .filter(i -> all.get(i).has("when"))
                .mapToObj(i -> WorkflowStepEditorField.text("choose." + i + ".when", "Case " + (i + 1) + ": when")
                        .hint(steps(all.get(i).list("steps"))));
    }

    private static String steps(List<DashboardTemplateJsonAccessor> steps) {
        return "then " + steps.stream().map(step -> step.text("id")).collect(Collectors.joining(", "));
    }

    /** The branches of a parallel step, each with its steps; empty for other kinds. */
    public List<String> branches() {
        List<String> branches = new ArrayList<>();
        if (kind().equals("parallel")) {
            draft.at("fields").at("parallel").node().properties().forEach(branch -> {
                List<DashboardTemplateJsonAccessor> steps = new DashboardTemplateJsonAccessor(branch.getValue()).all();
                branches.add(branch.getKey() + ": " + steps(steps).substring("then ".length()));
            });
        }
        return branches;
    }

    public boolean allowsNewFields() {
        return tab.equals("general") && kind().equals("set") || tab.equals("overrides");
    }

    /** One field per entry of a map whose names the author chose. */
    private static Stream<WorkflowStepEditorField> free(DashboardTemplateJsonAccessor fields, String map) {
        List<WorkflowStepEditorField> found = new ArrayList<>();
        DashboardTemplateJsonAccessor at = fields;
        for (String part : map.split("\\.")) {
            at = at.at(part);
        }
        at.node().propertyNames().stream()
                .filter(name -> name.matches("[A-Za-z_][A-Za-z0-9_]*"))
                .limit(MOST_FREE)
                .forEach(name -> found.add(WorkflowStepEditorField.text(map + "." + name, name)));
        return found.stream();
    }

    /** One field per channel and option; entries without a channel are shown too, so that they can be removed. */
    private static Stream<WorkflowStepEditorField> overrides(DashboardTemplateJsonAccessor fields) {
        return Stream.concat(
                        fields.at("overrides").node().properties().stream()
                                .filter(entry -> !entry.getValue().isObject())
                                .map(entry -> WorkflowStepEditorField.text(
                                                "overrides." + entry.getKey(), entry.getKey())
                                        .hint("has no effect without a channel; clear it and add it again")),
                        fields.at("overrides").node().properties().stream()
                                .filter(entry -> entry.getValue().isObject()
                                        && entry.getKey().matches(NAME))
                                .flatMap(entry -> free(fields, "overrides." + entry.getKey())
                                        .map(field -> field.withLabel(entry.getKey() + ": " + field.label()))))
                .limit(MOST_FREE);
    }

    /** The channel of the step, for new overrides; empty if the file does not name it. */
    public String channel() {
        String channel = draft.at("fields").at("send").text("channel");
        return channel.startsWith("${") ? "" : channel;
    }

    /** The fields of the step that are on no tab and can be changed only in the file. */
    public String fileOnlyFields() {
        Set<String> shown = new HashSet<>(Set.of("id", "overrides"));
        if (Set.of("set", "choose", "parallel").contains(kind())) {
            shown.add(kind());
        }
        for (String one : TABS) {
            WorkflowStepEditorField.forTab(one, kind())
                    .forEach(field -> shown.add(field.name().split("\\.")[0]));
        }
        return String.join(
                ", ",
                draft.at("fields").node().propertyNames().stream()
                        .filter(name -> !shown.contains(name))
                        .toList());
    }

    public DashboardTemplateJsonAccessor preview() {
        return draft.at("preview");
    }

    private DashboardTemplateJsonAccessor once() {
        return draft.at("fields").at("idempotent");
    }

    public String windowText() {
        String thing = MESSAGES.contains(kind()) ? "message" : "call";
        String to = MESSAGES.contains(kind()) ? " to the same recipient" : "";
        if (!once().has("key")) {
            return "This step has no key of its own, so each run executes the step once. A safe replay of the run does"
                    + " not repeat the step.";
        }
        if (!once().has("time")) {
            return "Without a window, the key applies only to the run and its safe replays. Another run with the same"
                    + " key sends the effect again.";
        }
        String front = "A second " + thing + to + " with the same key within " + span();
        return switch (once().text("on_change")) {
            case "suppress" -> front + " is suppressed, whatever its data.";
            case "review" -> front + " is suppressed. If its data differ, a user decides.";
            default -> front + " is suppressed, unless its data differ.";
        };
    }

    private String span() {
        String unit = once().text("unit");
        return once().text("time") + " "
                + (once().number("time") == 1 && unit.endsWith("s") ? unit.substring(0, unit.length() - 1) : unit);
    }

    /** Half the window, the window, and twice the window; empty on other tabs. */
    List<String> windows() {
        long time = once().number("time");
        String unit = once().text("unit");
        boolean known = Set.of("seconds", "minutes", "hours", "days").contains(unit);
        if (!isOpen() || !tab.equals("idempotent") || !known || time < 1 || time > 400_000) {
            return List.of();
        }
        char unitLetter = unit.charAt(0);
        return Stream.of(time / 2, time, time * 2)
                .filter(length -> length > 0)
                .map(length -> Long.toString(length) + unitLetter)
                .toList();
    }

    /** The step that is open after these edits: the added one, else the previous one. */
    static String stepAfter(ArrayNode edits, String requested) {
        String open = requested;
        for (JsonNode edit : edits) {
            if (edit.path("op").asString("").equals("add")) {
                open = edit.path("id").asString("");
            }
        }
        return open;
    }

    /** The edits of a form: the fields that the user changed, then the action of the button. */
    static ArrayNode edits(SubmittedForm form, String action) {
        ArrayNode edits = JsonNodeFactory.instance.arrayNode();
        if (action.isEmpty()) {
            return edits; // no button: only the text is checked while the user types
        }
        String step = form.text("panel_step");
        Map<String, String> before = form.withPrefix("was.");
        Map<String, String> left = new LinkedHashMap<>(before);
        form.withPrefix("f.").forEach((name, raw) -> {
            String value = inserted(form, action, name, raw.strip());
            left.put(name, value);
            if (!value.equals(before.getOrDefault(name, ""))) {
                ObjectNode edit = edits.addObject().put("op", value.isEmpty() ? "clear" : "set");
                edit.put("step", step).put("field", name);
                if (!value.isEmpty()) {
                    edit.set("value", WorkflowStepEditorField.toJson(name, value, form.text("type." + name)));
                }
            }
        });
        emptied(edits, step, left);
        String added = form.text("new_name").strip();
        if (!added.isEmpty()) {
            String value = form.text("new_value").strip();
            edits.addObject()
                    .put("op", "set")
                    .put("step", step)
                    .put("field", newField(form, added))
                    .set("value", WorkflowStepEditorField.toJson(added, value, plain(value)));
        }
        button(edits, form, action);
        return edits;
    }

    /** An override belongs to a channel: without one, the server rejects the file. */
    private static String newField(SubmittedForm form, String name) {
        String channel = form.text("new_channel").strip();
        return form.text("new_in").equals("set")
                ? "set." + name
                : "overrides." + (channel.isEmpty() ? "" : channel + ".") + name;
    }

    /** Without a script, the selected field is added at the end of the key. */
    private static String inserted(SubmittedForm form, String action, String name, String value) {
        String path = form.text("insert");
        return action.equals("insert") && name.equals("idempotent.key") && path.matches("[A-Za-z0-9_.]{1,200}")
                ? value + "${ " + path + " }"
                : value;
    }

    /** The JSON type of plain text: number, boolean or string. */
    private static String plain(String value) {
        return value.matches("true|false") ? "boolean" : value.matches("-?(0|[1-9][0-9]{0,14})") ? "number" : "string";
    }

    /** Removes a map if the user cleared all its fields. */
    private static void emptied(ArrayNode edits, String step, Map<String, String> left) {
        for (String map : List.of("idempotent", "retry")) {
            boolean cleared = false;
            for (JsonNode edit : edits) {
                cleared |= edit.path("op").asString("").equals("clear")
                        && edit.path("field").asString("").startsWith(map + ".");
            }
            boolean empty = left.entrySet().stream()
                    .noneMatch(field -> field.getKey().startsWith(map + ".")
                            && !field.getValue().isEmpty());
            if (cleared && empty) {
                ArrayNode others = edits.deepCopy();
                edits.removeAll();
                others.forEach(edit -> {
                    if (!edit.path("field").asString("").startsWith(map + ".")) {
                        edits.add(edit);
                    }
                });
                edits.addObject().put("op", "clear").put("step", step).put("field", map);
            }
        }
    }

    private static void button(ArrayNode edits, SubmittedForm form, String action) {
        int colon = action.indexOf(':');
        // Enter in the field of the new id presses the first button of the page, which is "check".
        if (action.equals("add")
                || (action.equals("check") && !form.text("add_id").isBlank())) {
            edits.addObject()
                    .put("op", "add")
                    .put("step", form.text("add_after"))
                    .put("id", form.text("add_id").strip())
                    .put("kind", form.text("add_kind"));
        } else if (colon > 0) {
            edits.addObject().put("op", action.substring(0, colon)).put("step", action.substring(colon + 1));
        }
    }
}
