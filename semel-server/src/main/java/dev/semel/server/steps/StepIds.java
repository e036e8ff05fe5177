package dev.semel.server.steps;

import dev.semel.server.language.Spot;
import dev.semel.server.language.Tree;
import java.util.List;
import java.util.stream.Stream;

/** Finds step ids in a parsed YAML tree, also inside branches and loops. */
final class StepIds {
    private StepIds() {}

    /** This step and all nested steps. */
    static Stream<Tree> all(Tree step) {
        return Stream.concat(
                Stream.of(step), Stream.concat(branches(step), loop(step)).flatMap(StepIds::all));
    }

    /**
     * The ids that later steps can read: its own and those of its branches. Steps inside a loop run once per item;
     * their results are part of the loop's result.
     */
    static Stream<String> visible(Tree step) {
        return Stream.concat(id(step), branches(step).flatMap(StepIds::visible));
    }

    private static Stream<String> id(Tree step) {
        return step instanceof Tree.Members members
                        && members.get("id") instanceof Tree.Scalar(Spot _, var id)
                        && id.isString()
                ? Stream.of(id.stringValue())
                : Stream.empty();
    }

    private static Stream<Tree> branches(Tree step) {
        if (!(step instanceof Tree.Members members)) {
            return Stream.empty();
        }
        Stream<Tree> chosen = members.get("choose") instanceof Tree.Items(Spot _, List<Tree> cases)
                ? cases.stream().flatMap(StepIds::loop)
                : Stream.empty();
        Stream<Tree> atOnce = members.get("parallel") instanceof Tree.Members branches
                ? branches.members().values().stream().flatMap(branch -> items(branch.value()))
                : Stream.empty();
        return Stream.concat(chosen, atOnce);
    }

    /** The steps under `steps`. */
    private static Stream<Tree> loop(Tree step) {
        Tree steps = step instanceof Tree.Members members ? members.get("steps") : null;
        return steps == null ? Stream.empty() : items(steps);
    }

    private static Stream<Tree> items(Tree list) {
        return list instanceof Tree.Items(Spot _, List<Tree> items) ? items.stream() : Stream.empty();
    }
}
