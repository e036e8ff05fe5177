package dev.semel.server.pages;

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

/** The settings of one step: its tabs, and the fields of the one that is open. */
public final class StepPanel {
    static final Set<String> EFFECTS = Set.of("http", "send", "event", "digest", "java");
    private static final Set<String> MESSAGES = Set.of("send", "event", "digest");
    private static final List<String> TABS = List.of("general", "idempotent", "protection", "retry", "overrides");
    private static final int MOST_FREE = 12;

    private final Doc draft;
    private final Doc line;
    private final String step;
    private final String tab;

    private StepPanel(Doc draft, Doc line, String step, String tab) {
        this.draft = draft;
        this.line = line;
        this.step = step;
        this.tab = tab;
    }

    /** Nothing is open where there is no such step. */
    static StepPanel of(Doc draft, String step, String tab) {
        Doc line = draft.list("steps").stream()
                .filter(one -> !step.isEmpty() && one.text("step").equals(step))
                .findFirst()
                .orElse(Doc.NOTHING);
        return new StepPanel(draft, line, step, TABS.contains(tab) ? tab : "general");
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

    /** Where the step begins in the text. */
    public String line() {
        return line.text("line");
    }

    public List<String> tabs() {
        return TABS;
    }

    public static String title(String tab) {
        return Character.toUpperCase(tab.charAt(0)) + tab.substring(1);
    }

    /** Whether this tab means something for this kind of step. */
    public boolean applies() {
        return switch (tab) {
            case "idempotent", "protection" -> EFFECTS.contains(kind());
            case "retry" -> EFFECTS.contains(kind()) || kind().equals("tx");
            case "overrides" -> MESSAGES.contains(kind());
            default -> true;
        };
    }

    public String whyNot() {
        return tab.equals("overrides")
                ? "Only a message has something that its channel lets a step override."
                : "A step of this kind does nothing outside: its record is enough, and nothing has to be told apart.";
    }

    /** The fields of the tab, with what the text says of each. */
    public List<StepField> fields() {
        Doc said = draft.at("fields");
        Stream<StepField> own = StepField.of(tab, kind()).stream();
        Stream<StepField> free = switch (tab) {
            case "general" -> inner(said);
            case "overrides" -> free(said, "overrides");
            default -> Stream.empty();
        };
        return Stream.concat(own, free).map(field -> field.filled(said)).toList();
    }

    /** What a kind has that its author named or counted: values that are set, cases that hold or not. */
    private Stream<StepField> inner(Doc said) {
        return switch (kind()) {
            case "set" -> free(said, "set");
            case "choose" -> cases(said);
            default -> Stream.empty();
        };
    }

    /** The condition of each case, in the order in which they are tried; that which is left over has none. */
    private static Stream<StepField> cases(Doc said) {
        List<Doc> all = said.list("choose");
        return IntStream.range(0, Math.min(MOST_FREE, all.size()))
                .filter(i -> all.get(i).has("when"))
                .mapToObj(i -> StepField.text("choose." + i + ".when", "Case " + (i + 1) + ": when")
                        .hint(steps(all.get(i).list("steps"))));
    }

    private static String steps(List<Doc> steps) {
        return "then " + steps.stream().map(step -> step.text("id")).collect(Collectors.joining(", "));
    }

    /** The branches of a step that does several things at once, each with its steps; empty for others. */
    public List<String> branches() {
        List<String> branches = new ArrayList<>();
        if (kind().equals("parallel")) {
            draft.at("fields").at("parallel").node().properties().forEach(branch -> {
                List<Doc> steps = new Doc(branch.getValue()).all();
                branches.add(branch.getKey() + ": " + steps(steps).substring("then ".length()));
            });
        }
        return branches;
    }

    /** Whether its author can add a value under a name of their own. */
    public boolean takesNames() {
        return tab.equals("general") && kind().equals("set") || tab.equals("overrides");
    }

    /** A map of names that the author chose: one field for each plain value in it. */
    private static Stream<StepField> free(Doc said, String map) {
        List<StepField> fields = new ArrayList<>();
        said.at(map).node().propertyNames().stream()
                .filter(name -> name.matches("[A-Za-z_][A-Za-z0-9_]*"))
                .limit(MOST_FREE)
                .forEach(name -> fields.add(StepField.text(map + "." + name, name)));
        return fields.stream();
    }

    /** What stands in the step and on no tab, so that nobody looks for it in vain. */
    public String elsewhere() {
        Set<String> shown = new HashSet<>(Set.of("id", "overrides"));
        if (Set.of("set", "choose", "parallel").contains(kind())) {
            shown.add(kind());
        }
        for (String one : TABS) {
            StepField.of(one, kind()).forEach(field -> shown.add(field.name().split("\\.")[0]));
        }
        return String.join(
                ", ",
                draft.at("fields").node().propertyNames().stream()
                        .filter(name -> !shown.contains(name))
                        .toList());
    }

    public Doc preview() {
        return draft.at("preview");
    }

    private Doc once() {
        return draft.at("fields").at("idempotent");
    }

    /** What the window means, in plain words. */
    public String sentence() {
        String thing = MESSAGES.contains(kind()) ? "message" : "call";
        String to = MESSAGES.contains(kind()) ? " to the same recipient" : "";
        if (!once().has("key")) {
            return "Without a key of its own, each run does this once, and a replay of the run does not do it again.";
        }
        if (!once().has("time")) {
            return "Without a time the key counts for the run and its replays; another run does it again.";
        }
        String front = "A second " + thing + to + " with the same key within " + span();
        return switch (once().text("on_change")) {
            case "suppress" -> front + " is not sent, whatever its data.";
            case "review" -> front + " is not sent; where its data differ, a person is asked whether it should be.";
            default -> front + " is not sent, unless its data differ.";
        };
    }

    private String span() {
        String unit = once().text("unit");
        return once().text("time") + " "
                + (once().number("time") == 1 && unit.endsWith("s") ? unit.substring(0, unit.length() - 1) : unit);
    }

    /** Half of the window, the window, twice the window; none where this is not the tab of it. */
    List<String> windows() {
        long time = once().number("time");
        String unit = once().text("unit");
        boolean known = Set.of("seconds", "minutes", "hours", "days").contains(unit);
        if (!isOpen() || !tab.equals("idempotent") || !known || time < 1 || time > 400_000) {
            return List.of();
        }
        char letter = unit.charAt(0);
        return Stream.of(time / 2, time, time * 2)
                .filter(length -> length > 0)
                .map(length -> Long.toString(length) + letter)
                .toList();
    }

    /** The step that is open after these edits: the one that was added, or else the one that was. */
    static String stepAfter(ArrayNode edits, String asked) {
        String open = asked;
        for (JsonNode edit : edits) {
            if (edit.path("op").asString("").equals("add")) {
                open = edit.path("id").asString("");
            }
        }
        return open;
    }

    /** What a form asks for: fields that somebody changed since they were drawn, then the deed of a button. */
    static ArrayNode edits(Form form, String deed) {
        ArrayNode edits = JsonNodeFactory.instance.arrayNode();
        if (deed.isEmpty()) {
            return edits; // no button: the text alone is looked at, while somebody types
        }
        String step = form.text("panel_step");
        Map<String, String> before = form.under("was.");
        Map<String, String> left = new LinkedHashMap<>(before);
        form.under("f.").forEach((name, raw) -> {
            String value = inserted(form, deed, name, raw.strip());
            left.put(name, value);
            if (!value.equals(before.getOrDefault(name, ""))) {
                ObjectNode edit = edits.addObject().put("op", value.isEmpty() ? "clear" : "set");
                edit.put("step", step).put("field", name);
                if (!value.isEmpty()) {
                    edit.set("value", StepField.typed(name, value, form.text("type." + name)));
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
                    .put("field", (form.text("new_in").equals("set") ? "set." : "overrides.") + added)
                    .set("value", StepField.typed(added, value, plain(value)));
        }
        button(edits, form, deed);
        return edits;
    }

    /** Without a script a field is added at the end of the key. */
    private static String inserted(Form form, String deed, String name, String value) {
        String path = form.text("insert");
        return deed.equals("insert") && name.equals("idempotent.key") && path.matches("[A-Za-z0-9_.]{1,200}")
                ? value + "${ " + path + " }"
                : value;
    }

    /** What is written like a number or a truth value is one. */
    private static String plain(String value) {
        return value.matches("true|false") ? "boolean" : value.matches("-?(0|[1-9][0-9]{0,14})") ? "number" : "string";
    }

    /** A map all of whose fields were emptied goes as a whole: what would be left of it says nothing. */
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

    private static void button(ArrayNode edits, Form form, String deed) {
        int colon = deed.indexOf(':');
        // Enter, in the field of the new id, is the first button of the page.
        if (deed.equals("add") || (deed.equals("check") && !form.text("add_id").isBlank())) {
            edits.addObject()
                    .put("op", "add")
                    .put("step", form.text("add_after"))
                    .put("id", form.text("add_id").strip())
                    .put("kind", form.text("add_kind"));
        } else if (colon > 0) {
            edits.addObject().put("op", deed.substring(0, colon)).put("step", deed.substring(colon + 1));
        }
    }
}
