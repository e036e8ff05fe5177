package dev.semel.server.files.expressions;

import dev.cel.common.CelAbstractSyntaxTree;
import dev.cel.common.ast.CelConstant;
import dev.cel.common.ast.CelExpr;
import dev.semel.server.files.yaml.MisspelledNameSuggester;
import dev.semel.server.files.yaml.YamlFileErrorCollector;
import dev.semel.server.files.yaml.YamlSourceRange;
import java.util.ArrayList;
import java.util.HashSet;
import java.util.List;
import java.util.Locale;
import java.util.Map;
import java.util.Optional;
import java.util.Set;
import java.util.regex.Pattern;

/** Runs before the type check, because it can explain why a name is not available. */
final class ExpressionReferenceValidator {
    /** Deeper trees could overflow the stack of the evaluating thread. */
    private static final int DEEPEST = 150;

    private static final Map<String, Set<String>> FIELDS =
            Map.of("run", Set.of("id", "started_at"), "step", Set.of("id"));

    private static final Pattern HEADER = Pattern.compile("[A-Za-z0-9!#$%&'*+.^_`|~-]{1,100}");
    private static final Set<String> CREDENTIALS =
            Set.of("authorization", "proxy-authorization", "cookie", "set-cookie");

    private final CelAbstractSyntaxTree ast;
    private final ExpressionPosition code;
    private final ExpressionCompileContext site;
    private final YamlFileErrorCollector problems;
    private final List<ExpressionFieldPath> reads = new ArrayList<>();
    private final Set<String> bound = new HashSet<>();
    private boolean tooDeep;

    ExpressionReferenceValidator(
            CelAbstractSyntaxTree ast,
            ExpressionPosition code,
            ExpressionCompileContext site,
            YamlFileErrorCollector problems) {
        this.ast = ast;
        this.code = code;
        this.site = site;
        this.problems = problems;
    }

    /** The paths that the expression reads, each up to its first computed part. */
    List<ExpressionFieldPath> check() {
        walk(ast.getExpr(), 1);
        return reads.stream().distinct().toList();
    }

    private void walk(CelExpr at, int depth) {
        if (depth > DEEPEST) {
            if (!tooDeep) {
                problems.add(code.range(0, 0), "the expression has more than " + DEEPEST + " nested levels.");
            }
            tooDeep = true;
            return;
        }
        Optional<ExpressionFieldPath> path = ExpressionFieldPath.of(at);
        if (path.isPresent()) {
            path(path.get(), at);
            return;
        }
        switch (at.getKind()) {
            case SELECT -> walk(at.select().operand(), depth + 1);
            case CALL -> call(at, depth);
            case LIST -> at.list().elements().forEach(item -> walk(item, depth + 1));
            case MAP ->
                at.map().entries().forEach(entry -> {
                    walk(entry.key(), depth + 1);
                    walk(entry.value(), depth + 1);
                });
            case COMPREHENSION -> comprehension(at, depth);
            case CONSTANT, IDENT, NOT_SET -> {}
            case STRUCT ->
                problems.add(
                        code.range(0, 0),
                        "protobuf messages (Name{…}) are not supported; write a map: {\"name\": value}.");
        }
    }

    private void call(CelExpr at, int depth) {
        CelExpr.CelCall call = at.call();
        boolean search =
                call.function().equals(CelEnvironment.FIND) || call.function().equals(CelEnvironment.HAS);
        if (search && call.args().getFirst().getKind() == CelExpr.ExprKind.Kind.IDENT) {
            List<Object> parts = new ArrayList<>();
            for (CelExpr part : call.args().get(1).list().elements()) {
                parts.add(
                        part.constant().getKind() == CelConstant.Kind.STRING_VALUE
                                ? part.constant().stringValue()
                                : (Object) part.constant().int64Value());
            }
            path(new ExpressionFieldPath(call.args().getFirst().ident().name(), parts), at);
            return;
        }
        if (call.function().equals(CelEnvironment.IN_COHORT)) {
            walk(call.args().getFirst(), depth + 1); // the other argument is all results, which no author wrote
            return;
        }
        if (Character.isLetter(call.function().codePointAt(0))) {
            function(call.function(), at);
        }
        call.target().ifPresent(target -> walk(target, depth + 1));
        call.args().forEach(argument -> walk(argument, depth + 1));
    }

    private void comprehension(CelExpr at, int depth) {
        CelExpr.CelComprehension loop = at.comprehension();
        walk(loop.iterRange(), depth + 1);
        List<String> names = List.of(loop.iterVar(), loop.iterVar2(), loop.accuVar());
        for (String name : names) {
            if (CelEnvironment.VARIABLES.contains(name) || site.loopVariables().contains(name)) {
                problems.add(
                        offsets(at, name),
                        "'%s' cannot be a loop variable, because the name is already in use; choose another name."
                                .formatted(name));
            }
        }
        List<String> added = names.stream().filter(bound::add).toList();
        walk(loop.accuInit(), depth + 1);
        walk(loop.loopCondition(), depth + 1);
        walk(loop.loopStep(), depth + 1);
        walk(loop.result(), depth + 1);
        added.forEach(bound::remove);
    }

    private void path(ExpressionFieldPath path, CelExpr at) {
        String root = path.root();
        if (bound.contains(root)) {
            return;
        }
        YamlSourceRange spot = offsets(rootOf(at), root.replace("@", ""));
        if (root.startsWith("@")) {
            recorded(root.substring(1), spot);
        } else if (!site.names().contains(root)) {
            unknownName(root, spot);
        } else if (root.equals("steps")) {
            step(path, spot);
        } else if (root.equals("secret")
                && (path.parts().size() != 1 || !(path.parts().getFirst() instanceof String))) {
            problems.add(
                    spot,
                    "write the name of the secret, as in secret.CRM_TOKEN: the name must be a constant.",
                    "not a constant name",
                    fix());
        } else if (root.equals("header")) {
            header(path, spot);
        } else if (FIELDS.containsKey(root)
                && (path.parts().size() != 1
                        || !FIELDS.get(root).contains(path.parts().getFirst()))) {
            problems.add(
                    spot,
                    root.equals("run")
                            ? "only run.id and run.started_at can be read from run."
                            : "only step.id can be read from step.");
        }
        reads.add(path);
    }

    /** The headers of a key are fixed when the file is published, and credentials are never among them. */
    private void header(ExpressionFieldPath path, YamlSourceRange spot) {
        boolean named = path.parts().size() == 1
                && path.parts().getFirst() instanceof String name
                && HEADER.matcher(name).matches();
        if (!named) {
            problems.add(
                    spot,
                    "write the name of the header, as in header[\"X-Event-Id\"]: the name must be a constant.",
                    "not a constant name",
                    fix());
        } else if (CREDENTIALS.contains(path.parts().getFirst().toString().toLowerCase(Locale.ROOT))) {
            problems.add(
                    spot,
                    "a key must not contain %s: Semel stores and shows keys, and this header is a credential."
                            .formatted(path.parts().getFirst()),
                    "a credential",
                    "Use an id from the input, or a header that identifies the event, e.g. header[\"X-Event-Id\"].");
        }
    }

    /** A step records time and random values before it reads them. In a key they would differ on every attempt. */
    private void recorded(String function, YamlSourceRange spot) {
        if (site.mustBeStable()) {
            changing(function + "()", spot);
        } else if (!site.kind().recordsRandomness()) {
            problems.add(
                    spot,
                    "%s() cannot be called in %s, because only a step can record its result."
                            .formatted(function, site.kind().label),
                    "not recorded",
                    "Call it in a `set` step and read the result of that step.");
        }
    }

    private void unknownName(String root, YamlSourceRange spot) {
        if (site.mustBeStable() && root.equals("attempt")) {
            changing(root, spot);
        } else if (site.kind() == ExpressionCompileContext.ContextKind.EFFECT_KEY && root.equals("run")) {
            problems.add(
                    spot,
                    "this key changes with every safe replay, because a replay is a new run with its own id and start"
                            + " time.",
                    "a different value in every replay",
                    "Use an id from the input, or step.id, which stays the same in a replay.");
        } else if (root.equals("secret")) {
            problems.add(
                    spot,
                    "secrets can be read only in `auth`, `headers` and `verify`, so that Semel never records them.",
                    "not allowed here",
                    "Move the secret to `auth` or to a header of the step that sends it.");
        } else if (root.equals("attempt")) {
            problems.add(
                    spot,
                    "'attempt' cannot be read in %s: Semel evaluates this expression once, before the first attempt."
                            .formatted(site.kind().label),
                    "the same in every attempt",
                    "Read it in `headers`, `auth` or `result` of an http step.");
        } else if (CelEnvironment.VARIABLES.contains(root)) {
            problems.add(
                    spot, "'%s' cannot be read in %s.".formatted(root, site.kind().label), "not available here", fix());
        } else {
            String meant = MisspelledNameSuggester.didYouMean(root, site.names());
            problems.add(
                    spot,
                    "'%s' is not a known name.%s".formatted(MisspelledNameSuggester.shorten(root), meant),
                    "unknown",
                    fix());
        }
    }

    private String fix() {
        return "Available here: %s. Correct the file and publish it again."
                .formatted(String.join(", ", site.names().stream().sorted().toList()));
    }

    private void step(ExpressionFieldPath path, YamlSourceRange spot) {
        if (path.parts().isEmpty() || !(path.parts().getFirst() instanceof String id)) {
            problems.add(spot, "write the id of a step after the dot, as in steps.charge.");
        } else if (site.isLater(id)) {
            problems.add(
                    spot, "step '%s' runs later; only the results of earlier steps can be read here.".formatted(id));
        } else if (!site.earlierSteps().contains(id)) {
            String meant = MisspelledNameSuggester.didYouMean(id, site.earlierSteps());
            problems.add(
                    spot, "there is no earlier step '%s'.%s".formatted(MisspelledNameSuggester.shorten(id), meant));
        }
    }

    private void function(String name, CelExpr at) {
        YamlSourceRange spot = offsets(at, name);
        if (!CelEnvironment.FUNCTIONS.contains(name)) {
            String meant = MisspelledNameSuggester.didYouMean(name, CelEnvironment.FUNCTIONS);
            problems.add(spot, "there is no function %s().%s".formatted(MisspelledNameSuggester.shorten(name), meant));
        }
    }

    private void changing(String what, YamlSourceRange spot) {
        String thing = site.kind() == ExpressionCompileContext.ContextKind.FINGERPRINT ? "fingerprint" : "key";
        problems.add(
                spot,
                ("this %s changes between attempts: %s returns a different value each time. A %s must identify the "
                                + "intended action, so it must be the same in every retry.")
                        .formatted(thing, what, thing),
                "a different value on every attempt",
                "Use an id from the input, e.g. ${ input.event_id }, or remove this part.");
    }

    private static CelExpr rootOf(CelExpr at) {
        CelExpr root = at;
        while (true) {
            switch (root.getKind()) {
                case SELECT -> root = root.select().operand();
                case CALL -> {
                    if (!root.call().function().equals("_[_]")) {
                        return root;
                    }
                    root = root.call().args().getFirst();
                }
                default -> {
                    return root;
                }
            }
        }
    }

    /** The parser reports the start of an identifier, but for a call only its bracket; the name is before that. */
    private YamlSourceRange offsets(CelExpr at, String name) {
        int[] points = code.code().codePoints().toArray();
        int known = ast.getSource().getPositionsMap().getOrDefault(at.id(), 0);
        int length = name.codePointCount(0, name.length());
        for (int start = Math.min(known, points.length - length); start >= 0; start--) {
            if (new String(points, start, length).equals(name)) {
                return code.range(start, start + length);
            }
        }
        int after = code.code().indexOf(name);
        return after < 0 ? code.range(0, 0) : code.range(after, after + length);
    }
}
