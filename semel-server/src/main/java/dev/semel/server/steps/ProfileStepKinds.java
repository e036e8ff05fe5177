package dev.semel.server.steps;

import dev.cel.common.types.CelKind;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.expressions.ValueTemplate;
import dev.semel.server.expressions.YamlMapReader;
import java.util.Set;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.JsonNodeFactory;
import tools.jackson.databind.node.ObjectNode;

/**
 * Step kinds for recipient profiles, subscriptions, cohorts and template search. Each sets a state, so it is safe to
 * repeat.
 */
final class ProfileStepKinds {
    private ProfileStepKinds() {}

    /** The operation of a step on the profile directory. */
    @FunctionalInterface
    private interface ProfileOperation {
        JsonNode of(StepContext context, ProfileDirectory profiles);
    }

    /** Runs one operation on the profile directory as a step. */
    private record ProfileAction(ProfileOperation operation, Set<ValueTemplate> reads) implements YamlStepAction {
        @Override
        public JsonNode run(StepContext context) {
            return context.durable()
                    .step(
                            context.id(),
                            () -> operation.of(context, context.services().profiles()));
        }

        @Override
        public Stream<ValueTemplate> templates() {
            return reads.stream();
        }
    }

    private static YamlStepAction asking(ProfileOperation operation, @Nullable ValueTemplate... reads) {
        return new ProfileAction(
                operation, Stream.of(reads).flatMap(Stream::ofNullable).collect(java.util.stream.Collectors.toSet()));
    }

    /** Step kind `user_profile: {find | find_or_create | update: id, set: {…}}`. */
    static final class UserProfileStepKind implements StepKind {
        @Override
        public String name() {
            return "user_profile";
        }

        @Override
        public Set<String> fields() {
            return Set.of();
        }

        @Override
        public @Nullable YamlStepAction read(StepReadContext draft) {
            YamlMapReader section = draft.section(name());
            if (section == null) {
                return null;
            }
            section.allowOnly(Set.of("find", "find_or_create", "update", "set"), Set.of());
            Set<String> operations = Set.of("find", "find_or_create", "update");
            long count = operations.stream()
                    .filter(operation -> section.get(operation) != null)
                    .count();
            if (count != 1) {
                draft.addError(
                        section.range(),
                        "user_profile must have exactly one of find, find_or_create and update, with the profile's"
                                + " id.");
                return null;
            }
            ValueTemplate set = draft.template(section, "set", CelKind.MAP);
            ValueTemplate find = draft.template(section, "find", CelKind.STRING, CelKind.INT);
            ValueTemplate create = draft.template(section, "find_or_create", CelKind.STRING, CelKind.INT);
            ValueTemplate update = draft.template(section, "update", CelKind.STRING, CelKind.INT);
            if (find != null) {
                return asking(
                        (context, profiles) -> {
                            JsonNode found = profiles.find(context.text(find, "find"));
                            return found == null
                                    ? JsonNodeFactory.instance.objectNode().put("found", false)
                                    : found;
                        },
                        find);
            }
            if (create != null) {
                return asking(
                        (context, profiles) ->
                                profiles.findOrCreate(context.text(create, "find_or_create"), filled(context, set)),
                        create,
                        set);
            }
            return update == null
                    ? null
                    : asking(
                            (context, profiles) -> updated(context, profiles, update, filled(context, set)),
                            update,
                            set);
        }

        private static JsonNode updated(
                StepContext context, ProfileDirectory profiles, ValueTemplate who, JsonNode fields) {
            JsonNode profile = profiles.update(context.text(who, "update"), fields);
            if (profile == null) {
                throw new SemelException(
                        ErrorCode.NOT_FOUND,
                        "Step '%s' updates a profile that does not exist. Nothing was changed.".formatted(context.id()),
                        "Create it with user_profile: {find_or_create: …} first.");
            }
            return profile;
        }

        private static JsonNode filled(StepContext context, @Nullable ValueTemplate set) {
            return set == null ? JsonNodeFactory.instance.objectNode() : context.evaluate(set);
        }
    }

    /** Step kind `subscription: {profile, topic, subscribed: true|false}`. */
    static final class SubscriptionStepKind implements StepKind {
        @Override
        public String name() {
            return "subscription";
        }

        @Override
        public Set<String> fields() {
            return Set.of();
        }

        @Override
        public @Nullable YamlStepAction read(StepReadContext draft) {
            YamlMapReader section = draft.section(name());
            if (section == null) {
                return null;
            }
            section.allowOnly(Set.of("profile", "topic", "subscribed"), Set.of());
            ValueTemplate profile = draft.requiredTemplate(section, "profile", CelKind.STRING, CelKind.INT);
            ValueTemplate topic = draft.requiredTemplate(section, "topic", CelKind.STRING);
            ValueTemplate subscribed = draft.requiredTemplate(section, "subscribed", CelKind.BOOL);
            if (profile == null || topic == null || subscribed == null) {
                return null;
            }
            return asking(
                    (context, profiles) -> profiles.subscribe(
                            context.text(profile, "profile"),
                            context.text(topic, "topic"),
                            context.isTrue(subscribed, context.scope(), "subscribed of step '" + context.id() + "'")),
                    profile,
                    topic,
                    subscribed);
        }
    }

    /** Step kind `cohort: {profile, name, member: true|false}`; without `member` it only reads. */
    static final class CohortStepKind implements StepKind {
        @Override
        public String name() {
            return "cohort";
        }

        @Override
        public Set<String> fields() {
            return Set.of();
        }

        @Override
        public @Nullable YamlStepAction read(StepReadContext draft) {
            YamlMapReader section = draft.section(name());
            if (section == null) {
                return null;
            }
            section.allowOnly(Set.of("profile", "name", "member"), Set.of());
            ValueTemplate profile = draft.requiredTemplate(section, "profile", CelKind.STRING, CelKind.INT);
            ValueTemplate name = draft.requiredTemplate(section, "name", CelKind.STRING);
            ValueTemplate member = draft.template(section, "member", CelKind.BOOL);
            if (profile == null || name == null) {
                return null;
            }
            return asking(
                    (context, profiles) -> profiles.cohortMembership(
                            context.text(profile, "profile"),
                            context.text(name, "name"),
                            member == null
                                    ? null
                                    : context.isTrue(member, context.scope(), "member of step '" + context.id() + "'")),
                    profile,
                    name,
                    member);
        }
    }

    /** Step kind `template_search: {prefix, channel}`: lists names and versions of templates. */
    static final class TemplateSearchStepKind implements StepKind {
        @Override
        public String name() {
            return "template_search";
        }

        @Override
        public Set<String> fields() {
            return Set.of();
        }

        @Override
        public @Nullable YamlStepAction read(StepReadContext draft) {
            YamlMapReader section = draft.section(name());
            if (section == null) {
                return null;
            }
            section.allowOnly(Set.of("prefix", "channel"), Set.of());
            ValueTemplate prefix = draft.requiredTemplate(section, "prefix", CelKind.STRING);
            ValueTemplate channel = draft.template(section, "channel", CelKind.STRING);
            return prefix == null ? null : new TemplateSearchAction(prefix, channel);
        }

        /** Runs the template search as a step. */
        private record TemplateSearchAction(
                ValueTemplate prefix, @Nullable ValueTemplate channel) implements YamlStepAction {
            @Override
            public JsonNode run(StepContext context) {
                return context.durable().step(context.id(), () -> {
                    ObjectNode found = JsonNodeFactory.instance.objectNode();
                    found.set(
                            "items",
                            context.services()
                                    .messages()
                                    .templates(
                                            context.text(prefix, "prefix"), context.optionalText(channel, "channel")));
                    return found;
                });
            }

            @Override
            public Stream<ValueTemplate> templates() {
                return Stream.of(prefix, channel).flatMap(Stream::ofNullable);
            }
        }
    }
}
