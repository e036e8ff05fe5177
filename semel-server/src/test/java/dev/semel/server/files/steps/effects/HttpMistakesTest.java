package dev.semel.server.files.steps.effects;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertThrows;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.error.ErrorCode;
import dev.semel.error.SemelException;
import dev.semel.server.files.definition.WorkflowDefinition;
import dev.semel.server.files.steps.DeclaredEffect;
import java.util.List;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;

/** What is wrong with an http step is said when it is published; nothing is. */
final class HttpMistakesTest {
    private static SemelException refused(String step) {
        SemelException e =
                assertThrows(SemelException.class, () -> WorkflowDefinition.compile(YamlTestBench.file(step)));
        assertEquals(ErrorCode.INVALID_DEFINITION, e.code());
        return e;
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '`',
            value = {
                "{} | url is missing",
                "{url: '${ input.url }'} | the host of a url must be constant",
                "{url: 'https://${ input.host }/x'} | the host of a url must be constant",
                "{url: 'https://${ input.sub }.example/x'} | the host of a url must be constant",
                "{url: 'https://a.example:${ input.port }/'} | the host of a url must be constant",
                "{url: 'https://a.example${ input.more }'} | the host of a url must be constant",
                "{url: '${ input.scheme }://a.example/'} | the host of a url must be constant",
                "{url: 'file:///etc/passwd'} | does not begin with http:// or https://",
                "{url: 'ftp://a.example/'} | does not begin with http:// or https://",
                "{url: 'https://user:pw@a.example/'} | contains a user or a password",
                "{url: 'https://a_b.example/'} | has no valid host name",
                "{url: 'https://a.example/../b'} | is . or ..",
                "{url: 'https://a.example/#f'} | has a fragment",
                "{url: 'https://a.example/a b'} | is not well-formed",
                "{url: 'https://a.example/${ secret.T }'} | secrets can be read only in `auth`",
                "{url: 'https://a.example/', query: {t: '${ secret.T }'}} | secrets can be read only in `auth`",
                "{url: 'https://a.example/', method: FETCH} | http.method must be one of DELETE, GET, HEAD",
                "{url: 'https://a.example/', methd: GET} | 'methd' is not a field of http",
                "{url: 'https://a.example/', body: {a: 1}} | GET has no body",
                "{url: 'https://a.example/', headers: {Host: x}} | remove this header: the server sets it itself",
                "{url: 'https://a.example/', headers: {semel-depth: '0'}} | remove this header: the server sets it",
                "{url: 'https://a.example/', auth: {header: {name: Semel-Depth, value: '${ secret.T }'}}}"
                        + " | this header cannot carry a credential",
                "{url: 'https://a.example/', headers: {content-length: 1}} | remove this header: the server sets it"
                        + " itself",
                "{url: 'https://a.example/', headers: {AUTHORIZATION: x}} | move credentials to auth",
                "{url: 'https://a.example/', headers: {idempotency-key: x}} | this header carries the effect key",
                "{url: 'https://a.example/', headers: {'X Y': x}} | this is not a valid header name",
                "{url: 'https://a.example/', headers: {\"X: y\\r\\nZ\": x}} | this is not a valid header name",
                "{url: 'https://a.example/', headers: {X-A: x, x-a: y}} | this header appears twice",
                "{url: 'https://a.example/', headers: '${ input.headers }'} | http.headers must be a map",
                "{url: 'https://a.example/', auth: 'sk_live_1'} | a credential must not be written",
                "{url: 'https://a.example/', auth: {bearer: 'sk_live_1'}} | a credential must not be written",
                "{url: 'https://a.example/', auth: {basic: {user: a, password: b}}} | a credential must not be"
                        + " written in a workflow file",
                "{url: 'https://a.example/', auth: {basic: {user: a}}} | auth.basic.password is missing",
                "{url: 'https://a.example/', auth: {bearer: '${ secret.A }', basic: {}}} | auth must have exactly"
                        + " one of bearer, basic",
                "{url: 'https://a.example/', auth: {header: {name: Host, value: '${ secret.A }'}}} | cannot carry a"
                        + " credential",
                "{url: 'https://a.example/', auth: {oauth2: {client_id: a, client_secret: '${ secret.A }'}}} |"
                        + " token_url is missing",
                "{url: 'https://a.example/', auth: {oauth2: {token_url: 'x', client_id: a, client_secret: '${ secret.A"
                        + " }'}}} | token_url does not begin",
                "{url: 'https://a.example/', auth: {oauth2: {token_url: 'https://a.example/t', client_id: a}}} |"
                        + " client_secret is missing",
                "{url: 'https://a.example/', redirects: 6} | http.redirects must be a whole number between 0 and 5",
                "{url: 'https://a.example/', max_response: 11MiB} | max_response must be a number of bytes",
                "{url: 'https://a.example/', max_response: lots} | max_response must be a number of bytes",
                "{url: 'https://a.example/', idempotency_header: Host} | cannot carry the effect key",
                "{url: 'https://a.example/', result: '${ answer.body }'} | 'answer' is not a known name",
                "{url: 'https://a.example/', result: '${ secret.A }'} | secrets can be read only in `auth`",
            })
    void a_mistake_in_an_http_step_is_shown(String http, String message) {
        SemelException refused = refused("http: " + http);
        assertTrue(refused.detail().contains(message), refused.detail());
    }

    @ParameterizedTest
    @CsvSource(
            delimiter = '|',
            quoteCharacter = '^',
            value = {
                "body: {a: 1}, form: {a: 1} | protect: ask | set either `body` or `form`, not both",
                "redirects: 1 | protect: ask | only GET and HEAD can follow redirects",
                "idempotency_header: none | {protect: provider_key, provider_window: 1h} | `idempotency_header: none`"
                        + " removes the key",
                "body: 1 | protect: provider_key | SEM-P03: `protect: provider_key` needs provider_window",
                "body: 1 | protect: lookup | protect: lookup needs a lookup section",
                "body: 1 | protect: maybe | POST supports protect:",
                "body: 1 | protect: none | `protect: none` needs a reason",
                "body: 1 | {protect: ask, timeout: 11m} | timeout of an http step must be at most 10m",
                "body: 1 | {protect: ask, lookup: {http: {url: 'https://a.example/'}}} | `lookup` needs `protect:"
                        + " lookup`",
                "body: 1 | {protect: lookup, lookup: {found: true}} | lookup.http is missing",
                "body: 1 | {protect: lookup, lookup: {http: {url: 'https://a.example/', method: POST}}} | a lookup"
                        + " only reads",
                "body: 1 | {protect: lookup, lookup: {http: {url: 'https://a.example/'}, found: 'yes'}} | found must"
                        + " be one expression",
                "body: 1 | {protect: ask, already_done_status: [200]} | each already_done_status must be",
            })
    void a_mistake_in_an_effect_is_shown(String http, String beside, String message) {
        String rest = beside.startsWith("{")
                ? beside.substring(1, beside.length() - 1).replaceFirst(", ", "\n")
                : beside;
        SemelException refused = refused("http: {method: POST, url: 'https://a.example/', " + http + "}\n" + rest);
        assertTrue(refused.detail().contains(message), refused.detail());
    }

    @Test
    void an_effect_without_protection_is_shown_with_the_choices() {
        for (String method : List.of("POST", "PUT", "PATCH", "DELETE")) {
            SemelException refused = refused("http: {method: " + method + ", url: 'https://a.example/'}");
            assertTrue(
                    refused.detail().contains("SEM-P01: " + method + " has an external effect but no protection"),
                    refused.detail());
            assertTrue(String.valueOf(refused.fix()).contains("protect: provider_key"), refused.fix());
        }
        WorkflowDefinition.compile(YamlTestBench.file("http: {url: 'https://a.example/'}"));
        WorkflowDefinition.compile(YamlTestBench.file("http: {method: HEAD, url: 'https://a.example/'}"));
    }

    @Test
    void an_effect_is_listed_with_its_target_and_protection() {
        WorkflowDefinition definition = WorkflowDefinition.compile(YamlTestBench.file("""
            http: {method: PUT, url: "https://crm.example/v2/leads/${ input.id }"}
            protect: provider_key
            provider_window: 24h
            """));
        DeclaredEffect declared = definition
                .steps()
                .map(step -> step.action().declaredEffect())
                .findFirst()
                .orElseThrow();
        assertEquals("PUT https://crm.example/v2/leads/${ input.id }", declared.target());
        assertEquals("provider_key", declared.protection());
        assertEquals("update", declared.does());
    }
}
