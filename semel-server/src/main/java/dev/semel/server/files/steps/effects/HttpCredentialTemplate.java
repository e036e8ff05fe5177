package dev.semel.server.files.steps.effects;

import dev.cel.common.types.CelKind;
import dev.semel.server.connectors.outbound.OutboundRequestAuth;
import dev.semel.server.connectors.outbound.OutboundRequestHeader;
import dev.semel.server.connectors.outbound.OutboundRequestUrl;
import dev.semel.server.files.expressions.ExpressionCompileContext.ContextKind;
import dev.semel.server.files.expressions.YamlValueTemplate;
import dev.semel.server.files.steps.YamlStepReadContext;
import dev.semel.server.files.yaml.YamlMapReader;
import dev.semel.server.files.yaml.YamlNode;
import dev.semel.server.files.yaml.YamlSourceRange;
import java.util.List;
import java.util.Locale;
import java.util.Set;
import java.util.function.Function;
import java.util.stream.Stream;
import org.jspecify.annotations.Nullable;

/**
 * The `auth:` section of an HTTP request; evaluated when the request is sent, and never recorded.
 *
 * @param templates all that it evaluates
 * @param receiver where they are sent; null: to the target of the request
 */
record HttpCredentialTemplate(
        AuthFactory auth,
        List<YamlValueTemplate> templates,
        @Nullable OutboundRequestUrl receiver) {
    static final HttpCredentialTemplate NONE =
            new HttpCredentialTemplate(text -> OutboundRequestAuth.NONE, List.of(), null);

    interface AuthFactory {
        /** @param text evaluates a template, including secrets */
        OutboundRequestAuth create(Function<YamlValueTemplate, String> text);
    }

    /** Reads `auth`; null if it is invalid or absent. */
    static @Nullable HttpCredentialTemplate read(YamlStepReadContext draft, YamlMapReader section) {
        YamlNode tree = section.get("auth");
        if (tree instanceof YamlNode.ScalarNode(YamlSourceRange _, var word)
                && word.asString().equals("none")) {
            return NONE;
        }
        if (tree == null || tree instanceof YamlNode.ScalarNode) {
            return bearer(draft, section, "auth");
        }
        YamlMapReader auth = YamlMapReader.of(tree, "auth", draft.problems());
        if (auth == null) {
            return null;
        }
        auth.allowOnly(Set.of("bearer", "basic", "header", "oauth2"));
        if (auth.map().members().size() != 1) {
            draft.addError(auth.range(), "auth must have exactly one of bearer, basic, header and oauth2.");
            return null;
        }
        return switch (auth.map().members().keySet().iterator().next()) {
            case "bearer" -> bearer(draft, auth, "bearer");
            case "basic" -> basic(draft, auth);
            case "header" -> named(draft, auth);
            case "oauth2" -> client(draft, auth);
            default -> null; // reported above
        };
    }

    private static @Nullable HttpCredentialTemplate bearer(YamlStepReadContext draft, YamlMapReader of, String name) {
        YamlValueTemplate token = secret(draft, of, name);
        return token == null
                ? null
                : new HttpCredentialTemplate(
                        text -> OutboundRequestAuth.bearer(text.apply(token)), List.of(token), null);
    }

    private static @Nullable HttpCredentialTemplate basic(YamlStepReadContext draft, YamlMapReader auth) {
        YamlMapReader basic = YamlMapReader.of(auth.get("basic"), "auth.basic", draft.problems());
        if (basic == null) {
            return null;
        }
        basic.allowOnly(Set.of("user", "password"));
        YamlValueTemplate user = value(draft, basic, "user", true);
        YamlValueTemplate password = secret(draft, basic, "password");
        if (basic.get("password") == null) {
            draft.addError(basic.range(), "auth.basic.password is missing.");
        }
        return user == null || password == null
                ? null
                : new HttpCredentialTemplate(
                        text -> OutboundRequestAuth.basic(text.apply(user), text.apply(password)),
                        List.of(user, password),
                        null);
    }

    private static @Nullable HttpCredentialTemplate named(YamlStepReadContext draft, YamlMapReader auth) {
        YamlMapReader header = YamlMapReader.of(auth.get("header"), "auth.header", draft.problems());
        if (header == null) {
            return null;
        }
        header.allowOnly(Set.of("name", "value"));
        String name = header.text("name");
        YamlValueTemplate value = secret(draft, header, "value");
        if (name == null || header.get("value") == null) {
            draft.addError(header.range(), "auth.header needs a name and a value.");
            return null;
        }
        if (!OutboundRequestHeader.isName(name)
                || OutboundRequestHeader.isSetByServer(name)
                || name.equalsIgnoreCase("Idempotency-Key")) {
            draft.addError(
                    header.valueRange("name"),
                    "this header cannot carry a credential; use another name, e.g. X-Api-Key.");
            return null;
        }
        return value == null
                ? null
                : new HttpCredentialTemplate(
                        text -> OutboundRequestAuth.header(name, text.apply(value)), List.of(value), null);
    }

    private static @Nullable HttpCredentialTemplate client(YamlStepReadContext draft, YamlMapReader auth) {
        YamlMapReader client = YamlMapReader.of(auth.get("oauth2"), "auth.oauth2", draft.problems());
        if (client == null) {
            return null;
        }
        client.allowOnly(Set.of("token_url", "client_id", "client_secret", "scope", "audience", "in"));
        String url = client.text("token_url");
        String wrong = url == null ? "is missing" : OutboundRequestUrl.findProblem(url);
        if (wrong != null) {
            draft.addError(client.valueRange("token_url"), "auth.oauth2.token_url %s.".formatted(wrong));
        }
        String in = client.text("in");
        if (in != null && !in.equals("header") && !in.equals("body")) {
            draft.addError(client.valueRange("in"), "auth.oauth2.in must be header or body. Default: header.");
        }
        YamlValueTemplate id = value(draft, client, "client_id", true);
        YamlValueTemplate secret = secret(draft, client, "client_secret");
        YamlValueTemplate scope = value(draft, client, "scope", false);
        YamlValueTemplate audience = value(draft, client, "audience", false);
        if (client.get("client_secret") == null) {
            draft.addError(client.range(), "auth.oauth2.client_secret is missing.");
        }
        if (url == null || wrong != null || id == null || secret == null) {
            return null;
        }
        OutboundRequestUrl tokenUrl = OutboundRequestUrl.parse(url);
        return new HttpCredentialTemplate(
                text -> new OutboundRequestAuth.ClientCredentials(
                        tokenUrl,
                        text.apply(id),
                        text.apply(secret),
                        scope == null ? "" : text.apply(scope),
                        audience == null ? "" : text.apply(audience),
                        "body".equals(in)),
                Stream.of(id, secret, scope, audience)
                        .flatMap(Stream::ofNullable)
                        .toList(),
                tokenUrl);
    }

    private static @Nullable YamlValueTemplate value(
            YamlStepReadContext draft, YamlMapReader of, String name, boolean needed) {
        YamlValueTemplate value = draft.template(of, name, ContextKind.CREDENTIAL, CelKind.STRING, CelKind.INT);
        if (value == null && needed) {
            draft.addError(of.range(), "%s is missing.".formatted(name));
        }
        return value;
    }

    /** A value that must not be a literal, because Semel stores and shows files. */
    private static @Nullable YamlValueTemplate secret(YamlStepReadContext draft, YamlMapReader of, String name) {
        int before = draft.problems().count();
        YamlValueTemplate value = draft.template(of, name, ContextKind.CREDENTIAL, CelKind.STRING);
        if (value instanceof YamlValueTemplate.Literal && draft.problems().count() == before) {
            draft.addError(
                    of.valueRange(name),
                    "a credential must not be written in a workflow file.",
                    "visible to all users",
                    "Save the credential as a secret and write ${ secret.%s }."
                            .formatted(name.toUpperCase(Locale.ROOT)));
            return null;
        }
        return value;
    }
}
