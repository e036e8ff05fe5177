package dev.semel.server.files.definition;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.error.SemelException;
import java.util.List;
import java.util.stream.Stream;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.MethodSource;

class MistakesTest {
    @Test
    void the_smallest_file_is_valid() {
        WorkflowDefinition definition =
                WorkflowDefinition.compile("semel: 1\nworkflow: name\nsteps:\n  - {id: note, set: {ok: true}}\n");
        assertEquals("name", definition.name());
        assertEquals(
                List.of("The workflow has no owner; the dashboard, alerts and reviews cannot show one. Add one, e.g."
                        + " owner: payments-team."),
                definition.warnings());
        assertTrue(DefinitionFixtures.run(definition, "{}").isNull());
    }

    @Test
    void the_first_mistake_is_shown_with_its_line_and_a_caret() {
        SemelException e = DefinitionFixtures.refused("""
            semel: 1
            workflow: new_lead
            trigger:
              http:
                key: ${ key("welcome", input.id, now()) }
            steps:
              - {id: note, set: {ok: true}}
            """);
        assertEquals("""
            The workflow file has an error at line 5, column 38: this key changes between attempts: now() returns a \
            different value each time. A key must identify the intended action, so it must be the same \
            in every retry.
               4 |   http:
               5 |     key: ${ key("welcome", input.id, now()) }
                 |                                      ^^^ a different value on every attempt
            Nothing was published.\
            """, e.detail());
        assertEquals("Use an id from the input, e.g. ${ input.event_id }, or remove this part.", e.fix());
    }

    @Test
    void a_long_line_is_cut_around_the_caret() {
        String detail = DefinitionFixtures.refused(DefinitionFixtures.with("title: {a: " + "x".repeat(500) + ", b: '"
                        + "y".repeat(20) + "'}\noutput: '" + "z".repeat(400) + "${ foo }'\n" + DefinitionFixtures.STEP))
                .detail();
        assertTrue(detail.lines().allMatch(line -> line.length() < 200), detail);
    }

    static Stream<Arguments> mistakes() {
        return Stream.of(
                mistake(
                        "semel: 2\nworkflow: w\n" + DefinitionFixtures.STEP,
                        "1:8",
                        "/semel",
                        "semel must be 1; this server supports no other format version."),
                mistake(
                        "semel: '1'\nworkflow: w\n" + DefinitionFixtures.STEP,
                        "1:8",
                        "/semel",
                        "semel must be 1; this server supports no other format version."),
                mistake(
                        "workflow: w\n" + DefinitionFixtures.STEP,
                        "1:1",
                        "",
                        "the format version is missing; add 'semel: 1'."),
                mistake(
                        "semel: 1\n" + DefinitionFixtures.STEP,
                        "1:1",
                        "",
                        "the name of the workflow is missing; add 'workflow: name'."),
                mistake(
                        "semel: 1\nworkflow: Foo\n" + DefinitionFixtures.STEP,
                        "2:11",
                        "/workflow",
                        "a workflow name must begin with a lower-case letter, followed by up to 63 lower-case letters,"
                                + " digits, _ or -."),
                mistake(
                        "semel: 1\nworkflow: wf_7hJ\n" + DefinitionFixtures.STEP,
                        "2:11",
                        "/workflow",
                        "a workflow name must begin with a lower-case letter, followed by up to 63 lower-case letters,"
                                + " digits, _ or -."),
                mistake(
                        "semel: 1\nworkflow: wf_abc\n" + DefinitionFixtures.STEP,
                        "2:11",
                        "/workflow",
                        "a workflow name must not begin with wf_, which is the prefix of workflow ids."),
                mistake(
                        "semel: 1\nworkflow: w\n",
                        "2:1",
                        "/workflow",
                        "the workflow has no steps; the smallest step is '- {id: note, set: {ok: true}}'."),
                mistake("semel: 1\nworkflow: w\nsteps: []\n", "3:8", "/steps", "a workflow must have 1 to 500 steps."),
                mistake(
                        "semel: 1\r\nworkflow: w\r\nsteps: 5\r\n",
                        "3:8",
                        "/steps",
                        "'steps' must be a list, not a number."),
                mistake("title: [a]\n", "4:8", "/title", "'title' must be text, not a list."),
                mistake("owner: p\n", "4:1", "/owner", "'owner' appears twice; the first is in line 3."),
                mistake("titel: x\n", "4:1", "/titel", "'titel' is not a field of a workflow. Did you mean 'title'?"),
                mistake("<<: {a: 1}\n", "4:1", "/<<", "'<<' is not a field of a workflow."),
                mistake(
                        "max_concurrent: 0\n",
                        "4:17",
                        "/max_concurrent",
                        "'max_concurrent' must be a whole number between 1 and 100000."),
                mistake(
                        "serial_by: all\n",
                        "4:12",
                        "/serial_by",
                        "this key is the same for every trigger; use an id from the input, e.g. ${ input.customer_id"
                                + " }."),
                mistake(
                        "debounce: {key: '${ input.a }', quiet: 2m, at_most: 1m}\n",
                        "4:53",
                        "/debounce/at_most",
                        "debounce.at_most must not be shorter than debounce.quiet."),
                mistake(
                        "trigger: {webhook: {}}\n",
                        "4:11",
                        "/trigger/webhook",
                        "A webhook triggers a workflow through `trigger.events`."),
                mistake(
                        "trigger: {htp: {}}\n",
                        "4:11",
                        "/trigger/htp",
                        "'htp' is not a field of trigger. Did you mean 'http'?"),
                mistake("trigger: []\n", "4:10", "/trigger", "trigger must be a map, not a list."),
                mistake(
                        "trigger: {http: {require_key: 'yes'}}\n",
                        "4:31",
                        "/trigger/http/require_key",
                        "trigger.http.require_key must be true or false, not text."),
                mistake(
                        "trigger: {http: {key: abc}}\n",
                        "4:23",
                        "/trigger/http/key",
                        "trigger.http.key must be an expression, e.g. ${ input.event_id }; with a constant all triggers"
                                + " would have the same key."),
                mistake(
                        "trigger: {http: {key: '${ \"a\" + \"b\" }'}}\n",
                        "4:23",
                        "/trigger/http/key",
                        "this key is the same for every trigger, so only the first trigger would start a run; use an"
                                + " id from the input."),
                mistake(
                        "trigger: {http: {key: '${ [input.a] }'}}\n",
                        "4:26",
                        "/trigger/http/key",
                        "the expression must return double or int or string, not list."),
                mistake(
                        "trigger: {http: {key: '${ steps.note.ok }'}}\n",
                        "4:27",
                        "/trigger/http/key",
                        "'steps' cannot be read in a key."),
                mistake(
                        "input: {a: {type: strng}}\n",
                        "4:19",
                        "/input/a/type",
                        "type must be one of string, integer, number, boolean, object, array. Did you mean"
                                + " 'string'?"),
                mistake(
                        "input: {a: {type: list}}\n",
                        "4:19",
                        "/input/a/type",
                        "type must be one of string, integer, number, boolean, object, array. Did you mean 'array'?"),
                mistake(
                        "input: {a: {requird: true}}\n",
                        "4:13",
                        "/input/a/requird",
                        "'requird' is not a field of input.a. Did you mean 'required'?"),
                mistake(
                        "input: {a: {pattern: '(a+)+$'}}\n",
                        "4:13",
                        "/input/a/pattern",
                        "input.a.pattern is not available yet in this version."),
                mistake(
                        "input: {a: {type: string, enum: [x, 1]}}\n",
                        "4:37",
                        "/input/a/enum/1",
                        "this enum value is not of the declared type string."),
                mistake(
                        "idempotency: {window: 5x}\n",
                        "4:23",
                        "/idempotency/window",
                        "idempotency.window must be a duration such as 30s, 15m, 24h or 7d."),
                mistake(
                        "idempotency: {window: 0s}\n",
                        "4:23",
                        "/idempotency/window",
                        "idempotency.window must be between 1s and 365d."),
                mistake(
                        "idempotency: {window: 999ms}\n",
                        "4:23",
                        "/idempotency/window",
                        "idempotency.window must be between 1s and 365d."),
                mistake(
                        "idempotency: {window: 366d}\n",
                        "4:23",
                        "/idempotency/window",
                        "idempotency.window must be between 1s and 365d."),
                mistake(
                        "idempotency: {window: 24}\n",
                        "4:23",
                        "/idempotency/window",
                        "idempotency.window must be text, not a number."),
                mistake(
                        "idempotency: {scope: worksapce}\n",
                        "4:22",
                        "/idempotency/scope",
                        "idempotency.scope must be one of workspace, workflow. Did you mean 'workspace'?"),
                mistake(
                        "idempotency: {on_mismatch: return_original}\n",
                        "4:28",
                        "/idempotency/on_mismatch",
                        "on_mismatch must be one of reject, replay, distinct. Did you mean 'replay'?"),
                mistake(
                        "idempotency: {fingerprint: []}\n",
                        "4:28",
                        "/idempotency/fingerprint",
                        "fingerprint must have 1 to 64 entries."),
                mistake(
                        "idempotency: {fingerprint: [a, a]}\n",
                        "4:32",
                        "/idempotency/fingerprint/1",
                        "'a' appears twice in fingerprint; remove one."),
                mistake(
                        "idempotency: {fingerprint: ['${ input.a }']}\n",
                        "4:29",
                        "/idempotency/fingerprint/0",
                        "an expression in fingerprint needs a name; write 'name: ${ expression }'."),
                mistake(
                        "idempotency: {fingerprint: [{a: 1}]}\n",
                        "4:33",
                        "/idempotency/fingerprint/0/a",
                        "the fingerprint entry 'a' must be an expression: ${ … }."),
                mistake(
                        "idempotency: {fingerprint: [{a: '${ run.id }'}]}\n",
                        "4:37",
                        "/idempotency/fingerprint/0/a",
                        "'run' cannot be read in a fingerprint."),
                mistake(
                        "idempotency: {fingerprint: [a], fingerprint_ignore: [b]}\n",
                        "4:33",
                        "/idempotency/fingerprint_ignore",
                        "set either fingerprint or fingerprint_ignore, not both."),
                mistake(
                        "idempotency: {worth: [1]}\n",
                        "4:22",
                        "/idempotency/worth",
                        "idempotency.worth must be text or an expression, not a list."),
                mistake(
                        "steps:\n  - {id: Note, set: 1}\n",
                        "5:10",
                        "/steps/0/id",
                        "a step id must begin with a lower-case letter, followed by up to 63 lower-case letters,"
                                + " digits or _."),
                mistake(
                        "steps:\n  - {id: in, set: 1}\n",
                        "5:10",
                        "/steps/0/id",
                        "a step id must begin with a lower-case letter, followed by up to 63 lower-case letters,"
                                + " digits or _, and 'in' is reserved."),
                mistake("steps:\n  - {set: 1}\n", "5:5", "/steps/0", "the step has no id; add id: name."),
                mistake("steps:\n  - {id: a}\n", "5:6", "/steps/0/id", "the step has no kind."),
                mistake(
                        "steps:\n  - {id: a, event: lead.welcome, to: ann, protect: ask}\n",
                        "5:13",
                        "/steps/0/event",
                        "The step kind `event` was renamed to `notify`."),
                mistake(
                        "steps:\n  - {id: a, notify: Lead, to: ann, protect: ask}\n",
                        "5:21",
                        "/steps/0/notify",
                        "notify must name a notification: a lower-case letter, followed by up to 63 lower-case"
                                + " letters, digits, dots, _ or -."),
                mistake(
                        "steps:\n  - {id: a, sleep: 5us}\n",
                        "5:20",
                        "/steps/0/sleep",
                        "sleep must be a duration such as 500ms, 30s, 15m, 24h or 7d."),
                mistake(
                        "steps:\n  - {id: a, set: 1}\n  - {id: a, set: 2}\n",
                        "6:10",
                        "/steps/1/id",
                        "the step id 'a' is used in line 5 and in line 6; step ids must be unique."),
                mistake("steps:\n  - {id: a, http: {}}\n", "5:19", "/steps/0/http", "url is missing."),
                mistake(
                        "steps:\n  - {id: a, set: 1, protect: ask}\n",
                        "5:21",
                        "/steps/0/protect",
                        "'protect' is not a field of a step."),
                mistake(
                        "steps:\n  - {id: a, set: 1, when: yes}\n",
                        "5:27",
                        "/steps/0/when",
                        "when must be one expression that returns true or false: ${ … }."),
                mistake(
                        "steps:\n  - {id: a, set: 1, when: '${ \"a\" + \"b\" }'}\n",
                        "5:30",
                        "/steps/0/when",
                        "the expression must return bool, not string."),
                mistake(
                        "steps:\n  - {id: a, set: '${ steps.b }'}\n  - {id: b, set: 1}\n",
                        "5:22",
                        "/steps/0/set",
                        "step 'b' runs later; only the results of earlier steps can be read here."),
                mistake(
                        "steps:\n  - {id: a, set: '${ steps.a }'}\n",
                        "5:22",
                        "/steps/0/set",
                        "step 'a' runs later; only the results of earlier steps can be read here."),
                mistake(
                        "steps:\n  - {id: load, set: 1}\n  - {id: b, set: '${ steps.laod }'}\n",
                        "6:22",
                        "/steps/1/set",
                        "there is no earlier step 'laod'. Did you mean 'load'?"));
    }

    private static Arguments mistake(String text, String place, String pointer, String message) {
        return Arguments.of(
                text.startsWith("semel") || text.startsWith("workflow") ? text : DefinitionFixtures.with(text),
                place,
                pointer,
                message);
    }

    @ParameterizedTest
    @MethodSource("mistakes")
    void a_mistake_is_reported_with_its_position(String text, String place, String pointer, String message) {
        var mistake = DefinitionFixtures.only(text);
        assertEquals(message, mistake.message());
        assertEquals(place, mistake.line() + ":" + mistake.column());
        assertEquals(pointer, mistake.pointer());
    }

    @Test
    void a_window_shorter_than_the_retries_gives_a_warning() {
        WorkflowDefinition definition = DefinitionFixtures.compiled("""
            steps:
              - id: a
                http: {method: POST, url: "https://a.example"}
                protect: provider_key
                provider_window: 10s
                idempotent: {key: "${ input.id }", time: 1, unit: minutes}
                retry: {attempts: 3, first: 1h, factor: 1}
            """);
        assertEquals(
                List.of(
                        "Step 'a': SEM-K06: the provider forgets the key after 10s, but retries last 2h; the last"
                                + " attempts end in doubt.",
                        "Step 'a': SEM-K06: the window of 1m is shorter than the retries of the step, which last 2h."),
                definition.warnings());
    }

    @Test
    void values_that_could_hide_a_statement_or_choose_a_secret_are_rejected() {
        for (String sql : List.of(
                "select E'\\\\''", "select $$ x $$", "delete from a -- b", "select /* b */ 1", "select 1; select 2")) {
            String text = DefinitionFixtures.with("steps:\n  - {id: a, tx: {sql: \"" + sql + "\"}}\n");
            assertEquals(1, DefinitionFixtures.mistakes(text).size(), sql);
        }
        var secret = DefinitionFixtures.only(DefinitionFixtures.with(
                "steps:\n  - {id: a, http: {url: 'https://a.example', headers: {X-A: '${ secret[input.n] }'}}}\n"));
        assertEquals(
                "write the name of the secret, as in secret.CRM_TOKEN: the name must be a constant.", secret.message());
        var both = DefinitionFixtures.only(DefinitionFixtures.with(
                "steps:\n  - {id: a, on_error: continue, parallel: {left: [{id: b, set: 1}]}}\n"));
        assertTrue(
                both.message().startsWith("on_error is not allowed here: if several nested steps fail"),
                both.message());
    }

    @Test
    void all_mistakes_are_reported_in_the_order_of_the_file() {
        var mistakes = DefinitionFixtures.mistakes("""
            semel: 3
            workflow: W
            titel: x
            idempotency: {window: 5x, scope: w, fingerprint: ['a b', 'x..y']}
            steps:
              - {id: a, set: {x: '${ foo }', y: '${ bar + lowr(1) }'}}
              - {id: b, http: {}, retry: {}}
            output: '${ steps.c }'
            """);
        assertEquals(
                List.of("1:8", "2:11", "3:1", "4:23", "4:34", "4:51", "4:58", "6:26", "6:41", "6:47", "7:19", "8:13"),
                mistakes.stream().map(m -> m.line() + ":" + m.column()).toList());
    }

    @Test
    void a_file_with_thousands_of_mistakes_reports_a_hundred() {
        assertEquals(
                100,
                DefinitionFixtures.mistakes(DefinitionFixtures.with(
                                "output: [" + "'${ foo }',".repeat(500) + "1]\n" + DefinitionFixtures.STEP))
                        .size());
    }

    @Test
    void a_rejected_step_is_not_reported_again_where_it_is_read() {
        var mistake = DefinitionFixtures.only(
                DefinitionFixtures.with("steps:\n  - {id: a, http: {}}\noutput: '${ steps.a.body }'\n"));
        assertEquals("url is missing.", mistake.message());
    }

    @Test
    void a_short_window_and_an_undeclared_field_give_a_warning() {
        WorkflowDefinition definition = DefinitionFixtures.compiled("""
            input: {payment_id: {type: string}}
            idempotency: {window: 5m, fingerprint: [paymentid]}
            output: ${ input.payment_id }
            """ + DefinitionFixtures.STEP);
        assertEquals(
                List.of(
                        "idempotency.window is shorter than one hour; a later retry starts a new run.",
                        "input.paymentid is read but not declared under input. Did you mean 'payment_id'?"),
                definition.warnings());
    }
}
