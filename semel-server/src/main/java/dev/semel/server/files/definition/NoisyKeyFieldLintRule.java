package dev.semel.server.files.definition;

import dev.semel.idempotency.FingerprintField;
import dev.semel.server.files.expressions.ExpressionFieldPath;
import dev.semel.server.files.expressions.YamlValueTemplate;
import dev.semel.server.files.steps.YamlStep;
import java.util.ArrayList;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** Lint SEM-K10: finds fields in keys and fingerprints that usually differ in each attempt of the same action. */
final class NoisyKeyFieldLintRule {
    private static final Set<String> NOISY = Set.of(
            "timestamp",
            "ts",
            "sent_at",
            "sent_time",
            "request_time",
            "requested_at",
            "received_at",
            "now",
            "nonce",
            "request_id",
            "trace_id",
            "span_id",
            "traceparent",
            "attempt",
            "attempts",
            "retry",
            "retries",
            "retry_count");

    private NoisyKeyFieldLintRule() {}

    static List<String> warnings(
            @Nullable YamlValueTemplate key,
            YamlIdempotencyPolicyReader.IdempotencySection rules,
            List<YamlStep> steps) {
        List<String> warnings = new ArrayList<>();
        names(Stream.ofNullable(key)).forEach(name -> warnings.add(warning("trigger.http.key: ", "key", name)));
        Stream<String> fields = rules.policy().fingerprint().stream()
                .map(FingerprintField::name)
                .map(path -> path.substring(path.lastIndexOf('.') + 1));
        Stream<String> computed = rules.fingerprintReads().stream().flatMap(NoisyKeyFieldLintRule::lastPart);
        Stream.concat(fields, computed)
                .filter(NoisyKeyFieldLintRule::isNoisy)
                .distinct()
                .forEach(name -> warnings.add(warning("idempotency: ", "fingerprint", name)));
        steps.stream()
                .flatMap(YamlStep::withNested)
                .forEach(step -> names(Stream.ofNullable(step.action().effectKey()))
                        .forEach(name -> warnings.add(warning("Step '" + step.id() + "': ", "key", name))));
        return warnings;
    }

    private static Stream<String> names(Stream<YamlValueTemplate> templates) {
        return templates
                .flatMap(YamlValueTemplate::readPaths)
                .flatMap(NoisyKeyFieldLintRule::lastPart)
                .filter(NoisyKeyFieldLintRule::isNoisy)
                .distinct();
    }

    private static Stream<String> lastPart(ExpressionFieldPath path) {
        return path.parts().isEmpty()
                ? Stream.empty()
                : Stream.of(path.parts().getLast().toString());
    }

    /** Also `sentAt`, `sent-at`, `X-Request-Id`. */
    private static boolean isNoisy(String name) {
        String plain = name.replaceAll("([a-z])([A-Z])", "$1_$2")
                .replace('-', '_')
                .toLowerCase(Locale.ROOT)
                .replaceFirst("^x_", "");
        return NOISY.contains(plain);
    }

    private static String warning(String place, String thing, String name) {
        return place + "SEM-K10: the " + thing + " contains " + name + ", which usually differs in each attempt. Then"
                + " Semel does not recognise a retry. Use fields that identify the action.";
    }
}
