package dev.semel;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import java.io.IOException;
import java.io.UncheckedIOException;
import java.lang.reflect.AnnotatedElement;
import java.lang.reflect.Constructor;
import java.lang.reflect.Executable;
import java.lang.reflect.Field;
import java.lang.reflect.GenericArrayType;
import java.lang.reflect.Member;
import java.lang.reflect.Method;
import java.lang.reflect.Modifier;
import java.lang.reflect.ParameterizedType;
import java.lang.reflect.Type;
import java.lang.reflect.TypeVariable;
import java.lang.reflect.WildcardType;
import java.net.URISyntaxException;
import java.nio.file.Files;
import java.nio.file.Path;
import java.util.ArrayList;
import java.util.Arrays;
import java.util.List;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;

/** The public API of the library: the packages for users, how many types they have, and what their signatures name. */
final class PublicApiTest {
    /** All other packages are internal. */
    private static final Set<String> PACKAGES = Set.of(
            "dev.semel",
            "dev.semel.error",
            "dev.semel.http",
            "dev.semel.policy",
            "dev.semel.testing",
            "dev.semel.testing.junit",
            "dev.semel.workflow");

    private static final int MAX_TYPES = 70;
    private static final int MAX_MEMBERS_OF_SEMEL = 15;

    private static List<Class<?>> types() {
        List<Class<?>> types = new ArrayList<>();
        for (String name : PACKAGES) {
            Path folder = root().resolve(name.replace('.', '/'));
            try (Stream<Path> files = Files.list(folder)) {
                files.map(file -> file.getFileName().toString())
                        .filter(file -> file.endsWith(".class") && !file.equals("package-info.class"))
                        .sorted()
                        .map(file -> type(name + "." + file.substring(0, file.length() - ".class".length())))
                        .filter(PublicApiTest::isPublic)
                        .forEach(types::add);
            } catch (IOException e) {
                throw new UncheckedIOException(e);
            }
        }
        return types;
    }

    private static Path root() {
        try {
            return Path.of(Semel.class
                    .getProtectionDomain()
                    .getCodeSource()
                    .getLocation()
                    .toURI());
        } catch (URISyntaxException e) {
            throw new IllegalStateException(e);
        }
    }

    private static Class<?> type(String name) {
        try {
            return Class.forName(name, false, PublicApiTest.class.getClassLoader());
        } catch (ClassNotFoundException e) {
            throw new IllegalStateException(e);
        }
    }

    private static boolean isPublic(Class<?> type) {
        Class<?> outer = type.getDeclaringClass();
        return Modifier.isPublic(type.getModifiers())
                && !type.isAnonymousClass()
                && !type.isLocalClass()
                && (outer == null || isPublic(outer));
    }

    @Test
    void users_see_a_bounded_number_of_types() {
        List<String> names = types().stream().map(Class::getName).toList();
        assertTrue(names.contains("dev.semel.Semel") && names.contains("dev.semel.Waiting$ForSignal"), names::toString);
        assertTrue(names.size() <= MAX_TYPES, () -> names.size() + " types: " + names);
    }

    @Test
    void semel_has_a_bounded_number_of_members() {
        List<Method> members = Arrays.stream(Semel.class.getDeclaredMethods())
                .filter(method -> !method.isSynthetic())
                .toList();
        assertTrue(members.size() <= MAX_MEMBERS_OF_SEMEL, members::toString);
    }

    @Test
    void no_public_signature_names_an_internal_type() {
        Set<String> wrong = new TreeSet<>();
        types().forEach(type -> wrong.addAll(internalTypesIn(type)));
        assertEquals(Set.of(), wrong);
    }

    /** A signature that names an internal type in each way that Java has. */
    public static class Wrong<T extends dev.semel.store.WorkflowStore> {
        protected dev.semel.store.@org.jspecify.annotations.Nullable WorkflowStore field;

        public List<? super dev.semel.run.RunId[]> wildcard() {
            return List.of();
        }

        public <X extends dev.semel.store.StoreFailure> void thrown() throws X {}
    }

    @Test
    void the_check_finds_each_kind_of_internal_type() {
        Set<String> found = internalTypesIn(Wrong.class);
        for (String part : List.of("Wrong names", ".field names", ".wildcard names", ".thrown names")) {
            assertTrue(found.stream().anyMatch(one -> one.contains(part)), () -> part + " in " + found);
        }
    }

    private static Set<String> internalTypesIn(Class<?> type) {
        Set<String> wrong = new TreeSet<>();
        collect(type.getName(), List.of(type.getTypeParameters()), wrong);
        Class<?> parent = type.getSuperclass();
        collect(type.getName(), parent == null ? List.of() : List.of(type.getGenericSuperclass()), wrong);
        collect(type.getName(), List.of(type.getGenericInterfaces()), wrong);
        for (Field field : type.getDeclaredFields()) {
            if (isVisible(field)) {
                collect(type.getName() + "." + field.getName(), List.of(field.getGenericType()), wrong);
            }
        }
        for (Method method : type.getDeclaredMethods()) {
            if (isVisible(method)) {
                collect(type.getName() + "." + method.getName(), List.of(method.getGenericReturnType()), wrong);
                collectExecutable(type, method, wrong);
            }
        }
        for (Constructor<?> constructor : type.getDeclaredConstructors()) {
            if (isVisible(constructor)) {
                collectExecutable(type, constructor, wrong);
            }
        }
        return wrong;
    }

    private static <M extends Member & AnnotatedElement> boolean isVisible(M member) {
        int modifiers = member.getModifiers();
        return !member.isSynthetic() && (Modifier.isPublic(modifiers) || Modifier.isProtected(modifiers));
    }

    private static void collectExecutable(Class<?> type, Executable code, Set<String> wrong) {
        String where = type.getName() + "." + code.getName();
        collect(where, List.of(code.getGenericParameterTypes()), wrong);
        collect(where, List.of(code.getGenericExceptionTypes()), wrong);
        collect(where, List.of(code.getTypeParameters()), wrong);
    }

    private static void collect(String where, List<? extends Type> types, Set<String> wrong) {
        for (Type type : types) {
            switch (type) {
                case Class<?> plain -> {
                    Class<?> element = plain;
                    while (element.isArray()) {
                        element = element.getComponentType();
                    }
                    if (element.getName().startsWith("dev.semel.")
                            && !(PACKAGES.contains(element.getPackageName()) && isPublic(element))) {
                        wrong.add(where + " names " + element.getName());
                    }
                }
                case ParameterizedType generic -> {
                    collect(where, List.of(generic.getRawType()), wrong);
                    collect(where, List.of(generic.getActualTypeArguments()), wrong);
                }
                case GenericArrayType array -> collect(where, List.of(array.getGenericComponentType()), wrong);
                case WildcardType wildcard -> {
                    collect(where, List.of(wildcard.getUpperBounds()), wrong);
                    collect(where, List.of(wildcard.getLowerBounds()), wrong);
                }
                case TypeVariable<?> variable -> {
                    if (variable.getGenericDeclaration() instanceof Class<?> owner && !where.equals(owner.getName())) {
                        continue; // reported at its class
                    }
                    for (Type bound : variable.getBounds()) {
                        if (bound instanceof Class<?>) {
                            collect(where, List.of(bound), wrong);
                        }
                    }
                }
                default -> throw new IllegalStateException("unknown kind of type " + type);
            }
        }
    }
}
