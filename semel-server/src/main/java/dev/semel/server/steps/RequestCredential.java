package dev.semel.server.steps;

import dev.cel.common.types.CelKind;
import dev.semel.server.expressions.ExpressionContext;
import dev.semel.server.expressions.SourceRange;
import dev.semel.server.expressions.ValueTemplate;
import dev.semel.server.expressions.YamlMapReader;
import dev.semel.server.expressions.YamlNode;
import dev.semel.server.outbound.RequestAuth;
import dev.semel.server.outbound.RequestHeader;
import dev.semel.server.outbound.TargetUrl;
import java.util.Locale;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/** The `auth:` section of an HTTP request; evaluated when the request is sent, and never recorded. */
sealed interface RequestCredential {
    RequestCredential NONE = new None();

    /** @param text evaluates a template, including secrets */
    RequestAuth auth(Function<ValueTemplate, String> text);

    Stream<ValueTemplate> templates();

    /** No credential. */
    record None() implements RequestCredential {
        @Override
        public RequestAuth auth(Function<ValueTemplate, String> text) {
            return RequestAuth.NONE;
        }

        @Override
        public Stream<ValueTemplate> templates() {
            return Stream.empty();
        }
    }

    /** `bearer`: a token in the Authorization header. */
    record Bearer(ValueTemplate token) implements RequestCredential {
        @Override
        public RequestAuth auth(Function<ValueTemplate, String> text) {
            return RequestAuth.bearer(text.apply(token));
        }

        @Override
        public Stream<ValueTemplate> templates() {
            return Stream.of(token);
        }
    }

    /** `basic`: user and password. */
    record Basic(ValueTemplate user, ValueTemplate password) implements RequestCredential {
        @Override
        public RequestAuth auth(Function<ValueTemplate, String> text) {
            return RequestAuth.basic(text.apply(user), text.apply(password));
        }

        @Override
        public Stream<ValueTemplate> templates() {
            return Stream.of(user, password);
        }
    }

    /** `header`: a credential in a header of this name. */
    record CustomHeader(String header, ValueTemplate value) implements RequestCredential {
        @Override
        public RequestAuth auth(Function<ValueTemplate, String> text) {
            return RequestAuth.header(header, text.apply(value));
        }

        @Override
        public Stream<ValueTemplate> templates() {
            return Stream.of(value);
        }
    }

    /** `oauth2`: a client that gets an access token from a token URL. */
    record OAuthClient(
            TargetUrl tokenUrl,
            ValueTemplate id,
            ValueTemplate secret,
            @Nullable ValueTemplate scope,
            @Nullable ValueTemplate audience,
            boolean inBody)
            implements RequestCredential {
        @Override
        public RequestAuth auth(Function<ValueTemplate, String> text) {
            return new RequestAuth.ClientCredentials(
                    tokenUrl,
                    text.apply(id),
                    text.apply(secret),
                    scope == null ? "" : text.apply(scope),
                    audience == null ? "" : text.apply(audience),
                    inBody);
        }

        @Override
        public Stream<ValueTemplate> templates() {
            return Stream.of(id, secret, scope, audience).flatMap(Stream::ofNullable);
        }
    }

    /** Reads `auth`; null if it is invalid or absent. */
    static @Nullable RequestCredential read(StepReadContext draft, YamlMapReader section) {
        YamlNode tree = section.get("auth");
        if (tree instanceof YamlNode.ScalarNode(SourceRange _, var word)
                && word.asString().equals("none")) {
            return NONE;
        }
        if (tree == null || tree instanceof YamlNode.ScalarNode) {
            ValueTemplate token = secret(draft, section, "auth");
            return token == null ? null : new Bearer(token);
        }
        YamlMapReader auth = YamlMapReader.of(tree, "auth", draft.problems());
        if (auth == null) {
            return null;
        }
        auth.allowOnly(Set.of("bearer", "basic", "header", "oauth2"), Set.of());
        if (auth.map().members().size() != 1) {
            draft.addError(auth.range(), "auth must have exactly one of bearer, basic, header and oauth2.");
            return null;
        }
        return switch (auth.map().members().keySet().iterator().next()) {
            case "bearer" -> {
                ValueTemplate token = secret(draft, auth, "bearer");
                yield token == null ? null : new Bearer(token);
            }
            case "basic" -> basic(draft, auth);
            case "header" -> named(draft, auth);
            case "oauth2" -> client(draft, auth);
            default -> null; // reported above
        };
    }

    private static @Nullable RequestCredential basic(StepReadContext draft, YamlMapReader auth) {
        YamlMapReader basic = YamlMapReader.of(auth.get("basic"), "auth.basic", draft.problems());
        if (basic == null) {
            return null;
        }
        basic.allowOnly(Set.of("user", "password"), Set.of());
        ValueTemplate user = value(draft, basic, "user", true);
        ValueTemplate password = secret(draft, basic, "password");
        if (basic.get("password") == null) {
            draft.addError(basic.range(), "auth.basic.password is missing.");
        }
        return user == null || password == null ? null : new Basic(user, password);
    }

    private static @Nullable RequestCredential named(StepReadContext draft, YamlMapReader auth) {
        YamlMapReader header = YamlMapReader.of(auth.get("header"), "auth.header", draft.problems());
        if (header == null) {
            return null;
        }
        header.allowOnly(Set.of("name", "value"), Set.of());
        String name = header.text("name");
        ValueTemplate value = secret(draft, header, "value");
        if (name == null || header.get("value") == null) {
            draft.addError(header.range(), "auth.header needs a name and a value.");
            return null;
        }
        if (!RequestHeader.isName(name) || RequestHeader.isFraming(name) || name.equalsIgnoreCase("Idempotency-Key")) {
            draft.addError(
                    header.valueRange("name"),
                    "this header cannot carry a credential; use another name, e.g. X-Api-Key.");
            return null;
        }
        return value == null ? null : new CustomHeader(name, value);
    }

    private static @Nullable RequestCredential client(StepReadContext draft, YamlMapReader auth) {
        YamlMapReader client = YamlMapReader.of(auth.get("oauth2"), "auth.oauth2", draft.problems());
        if (client == null) {
            return null;
        }
        client.allowOnly(Set.of("token_url", "client_id", "client_secret", "scope", "audience", "in"), Set.of());
        String url = client.text("token_url");
        String wrong = url == null ? "is missing" : TargetUrl.findProblem(url);
        if (wrong != null) {
            draft.addError(client.valueRange("token_url"), "auth.oauth2.token_url %s.".formatted(wrong));
        }
        String in = client.text("in");
        if (in != null && !in.equals("header") && !in.equals("body")) {
            draft.addError(client.valueRange("in"), "auth.oauth2.in must be header or body. Default: header.");
        }
        ValueTemplate id = value(draft, client, "client_id", true);
        ValueTemplate secret = secret(draft, client, "client_secret");
        ValueTemplate scope = value(draft, client, "scope", false);
        ValueTemplate audience = value(draft, client, "audience", false);
        if (client.get("client_secret") == null) {
            draft.addError(client.range(), "auth.oauth2.client_secret is missing.");
        }
        return url == null || wrong != null || id == null || secret == null
                ? null
                : new OAuthClient(TargetUrl.parse(url), id, secret, scope, audience, "body".equals(in));
    }

    private static @Nullable ValueTemplate value(StepReadContext draft, YamlMapReader of, String name, boolean needed) {
        ValueTemplate value =
                draft.template(of, name, ExpressionContext.ContextKind.CREDENTIAL, CelKind.STRING, CelKind.INT);
        if (value == null && needed) {
            draft.addError(of.range(), "%s is missing.".formatted(name));
        }
        return value;
    }

    /** A value that must not be a literal, because Semel stores and shows files. */
    private static @Nullable ValueTemplate secret(StepReadContext draft, YamlMapReader of, String name) {
        int before = draft.problems().count();
        ValueTemplate value = draft.template(of, name, ExpressionContext.ContextKind.CREDENTIAL, CelKind.STRING);
        if (value instanceof ValueTemplate.Literal && draft.problems().count() == before) {
            draft.problems()
                    .add(
                            of.valueRange(name),
                            "a credential must not be written in a workflow file.",
                            "visible to all users",
                            "Save it as a secret and write ${ secret.%s }.".formatted(name.toUpperCase(Locale.ROOT)));
            return null;
        }
        return value;
    }
}
