package dev.semel.server.files.steps.flow;

import dev.semel.server.files.yaml.YamlNode;
import dev.semel.server.files.yaml.YamlSourceRange;
import java.util.List;
import java.util.stream.Stream;

/** Finds step ids in a parsed YAML tree, also inside branches and loops. */
final class YamlStepIdScanner {
    private YamlStepIdScanner() {}

    /** This step and all nested steps. */
    static Stream<YamlNode> all(YamlNode step) {
        return Stream.concat(
                Stream.of(step), Stream.concat(branches(step), loop(step)).flatMap(YamlStepIdScanner::all));
    }

    /**
     * The ids that later steps can read: its own and those of its branches. Steps inside a loop run once per item;
     * their results are part of the loop's result.
     */
    static Stream<String> visibleIds(YamlNode step) {
        return Stream.concat(id(step), branches(step).flatMap(YamlStepIdScanner::visibleIds));
    }

    private static Stream<String> id(YamlNode step) {
        return step instanceof YamlNode.MapNode members
                        && members.get("id") instanceof YamlNode.ScalarNode(YamlSourceRange _, var id)
                        && id.isString()
                ? Stream.of(id.stringValue())
                : Stream.empty();
    }

    private static Stream<YamlNode> branches(YamlNode step) {
        if (!(step instanceof YamlNode.MapNode members)) {
            return Stream.empty();
        }
        Stream<YamlNode> chosen =
                members.get("choose") instanceof YamlNode.ListNode(YamlSourceRange _, List<YamlNode> cases)
                        ? cases.stream().flatMap(YamlStepIdScanner::loop)
                        : Stream.empty();
        Stream<YamlNode> atOnce = members.get("parallel") instanceof YamlNode.MapNode branches
                ? branches.members().values().stream().flatMap(branch -> items(branch.value()))
                : Stream.empty();
        return Stream.concat(chosen, atOnce);
    }

    /** The steps under `steps`. */
    private static Stream<YamlNode> loop(YamlNode step) {
        YamlNode steps = step instanceof YamlNode.MapNode members ? members.get("steps") : null;
        return steps == null ? Stream.empty() : items(steps);
    }

    private static Stream<YamlNode> items(YamlNode list) {
        return list instanceof YamlNode.ListNode(YamlSourceRange _, List<YamlNode> items)
                ? items.stream()
                : Stream.empty();
    }
}
