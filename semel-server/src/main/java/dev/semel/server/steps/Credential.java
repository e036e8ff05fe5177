package dev.semel.server.steps;

import dev.cel.common.types.CelKind;
import dev.semel.server.language.Fields;
import dev.semel.server.language.Site;
import dev.semel.server.language.Spot;
import dev.semel.server.language.Template;
import dev.semel.server.language.Tree;
import dev.semel.server.outbound.Auth;
import dev.semel.server.outbound.Header;
import dev.semel.server.outbound.Target;
import java.util.Locale;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The `auth:` section of an HTTP request; evaluated when the request is sent, and never recorded. */
sealed interface Credential {
    Credential NONE = new None();

    /** @param text evaluates a template, including secrets */
    Auth auth(Function<Template, String> text);

    Stream<Template> templates();

    /** No credential. */
    record None() implements Credential {
        @Override
        public Auth auth(Function<Template, String> text) {
            return Auth.NONE;
        }

        @Override
        public Stream<Template> templates() {
            return Stream.empty();
        }
    }

    /** `bearer`: a token in the Authorization header. */
    record Bearer(Template token) implements Credential {
        @Override
        public Auth auth(Function<Template, String> text) {
            return Auth.bearer(text.apply(token));
        }

        @Override
        public Stream<Template> templates() {
            return Stream.of(token);
        }
    }

    /** `basic`: user and password. */
    record Basic(Template user, Template password) implements Credential {
        @Override
        public Auth auth(Function<Template, String> text) {
            return Auth.basic(text.apply(user), text.apply(password));
        }

        @Override
        public Stream<Template> templates() {
            return Stream.of(user, password);
        }
    }

    /** `header`: a credential in a header of this name. */
    record Named(String header, Template value) implements Credential {
        @Override
        public Auth auth(Function<Template, String> text) {
            return Auth.header(header, text.apply(value));
        }

        @Override
        public Stream<Template> templates() {
            return Stream.of(value);
        }
    }

    /** `oauth2`: a client that gets an access token from a token URL. */
    record Client(
            Target tokenUrl,
            Template id,
            Template secret,
            @Nullable Template scope,
            @Nullable Template audience,
            boolean inBody)
            implements Credential {
        @Override
        public Auth auth(Function<Template, String> text) {
            return new Auth.ClientCredentials(
                    tokenUrl,
                    text.apply(id),
                    text.apply(secret),
                    scope == null ? "" : text.apply(scope),
                    audience == null ? "" : text.apply(audience),
                    inBody);
        }

        @Override
        public Stream<Template> templates() {
            return Stream.of(id, secret, scope, audience).flatMap(Stream::ofNullable);
        }
    }

    /** Reads `auth`; null if it is invalid or absent. */
    static @Nullable Credential read(Draft draft, Fields section) {
        Tree tree = section.get("auth");
        if (tree instanceof Tree.Scalar(Spot _, var word) && word.asString().equals("none")) {
            return NONE;
        }
        if (tree == null || tree instanceof Tree.Scalar) {
            Template token = secret(draft, section, "auth");
            return token == null ? null : new Bearer(token);
        }
        Fields auth = Fields.of(tree, "auth", draft.problems());
        if (auth == null) {
            return null;
        }
        auth.allow(Set.of("bearer", "basic", "header", "oauth2"), Set.of());
        if (auth.map().members().size() != 1) {
            draft.wrong(auth.spot(), "auth must have exactly one of bearer, basic, header and oauth2.");
            return null;
        }
        return switch (auth.map().members().keySet().iterator().next()) {
            case "bearer" -> {
                Template token = secret(draft, auth, "bearer");
                yield token == null ? null : new Bearer(token);
            }
            case "basic" -> basic(draft, auth);
            case "header" -> named(draft, auth);
            case "oauth2" -> client(draft, auth);
            default -> null; // reported above
        };
    }

    private static @Nullable Credential basic(Draft draft, Fields auth) {
        Fields basic = Fields.of(auth.get("basic"), "auth.basic", draft.problems());
        if (basic == null) {
            return null;
        }
        basic.allow(Set.of("user", "password"), Set.of());
        Template user = value(draft, basic, "user", true);
        Template password = secret(draft, basic, "password");
        if (basic.get("password") == null) {
            draft.wrong(basic.spot(), "auth.basic.password is missing.");
        }
        return user == null || password == null ? null : new Basic(user, password);
    }

    private static @Nullable Credential named(Draft draft, Fields auth) {
        Fields header = Fields.of(auth.get("header"), "auth.header", draft.problems());
        if (header == null) {
            return null;
        }
        header.allow(Set.of("name", "value"), Set.of());
        String name = header.text("name");
        Template value = secret(draft, header, "value");
        if (name == null || header.get("value") == null) {
            draft.wrong(header.spot(), "auth.header needs a name and a value.");
            return null;
        }
        if (!Header.isName(name) || Header.isFraming(name) || name.equalsIgnoreCase("Idempotency-Key")) {
            draft.wrong(header.spotOfValue("name"), "this header cannot carry a credential; use another name, e.g. X-Api-Key.");
            return null;
        }
        return value == null ? null : new Named(name, value);
    }

    private static @Nullable Credential client(Draft draft, Fields auth) {
        Fields client = Fields.of(auth.get("oauth2"), "auth.oauth2", draft.problems());
        if (client == null) {
            return null;
        }
        client.allow(Set.of("token_url", "client_id", "client_secret", "scope", "audience", "in"), Set.of());
        String url = client.text("token_url");
        String wrong = url == null ? "is missing" : Target.wrong(url);
        if (wrong != null) {
            draft.wrong(client.spotOfValue("token_url"), "auth.oauth2.token_url %s.".formatted(wrong));
        }
        String in = client.text("in");
        if (in != null && !in.equals("header") && !in.equals("body")) {
            draft.wrong(client.spotOfValue("in"), "auth.oauth2.in must be header or body. Default: header.");
        }
        Template id = value(draft, client, "client_id", true);
        Template secret = secret(draft, client, "client_secret");
        Template scope = value(draft, client, "scope", false);
        Template audience = value(draft, client, "audience", false);
        if (client.get("client_secret") == null) {
            draft.wrong(client.spot(), "auth.oauth2.client_secret is missing.");
        }
        return url == null || wrong != null || id == null || secret == null
                ? null
                : new Client(Target.of(url), id, secret, scope, audience, "body".equals(in));
    }

    private static @Nullable Template value(Draft draft, Fields of, String name, boolean needed) {
        Template value = draft.template(of, name, Site.Kind.CREDENTIAL, CelKind.STRING, CelKind.INT);
        if (value == null && needed) {
            draft.wrong(of.spot(), "%s is missing.".formatted(name));
        }
        return value;
    }

    /** A value that must not be a literal, because Semel stores and shows files. */
    private static @Nullable Template secret(Draft draft, Fields of, String name) {
        int before = draft.problems().count();
        Template value = draft.template(of, name, Site.Kind.CREDENTIAL, CelKind.STRING);
        if (value instanceof Template.Literal && draft.problems().count() == before) {
            draft.problems()
                    .add(
                            of.spotOfValue(name),
                            "a credential must not be written in a workflow file.",
                            "visible to all users",
                            "Save it as a secret and write ${ secret.%s }.".formatted(name.toUpperCase(Locale.ROOT)));
            return null;
        }
        return value;
    }
}
