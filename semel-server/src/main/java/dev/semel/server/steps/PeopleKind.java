package dev.semel.server.steps;

import dev.cel.common.types.CelKind;
import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.language.Fields;
import dev.semel.server.language.Template;
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
final class PeopleKind {
    private PeopleKind() {}

    /** The operation of a step on the profile directory. */
    @FunctionalInterface
    private interface Deed {
        JsonNode of(Play context, People profiles);
    }

    /** Runs one operation on the profile directory as a step. */
    private record Asking(Deed operation, Set<Template> reads) implements Act {
        @Override
        public JsonNode run(Play context) {
            return context.durable()
                    .step(context.id(), () -> operation.of(context, context.outside().people()));
        }

        @Override
        public Stream<Template> templates() {
            return reads.stream();
        }
    }

    private static Act asking(Deed operation, @Nullable Template... reads) {
        return new Asking(
                operation, Stream.of(reads).flatMap(Stream::ofNullable).collect(java.util.stream.Collectors.toSet()));
    }

    /** Step kind `user_profile: {find | find_or_create | update: id, set: {…}}`. */
    static final class Profile implements Kind {
        @Override
        public String word() {
            return "user_profile";
        }

        @Override
        public Set<String> fields() {
            return Set.of();
        }

        @Override
        public @Nullable Act read(Draft draft) {
            Fields section = draft.section(word());
            if (section == null) {
                return null;
            }
            section.allow(Set.of("find", "find_or_create", "update", "set"), Set.of());
            Set<String> operations = Set.of("find", "find_or_create", "update");
            long count = operations.stream().filter(operation -> section.get(operation) != null).count();
            if (count != 1) {
                draft.wrong(section.spot(), "user_profile must have exactly one of find, find_or_create and update, with the profile's id.");
                return null;
            }
            Template set = draft.template(section, "set", CelKind.MAP);
            Template find = draft.template(section, "find", CelKind.STRING, CelKind.INT);
            Template create = draft.template(section, "find_or_create", CelKind.STRING, CelKind.INT);
            Template update = draft.template(section, "update", CelKind.STRING, CelKind.INT);
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
                        (context, profiles) -> profiles.findOrCreate(context.text(create, "find_or_create"), filled(context, set)),
                        create,
                        set);
            }
            return update == null
                    ? null
                    : asking((context, profiles) -> updated(context, profiles, update, filled(context, set)), update, set);
        }

        private static JsonNode updated(Play context, People profiles, Template who, JsonNode fields) {
            JsonNode profile = profiles.update(context.text(who, "update"), fields);
            if (profile == null) {
                throw new SemelException(
                        ErrorCode.NOT_FOUND,
                        "Step '%s' updates a profile that does not exist. Nothing was changed.".formatted(context.id()),
                        "Create it with user_profile: {find_or_create: …} first.");
            }
            return profile;
        }

        private static JsonNode filled(Play context, @Nullable Template set) {
            return set == null ? JsonNodeFactory.instance.objectNode() : context.fill(set);
        }
    }

    /** Step kind `subscription: {profile, topic, subscribed: true|false}`. */
    static final class Subscription implements Kind {
        @Override
        public String word() {
            return "subscription";
        }

        @Override
        public Set<String> fields() {
            return Set.of();
        }

        @Override
        public @Nullable Act read(Draft draft) {
            Fields section = draft.section(word());
            if (section == null) {
                return null;
            }
            section.allow(Set.of("profile", "topic", "subscribed"), Set.of());
            Template profile = draft.needed(section, "profile", CelKind.STRING, CelKind.INT);
            Template topic = draft.needed(section, "topic", CelKind.STRING);
            Template subscribed = draft.needed(section, "subscribed", CelKind.BOOL);
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
    static final class Cohort implements Kind {
        @Override
        public String word() {
            return "cohort";
        }

        @Override
        public Set<String> fields() {
            return Set.of();
        }

        @Override
        public @Nullable Act read(Draft draft) {
            Fields section = draft.section(word());
            if (section == null) {
                return null;
            }
            section.allow(Set.of("profile", "name", "member"), Set.of());
            Template profile = draft.needed(section, "profile", CelKind.STRING, CelKind.INT);
            Template name = draft.needed(section, "name", CelKind.STRING);
            Template member = draft.template(section, "member", CelKind.BOOL);
            if (profile == null || name == null) {
                return null;
            }
            return asking(
                    (context, profiles) -> profiles.cohort(
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
    static final class TemplateSearch implements Kind {
        @Override
        public String word() {
            return "template_search";
        }

        @Override
        public Set<String> fields() {
            return Set.of();
        }

        @Override
        public @Nullable Act read(Draft draft) {
            Fields section = draft.section(word());
            if (section == null) {
                return null;
            }
            section.allow(Set.of("prefix", "channel"), Set.of());
            Template prefix = draft.needed(section, "prefix", CelKind.STRING);
            Template channel = draft.template(section, "channel", CelKind.STRING);
            return prefix == null ? null : new Search(prefix, channel);
        }

        /** Runs the template search as a step. */
        private record Search(Template prefix, @Nullable Template channel) implements Act {
            @Override
            public JsonNode run(Play context) {
                return context.durable().step(context.id(), () -> {
                    ObjectNode found = JsonNodeFactory.instance.objectNode();
                    found.set(
                            "items",
                            context.outside()
                                    .messages()
                                    .templates(context.text(prefix, "prefix"), context.maybeText(channel, "channel")));
                    return found;
                });
            }

            @Override
            public Stream<Template> templates() {
                return Stream.of(prefix, channel).flatMap(Stream::ofNullable);
            }
        }
    }
}
