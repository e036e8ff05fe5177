package dev.semel.server.files.definition;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.error.SemelException;
import dev.semel.server.files.steps.flow.YamlStepReader;
import java.util.Arrays;
import java.util.LinkedHashMap;
import java.util.List;
import java.util.Map;
import java.util.Random;
import java.util.Set;
import java.util.TreeSet;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.ValueSource;
import tools.jackson.databind.JsonNode;

/** The schema that editors get, held against the reader: they know the same fields and refuse the same shapes. */
final class WorkflowFileJsonSchemaTest {
    /** Every map of the format, by its place in the schema, as a file with a field in it that nobody knows. */
    private static Map<String, String> maps() {
        Map<String, String> maps = new LinkedHashMap<>();
        maps.put("", "zzz: 1\n");
        maps.put("trigger", "trigger: {zzz: 1}\n");
        maps.put("http", "trigger: {http: {zzz: 1}}\n");
        maps.put("schedule", "trigger: {schedules: [{zzz: 1, id: a, every: 1h}]}\n");
        maps.put("catch_up", "trigger: {schedules: [{id: a, every: 1h, catch_up: {zzz: 1}}]}\n");
        maps.put("subscription", "trigger: {events: [{zzz: 1, type: paid}]}\n");
        maps.put("input", "input: {a: {zzz: 1}}\n");
        maps.put("idempotency", "idempotency: {zzz: 1}\n");
        maps.put("debounce", "debounce: {zzz: 1, key: \"${ input.a }\", quiet: 1s, at_most: 1m}\n");
        maps.put("rate_limit", "rate_limit: {zzz: 1, key: \"${ input.a }\", count: 1, per: 1m}\n");
        maps.put("case", step("choose: [{zzz: 1, else: true, steps: [{id: b, set: {}}]}]"));
        maps.put("end", step("wait_for: {signal: s, timeout: 1h}, on_timeout: {zzz: 1}"));
        maps.put("until", step("sleep: {zzz: 1, until: \"2026-01-01T00:00:00Z\"}"));
        maps.put("field_retry", step("tx: {sql: \"delete from t\"}, retry: {zzz: 1}"));
        YamlStepReader.kinds()
                .keySet()
                .forEach(word -> maps.put("step_" + word, "steps:\n  - {zzz: 1, id: a, " + word + ": {}}\n"));
        maps.put("kind_wait_for", step("wait_for: {zzz: 1, signal: s}"));
        maps.put("kind_wait_for_reply", step("wait_for_reply: {zzz: 1, to: b}"));
        maps.put("kind_approval", step("approval: {zzz: 1, to: ann, title: May I?}"));
        maps.put("kind_tx", step("tx: {zzz: 1, sql: delete from t}"));
        effects(maps);
        return maps;
    }

    private static void effects(Map<String, String> maps) {
        String get = "http: {url: \"https://a.example\"}";
        String secret = "${ secret.A }";
        maps.put("kind_http", step("http: {zzz: 1, url: \"https://a.example\"}"));
        maps.put("credential", step(auth("{zzz: 1}")));
        maps.put("basic", step(auth("{basic: {zzz: 1, user: u, password: \"" + secret + "\"}}")));
        maps.put("header", step(auth("{header: {zzz: 1, name: X-Key, value: \"" + secret + "\"}}")));
        maps.put(
                "oauth2",
                step(auth("{oauth2: {zzz: 1, token_url: \"https://a.example\", client_id: c, client_secret: \"" + secret
                        + "\"}}")));
        maps.put("field_lookup", step(get + ", protect: lookup, lookup: {zzz: 1, " + get + "}"));
        maps.put("call", step(get + ", protect: lookup, lookup: {http: {zzz: 1, url: \"https://a.example\"}}"));
        maps.put("field_idempotent", step(get + ", idempotent: {zzz: 1, key: \"${ input.a }\"}"));
        maps.put("field_on_doubt", step(get + ", protect: ask, on_doubt: {zzz: 1}"));
        maps.put("review", step(get + ", protect: ask, on_doubt: {review: {zzz: 1}}"));
        maps.put("kind_send", step("protect: ask, send: {zzz: 1, channel: mail, to: a, template: t}"));
        maps.put(
                "kind_digest",
                step("digest: {zzz: 1, key: \"${ input.a }\", collect_for: 1m, item: 1},"
                        + " send: {channel: mail, to: a, template: t}, protect: ask"));
        maps.put("kind_user_profile", step("user_profile: {zzz: 1, find: a}"));
        maps.put("kind_subscription", step("subscription: {zzz: 1, profile: a, topic: b, subscribed: true}"));
        maps.put("kind_cohort", step("cohort: {zzz: 1, profile: a, name: b}"));
        maps.put("kind_template_search", step("template_search: {zzz: 1, prefix: a}"));
    }

    private static String auth(String auth) {
        return "http: {url: \"https://a.example\", auth: " + auth + "}";
    }

    private static String step(String fields) {
        return "steps:\n  - {id: a, " + fields + "}\n";
    }

    @Test
    void the_reader_and_the_schema_know_the_same_fields() {
        maps().forEach((place, section) -> {
            JsonNode map = place.isEmpty()
                    ? WorkflowFileJsonSchema.schema()
                    : WorkflowFileJsonSchema.schema().at("/$defs/" + place);
            Set<String> inSchema = new TreeSet<>(map.path("properties").propertyNames());
            assertEquals(known(DefinitionFixtures.with(section), place), inSchema, place);
        });
    }

    /** What the reader would have taken where it found zzz. */
    private static Set<String> known(String text, String place) {
        SemelException refused = DefinitionFixtures.refused(text);
        assertTrue(refused.detail().contains("zzz"), place + ": " + refused.detail());
        String fix = refused.fix();
        assertTrue(fix.startsWith("Known fields: "), place + ": " + fix);
        return new TreeSet<>(Arrays.asList(
                fix.substring("Known fields: ".length(), fix.length() - 1).split(", ")));
    }

    @Test
    void every_closed_map_of_the_schema_matches_the_reader() {
        Set<String> closed = new TreeSet<>();
        WorkflowFileJsonSchema.schema().path("$defs").forEachEntry((name, part) -> {
            if (part.has("properties")) {
                closed.add(name);
            }
        });
        Set<String> held = new TreeSet<>(maps().keySet());
        held.remove("");
        assertEquals(closed, held);
    }

    @Test
    void every_step_kind_describes_its_value() {
        for (String word : YamlStepReader.kinds().keySet()) {
            assertTrue(WorkflowFileJsonSchema.schema().path("$defs").has("kind_" + word), word);
        }
    }

    @ParameterizedTest
    @ValueSource(
            strings = {
                "semel: 2\nworkflow: w\nsteps: [{id: a, set: {}}]\n",
                "semel: 1\nsteps: [{id: a, set: {}}]\n",
                "semel: 1\nworkflow: w\n",
                "semel: 1\nworkflow: W\nsteps: [{id: a, set: {}}]\n",
                "semel: 1\nworkflow: wf_1\nsteps: [{id: a, set: {}}]\n",
                "semel: 1\nworkflow: w\nsteps: []\n",
                "semel: 1\nworkflow: w\nsteps: [{set: {}}]\n",
                "semel: 1\nworkflow: w\nsteps: [{id: a}]\n",
                "semel: 1\nworkflow: w\nsteps: [{id: in, set: {}}]\n",
                "semel: 1\nworkflow: w\nsteps: [{id: a, set: {}, sleep: 1h}]\n",
                "semel: 1\nworkflow: w\nsteps: [{id: a, sett: {}}]\n",
                "semel: 1\nworkflow: w\nsteps: [{id: a, set: {}, on_error: ignore}]\n",
                "semel: 1\nworkflow: w\nsteps: [{id: a, tx: {datasource: other, sql: x}}]\n",
                "semel: 1\nworkflow: w\nsteps: [{id: a, tx: {sql: \"select ${ input.a }\"}}]\n",
                "semel: 1\nworkflow: w\nsteps: [{id: a, wait_for: {timeout: 1h}}]\n",
                "semel: 1\nworkflow: w\nsteps: [{id: a, wait_for: {signal: s, timeout: 60}}]\n",
                "semel: 1\nworkflow: w\nsteps: [{id: a, choose: []}]\n",
                "semel: 1\nworkflow: w\nsteps: [{id: a, parallel: {}}]\n",
                "semel: 1\nworkflow: w\nsteps: [{id: a, approval: {to: x}}]\n",
                "semel: 1\nworkflow: w\ntrigger: {http: {require_key: 1}}\nsteps: [{id: a, set: {}}]\n",
                "semel: 1\nworkflow: w\ninput: {a: list}\nsteps: [{id: a, set: {}}]\n",
                "semel: 1\nworkflow: w\ninput: {a: {type: text}}\nsteps: [{id: a, set: {}}]\n",
                "semel: 1\nworkflow: w\nidempotency: {window: 1w}\nsteps: [{id: a, set: {}}]\n",
                "semel: 1\nworkflow: w\nidempotency: {scope: world}\nsteps: [{id: a, set: {}}]\n",
                "semel: 1\nworkflow: w\nidempotency: {fingerprint: []}\nsteps: [{id: a, set: {}}]\n",
                "semel: 1\n"
                        + "workflow: w\n"
                        + "idempotency: {fingerprint: [a], fingerprint_ignore: [b]}\n"
                        + "steps: [{id: a, set: {}}]\n",
                "semel: 1\nworkflow: w\nidempotency: {window: 400d}\nsteps: [{id: a, set: {}}]\n",
                "semel: 1\nworkflow: w\nmax_concurrent: 100001\nsteps: [{id: a, set: {}}]\n",
                "semel: 1\nworkflow: w\nrate_limit: {key: '${ input.a }', count: 1}\nsteps: [{id: a, set: {}}]\n",
                "semel: 1\nworkflow: w\nsteps: [{id: a, http: {method: POST, url: 'https://a.example'}}]\n",
                "semel: 1\n"
                        + "workflow: w\n"
                        + "steps: [{id: a, http: {method: PATCH, url: 'https://a.example'}, protect: none}]\n",
                "semel: 1\n"
                        + "workflow: w\n"
                        + "steps: [{id: a, http: {url: 'https://a.example'}, protect: none, because: ' '}]\n",
                "semel: 1\n"
                        + "workflow: w\n"
                        + "steps: [{id: a, http: {method: POST, url: 'https://a.example'}, protect: lookup}]\n",
                "semel: 1\n"
                        + "workflow: w\n"
                        + "steps: [{id: a, http: {url: 'https://a.example'}, protect: ask, lookup: {}}]\n",
                "semel: 1\nworkflow: w\nsteps: [{id: a, notify: lead, to: ann}]\n",
                "semel: 1\nworkflow: w\nsteps: [{id: a, notify: lead, to: ann, protect: lookup}]\n",
                "semel: 1\n"
                        + "workflow: w\n"
                        + "steps: [{id: a, notify: lead, to: ann, protect: ask, overrides: {reply_to: a@b.example}}]\n",
                "semel: 1\nworkflow: w\nsteps: [{id: a, java: pay, protect: provider_key}]\n",
                "semel: 1\nworkflow: w\nsteps: [{id: a, java: pay}]\n",
                "semel: 1\nworkflow: w\nsteps: [{id: a, set: {}, when: yes please}]\n",
                "semel: 1\nworkflow: w\nsteps: [{id: a, set: {}, send: {channel: a, to: b, template: c}}]\n",
            })
    void a_bad_file_fails_in_both(String text) {
        DefinitionFixtures.refused(text);
        assertFalse(Schemas.faults(text).isEmpty(), text);
    }

    private static final String POST = "protect: ask, http: {method: POST, url: 'https://a.example'";
    private static final String GET = "http: {url: 'https://a.example'";
    private static final String KEYED =
            "protect: provider_key, provider_window: 1h, http: {url: 'https://a.example', method: ";
    private static final String EACH = "for_each: '${ input.l }'";
    private static final String INNER = ", steps: [{id: b, set: {}}]";
    private static final String SECRET = "'${ secret.A }'";

    private static final List<String> STEPS = List.of(
            EACH + INNER,
            EACH + ", item_key: '${ item }'",
            EACH + ", item_key: '${ item }'" + INNER,
            EACH + ", as: x, item_key: '${ x }'" + INNER,
            EACH + ", as: input, item_key: '${ input }'" + INNER,
            EACH + ", as: attempt, item_key: k" + INNER,
            EACH + ", as: 'true', item_key: k" + INNER,
            "choose: [{when: '${ true }'" + INNER + "}]",
            "choose: [{else: true" + INNER + "}]",
            "choose: [{else: false, when: '${ true }'" + INNER + "}]",
            "choose: [{steps: [{id: b, set: {}}]}]",
            "choose: [{else: false" + INNER + "}]",
            "choose: [{else: true, when: '${ true }'" + INNER + "}]",
            "notify: lead, protect: ask",
            "notify: lead, protect: ask, to: ann",
            "digest: {key: '${ input.a }', collect_for: 1m, item: 1}, protect: ask",
            "digest: {key: '${ input.a }', collect_for: 1m, item: 1}, protect: ask, send: {channel: m, template:"
                    + " t}",
            "digest: {key: '${ input.a }', collect_for: 1m, item: 1}, protect: ask,"
                    + " send: {channel: m, to: a, template: t}",
            "user_profile: {set: {}}",
            "user_profile: {find: a, update: b}",
            "user_profile: {update: b, set: {}}",
            "wait_for: {signal: s}, on_timeout: continue",
            "wait_for: {signal: s, timeout: 1h}, on_timeout: continue",
            "wait_for_reply: {from: a}, on_timeout: continue",
            "wait_for_reply: {from: a, timeout: 1h}, on_timeout: continue",
            GET + ", body: {}}",
            GET + ", method: HEAD, form: {a: b}}",
            POST + ", body: {}}",
            POST + ", form: {a: b}}",
            GET + ", redirects: 5}",
            GET + ", redirects: 6}",
            POST + ", redirects: 0}",
            POST + ", redirects: 1}",
            KEYED + "POST}",
            KEYED + "GET}",
            KEYED + "POST, idempotency_header: none}",
            KEYED + "POST, idempotency_header: X-Key}",
            KEYED + "POST, idempotency_header: host}",
            KEYED + "POST, idempotency_header: 'a b'}",
            GET + ", headers: {X-A: b}}",
            GET + ", headers: {hoST: b}}",
            GET + ", headers: {AUTHORIZATION: b}}",
            GET + ", headers: {Semel-Depth: b}}",
            GET + ", headers: {'a b': c}}",
            GET + ", headers: {idempotency-key: c}}",
            GET + ", idempotency_header: X-Key, headers: {idempotency-key: c}}",
            GET + ", auth: none}",
            GET + ", auth: token}",
            GET + ", auth: " + SECRET + "}",
            GET + ", auth: {bearer: token}}",
            GET + ", auth: {bearer: " + SECRET + "}}",
            GET + ", auth: {basic: {user: u, password: p}}}",
            GET + ", auth: {basic: {user: u, password: " + SECRET + "}}}",
            GET + ", auth: {header: {name: X-Key, value: v}}}",
            GET + ", auth: {header: {name: Host, value: " + SECRET + "}}}",
            GET + ", auth: {header: {name: idempotency-key, value: " + SECRET + "}}}",
            GET + ", auth: {header: {name: Authorization, value: " + SECRET + "}}}",
            GET + ", auth: {oauth2: {token_url: 'ftp://a', client_id: c, client_secret: " + SECRET + "}}}",
            GET + ", auth: {oauth2: {token_url: 'https://a', client_id: c, client_secret: s}}}",
            GET + ", auth: {oauth2: {token_url: 'https://a', client_id: c, client_secret: " + SECRET + "}}}",
            "http: {url: 'ftp://a.example'}",
            "http: {url: '/relative'}",
            "http: {url: 'https://${ input.a }/x'}",
            "http: {url: 'https://u:p@a.example/x'}",
            "http: {url: 'HTTPS://a.example:8443/${ input.a }?b=${ input.c }'}",
            "http: {url: 'https://a.example?b=${ input.c }'}",
            "http: {url: 'https://[::1]/'}",
            GET + ", max_response: 11MiB}",
            GET + ", max_response: 10MiB}",
            GET + ", max_response: 10240KiB}",
            GET + ", max_response: 10241KiB}",
            GET + ", max_response: 10485760}",
            GET + ", max_response: 10485761}",
            GET + ", max_response: '10485761'}",
            GET + ", max_response: 0}",
            GET + ", max_response: 1GB}",
            GET + "}, retry: {attempts: 1000}",
            GET + "}, retry: {attempts: 1001}",
            GET + "}, idempotent: {key: '${ input.a }', time: 365, unit: days}",
            GET + "}, idempotent: {key: '${ input.a }', time: 366, unit: days}",
            GET + "}, idempotent: {key: '${ input.a }', time: 8760, unit: hours}",
            GET + "}, idempotent: {key: '${ input.a }', time: 8761, unit: hours}",
            "approval: {to: a, title: b, escalate_after: 1h}",
            "approval: {to: a, title: b, escalate_to: c}",
            "approval: {to: a, title: b, escalate_after: 1h, escalate_to: c}",
            POST + "}, on_doubt: {review: {escalate_after: 1h}}",
            POST + "}, on_doubt: {review: {escalate_after: 1h, escalate_to: c}}",
            POST + "}, on_doubt: {review: {if_nobody_answers: hold}}",
            POST + "}, on_doubt: {review: {if_nobody_answers: leave}}",
            POST + "}, object: null",
            POST + "}, object: {a: 1}",
            POST + "}, object: [1]",
            POST + "}, object: true",
            POST + "}, worth: null",
            POST + "}, worth: {a: 1}",
            "sleep: {until: 5}",
            "sleep: {until: true}",
            "sleep: {until: null}",
            "sleep: {until: [5]}",
            "sleep: {until: '2026-01-01T00:00:00Z'}");

    private static final List<String> SECTIONS = List.of(
            "input: {a: {type: integer, enum: [1]}}\n",
            "input: {a: {type: integer, enum: ['1']}}\n",
            "input: {a: {type: integer, enum: [1.5]}}\n",
            "input: {a: {type: object, enum: [{b: 1}]}}\n",
            "input: {a: {type: object, enum: [b]}}\n",
            "input: {a: {type: array, enum: [[1]]}}\n",
            "input: {a: {type: array, enum: [1]}}\n",
            "idempotency: {fingerprint_ignore: [a]}\n",
            "idempotency: {fingerprint_ignore: ['${ input.a }']}\n",
            "idempotency: {object: null}\n",
            "idempotency: {object: {a: 1}}\n",
            "idempotency: {worth: null}\n");

    private static List<String> shapes() {
        return Stream.concat(STEPS.stream().map(WorkflowFileJsonSchemaTest::step), SECTIONS.stream())
                .map(DefinitionFixtures::with)
                .toList();
    }

    @Test
    void the_reader_and_the_schema_accept_the_same_shapes() {
        List<String> differ = shapes().stream()
                .filter(text -> compiles(text) != Schemas.faults(text).isEmpty())
                .map(text -> (compiles(text) ? "only the reader accepts " : "only the schema accepts ") + text)
                .toList();
        assertEquals(List.of(), differ);
        assertTrue(
                shapes().stream().filter(WorkflowFileJsonSchemaTest::compiles).count() > 30, "not all are rejected");
    }

    /** Counts beside every bound. */
    private static final List<Long> EDGES = List.of(
            0L,
            1L,
            2L,
            9L,
            10L,
            11L,
            29L,
            30L,
            31L,
            59L,
            60L,
            61L,
            364L,
            365L,
            366L,
            599L,
            600L,
            601L,
            719L,
            720L,
            721L,
            999L,
            1_000L,
            1_001L,
            1_500L,
            3_600L,
            3_601L,
            8_760L,
            8_761L,
            43_200L,
            43_201L,
            525_600L,
            525_601L,
            600_000L,
            600_001L,
            2_592_000L,
            2_592_001L,
            3_600_000L,
            3_600_001L,
            31_536_000L,
            31_536_001L,
            999_999_999L,
            1_000_000_000L);

    @Test
    void durations_have_the_same_bounds_in_both() {
        Random random = new Random(7);
        List<String> places = List.of(
                "idempotency: {window: %s}\n",
                "timeout: %s\n",
                "trigger: {schedules: [{id: a, every: %s}]}\n",
                "trigger: {schedules: [{id: a, every: 1h, jitter: %s}]}\n",
                "trigger: {schedules: [{id: a, every: 1h, catch_up: {within: %s}}]}\n",
                step("http: {url: 'https://a.example'}, timeout: %s"),
                step("http: {url: 'https://a.example'}, retry: {first: %s}"),
                step("sleep: %s"));
        for (String place : places) {
            for (String unit : List.of("ms", "s", "m", "h", "d", "w", "")) {
                for (int i = 0; i < EDGES.size() + 10; i++) {
                    long count = i < EDGES.size() ? EDGES.get(i) : random.nextLong(1_000_000_000);
                    String text = DefinitionFixtures.with(place.formatted("'" + count + unit + "'"));
                    assertEquals(compiles(text), Schemas.faults(text).isEmpty(), text);
                }
            }
        }
    }

    private static boolean compiles(String text) {
        try {
            WorkflowDefinition.compile(text);
            return true;
        } catch (SemelException e) {
            return false;
        }
    }

    @Test
    void a_mistyped_step_kind_is_named_by_both() {
        String text = DefinitionFixtures.with("steps: [{id: a, htpp: {url: 'https://a.example'}}]\n");
        DefinitionFixtures.Mistake mistake = DefinitionFixtures.only(text);
        assertEquals("'htpp' is not a step kind. Did you mean 'http'?", mistake.message());
        assertTrue(
                Schemas.faults(text).stream().anyMatch(fault -> fault.contains("htpp")),
                () -> Schemas.faults(text).toString());
        String odd = DefinitionFixtures.with("steps: [{id: a, frobnicate: 1}]\n");
        assertEquals(
                "'frobnicate' is not a step kind.", DefinitionFixtures.only(odd).message());
    }

    @Test
    void editors_offer_every_field() {
        WorkflowFileJsonSchema.schema()
                .path("$defs")
                .forEachEntry((name, part) -> part.path("properties")
                        .forEachEntry((field, value) ->
                                assertTrue(value.isObject(), name + "." + field + " is not offered by editors")));
        JsonNode http = WorkflowFileJsonSchema.schema().at("/$defs/kind_http/properties/body/description");
        assertTrue(http.asString().contains("Body"), http::toString);
    }

    @ParameterizedTest
    @ValueSource(strings = {"/examples/payment_receipt.yaml", "/examples/new_lead.yaml", "/examples/fulfil_order.yaml"})
    void the_examples_match_the_schema(String example) throws Exception {
        try (var in = WorkflowFileJsonSchemaTest.class.getResourceAsStream(example)) {
            String text = new String(
                    java.util.Objects.requireNonNull(in).readAllBytes(), java.nio.charset.StandardCharsets.UTF_8);
            WorkflowDefinition.compile(text);
            assertEquals(java.util.List.of(), Schemas.faults(text));
        }
    }
}
