package dev.semel.json;

import java.util.HashMap;
import java.util.Map;
import tools.jackson.core.JacksonException;
import tools.jackson.databind.BeanProperty;
import tools.jackson.databind.JavaType;
import tools.jackson.databind.SerializationContext;
import tools.jackson.databind.json.JsonMapper;
import tools.jackson.databind.jsonFormatVisitors.JsonFormatVisitorWrapper;
import tools.jackson.databind.jsonFormatVisitors.JsonObjectFormatVisitor;

/** Finds the JSON member name of each accessor method of a type, as the mapper writes it. */
final class JsonPropertyNameResolver {
    private JsonPropertyNameResolver() {}

    static Map<String, String> of(JsonMapper mapper, JavaType type) {
        Map<String, String> members = new HashMap<>();
        try {
            mapper.acceptJsonFormatVisitor(type, new JsonFormatVisitorWrapper.Base() {
                @Override
                public JsonObjectFormatVisitor expectObjectFormat(JavaType object) {
                    return new MemberCollector(getContext(), members);
                }
            });
        } catch (JacksonException e) {
            return Map.of(); // a type without a JSON form has no members; writing it reports the reason
        }
        return Map.copyOf(members);
    }

    private static final class MemberCollector extends JsonObjectFormatVisitor.Base {
        private final Map<String, String> members;

        MemberCollector(SerializationContext context, Map<String, String> members) {
            super(context);
            this.members = members;
        }

        @Override
        public void property(BeanProperty member) {
            optionalProperty(member);
        }

        @Override
        public void optionalProperty(BeanProperty member) {
            if (member.getMember() != null) {
                members.put(member.getMember().getName(), member.getName());
            }
        }
    }
}
