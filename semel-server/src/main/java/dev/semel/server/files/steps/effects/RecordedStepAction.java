package dev.semel.server.files.steps.effects;

import dev.cel.common.types.CelKind;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.files.expressions.YamlValueTemplate;
import dev.semel.server.files.steps.CompiledYamlStepAction;
import dev.semel.server.files.steps.YamlStepExecutionContext;
import dev.semel.server.files.steps.YamlStepReadContext;
import dev.semel.server.files.yaml.YamlMapReader;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;

/** One recorded step: `set`, profiles, subscriptions, cohorts or template search. Each is safe to repeat. */
public record RecordedStepAction(
        Function<YamlStepExecutionContext, JsonNode> operation,
        @Nullable YamlValueTemplate... reads) implements CompiledYamlStepAction {
    @Override
    public JsonNode run(YamlStepExecutionContext context) {
        return context.durable().step(context.id(), () -> operation.apply(context));
    }

    @Override
    public Stream<YamlValueTemplate> templates() {
        return Stream.of(reads).flatMap(Stream::ofNullable);
    }

    /** Step kind `set: {…}`: evaluates expressions and records the result. */
    public static @Nullable CompiledYamlStepAction readSet(YamlStepReadContext draft) {
        YamlValueTemplate value = draft.template(draft.fields(), "set");
        return value == null ? null : new RecordedStepAction(context -> context.evaluate(value), value);
    }

    /** Step kind `user_profile: {find | find_or_create | update: id, set: {…}}`. */
    public static @Nullable CompiledYamlStepAction readUserProfile(YamlStepReadContext draft) {
        Set<String> operations = Set.of("find", "find_or_create", "update");
        YamlMapReader section = draft.section("user_profile", Set.of("find", "find_or_create", "update", "set"));
        if (section == null) {
            return null;
        }
        if (operations.stream()
                        .filter(operation -> section.get(operation) != null)
                        .count()
                != 1) {
            draft.addError(
                    section.range(),
                    "user_profile must have exactly one of find, find_or_create and update, with the profile's"
                            + " id.");
            return null;
        }
        YamlValueTemplate set = draft.template(section, "set", CelKind.MAP);
        YamlValueTemplate find = draft.template(section, "find", CelKind.STRING, CelKind.INT, CelKind.DOUBLE);
        YamlValueTemplate create =
                draft.template(section, "find_or_create", CelKind.STRING, CelKind.INT, CelKind.DOUBLE);
        YamlValueTemplate update = draft.template(section, "update", CelKind.STRING, CelKind.INT, CelKind.DOUBLE);
        if (find != null) {
            return new RecordedStepAction(
                    context -> {
                        JsonNode found = context.services().profiles().find(context.text(find, "find"));
                        return found == null
                                ? JsonNodeFactory.instance.objectNode().put("found", false)
                                : found;
                    },
                    find);
        }
        if (create != null) {
            return new RecordedStepAction(
                    context -> context.services()
                            .profiles()
                            .findOrCreate(context.text(create, "find_or_create"), context.evaluateOrEmpty(set)),
                    create,
                    set);
        }
        return update == null
                ? null
                : new RecordedStepAction(
                        context -> updated(context, update, context.evaluateOrEmpty(set)), update, set);
    }

    private static JsonNode updated(YamlStepExecutionContext context, YamlValueTemplate who, JsonNode fields) {
        JsonNode profile = context.services().profiles().update(context.text(who, "update"), fields);
        if (profile == null) {
            throw new SemelException(
                    ErrorCode.NOT_FOUND,
                    "Step '%s' updates a profile that does not exist. Nothing was changed.".formatted(context.id()),
                    "Create it with user_profile: {find_or_create: …} first.");
        }
        return profile;
    }

    /** Step kind `subscription: {profile, topic, subscribed: true|false}`. */
    public static @Nullable CompiledYamlStepAction readSubscription(YamlStepReadContext draft) {
        YamlMapReader section = draft.section("subscription", Set.of("profile", "topic", "subscribed"));
        if (section == null) {
            return null;
        }
        YamlValueTemplate profile =
                draft.requiredTemplate(section, "profile", CelKind.STRING, CelKind.INT, CelKind.DOUBLE);
        YamlValueTemplate topic = draft.requiredTemplate(section, "topic", CelKind.STRING);
        YamlValueTemplate subscribed = draft.requiredTemplate(section, "subscribed", CelKind.BOOL);
        if (profile == null || topic == null || subscribed == null) {
            return null;
        }
        return new RecordedStepAction(
                context -> context.services()
                        .profiles()
                        .subscribe(
                                context.text(profile, "profile"),
                                context.text(topic, "topic"),
                                context.isTrue(subscribed, "subscribed")),
                profile,
                topic,
                subscribed);
    }

    /** Step kind `cohort: {profile, name, member: true|false}`; without `member` it only reads. */
    public static @Nullable CompiledYamlStepAction readCohort(YamlStepReadContext draft) {
        YamlMapReader section = draft.section("cohort", Set.of("profile", "name", "member"));
        if (section == null) {
            return null;
        }
        YamlValueTemplate profile =
                draft.requiredTemplate(section, "profile", CelKind.STRING, CelKind.INT, CelKind.DOUBLE);
        YamlValueTemplate name = draft.requiredTemplate(section, "name", CelKind.STRING);
        YamlValueTemplate member = draft.template(section, "member", CelKind.BOOL);
        if (profile == null || name == null) {
            return null;
        }
        return new RecordedStepAction(
                context -> context.services()
                        .profiles()
                        .cohortMembership(
                                context.text(profile, "profile"),
                                context.text(name, "name"),
                                member == null ? null : context.isTrue(member, "member")),
                profile,
                name,
                member);
    }

    /** Step kind `template_search: {prefix, channel}`: lists names and versions of templates. */
    public static @Nullable CompiledYamlStepAction readTemplateSearch(YamlStepReadContext draft) {
        YamlMapReader section = draft.section("template_search", Set.of("prefix", "channel"));
        if (section == null) {
            return null;
        }
        YamlValueTemplate prefix = draft.requiredTemplate(section, "prefix", CelKind.STRING);
        YamlValueTemplate channel = draft.template(section, "channel", CelKind.STRING);
        if (prefix == null) {
            return null;
        }
        return new RecordedStepAction(
                context -> JsonNodeFactory.instance
                        .objectNode()
                        .set(
                                "items",
                                context.services()
                                        .messages()
                                        .templates(
                                                context.text(prefix, "prefix"),
                                                context.optionalText(channel, "channel"))),
                prefix,
                channel);
    }
}
