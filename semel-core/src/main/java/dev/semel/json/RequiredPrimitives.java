package dev.semel.json;

import org.jspecify.annotations.Nullable;
import tools.jackson.databind.cfg.MapperConfig;
import tools.jackson.databind.introspect.AnnotatedMember;
import tools.jackson.databind.introspect.AnnotatedParameter;
import tools.jackson.databind.introspect.JacksonAnnotationIntrospector;

/** Record components are mandatory unless annotated otherwise, because a missing number is not zero. */
final class RequiredPrimitives extends JacksonAnnotationIntrospector {
    @Override
    public @Nullable Boolean hasRequiredMarker(MapperConfig<?> config, AnnotatedMember member) {
        Boolean stated = super.hasRequiredMarker(config, member);
        boolean primitive =
                member instanceof AnnotatedParameter && member.getRawType().isPrimitive();
        return stated == null && primitive ? Boolean.TRUE : stated;
    }
}
