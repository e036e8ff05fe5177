package dev.semel.server.files.definition;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertFalse;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.json.StrictJsonCodec;
import org.junit.jupiter.api.Test;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.CsvSource;
import org.junit.jupiter.params.provider.ValueSource;

class ExpressionTest {
    private static final String INPUT = """
        {"s": "x", "i": 5, "d": 1.5, "n": null, "l": [1, 2], "o": {"k": 1}, "mail": "  Ann@Example.COM ",
         "big": 123456789012345678901234567890, "dec": 1.234567890123456789012345, "huge": 1e2000000,
         "evil": "${ 7*7 } {{secrets.STRIPE}}", "order-id": "o1"}\
        """;

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
        ${ input.i }                          | 5
        ${ input.i + 1 }                      | 6
        ${ input.d * 2.0 }                    | 3.0
        ${ double(input.i) * 1.5 }            | 7.5
        ${ input.big }                        | 123456789012345678901234567890
        ${ input.dec }                        | 1.234567890123456789012345
        ${ [input.big, input.dec] }           | [123456789012345678901234567890,1.234567890123456789012345]
        ${ {"a": input.o, "b": input.huge} }  | {"a":{"k":1},"b":1E+2000000}
        ${ input.i > 4 ? input.big : 0 }      | 123456789012345678901234567890
        ${ input.big == input.big }           | true
        ${ input.huge == input.huge }         | true
        ${ input.i == 5.0 }                   | true
        ${ input.i > 2.5 }                    | true
        ${ input.n }                          | null
        ${ input.n == null }                  | true
        ${ input.l }                          | [1,2]
        ${ input.l[1] }                       | 2
        ${ input["order-id"] }                | "o1"
        ${ has(input.o.k) }                   | true
        ${ has(input.o.z) }                   | false
        ${ has(input.n) }                     | true
        ${ has(input.n.code) }                | false
        ${ has(input.x.y.z) }                 | false
        ${ has(input.i.z) }                   | false
        ${ has(input.l[0].z) }                | false
        ${ has(input.l[1]) && !has(input.l[2]) } | true
        ${ has(input["order-id"]) }           | true
        ${ has({"a": input.n}.a.b) }          | false
        ${ any([input.o, input.n], x, has(x.k)) } | true
        ${ has(steps.note.error) }            | false
        ${ size(input.l) }                    | 2
        ${ 2 in input.l }                     | true
        ${ "k" in input.o }                   | true
        ${ input.l == [1, 2] }                | true
        ${ input.o == {"k": 1} }              | true
        ${ input.o != {"k": 2} }              | true
        ${ lower(trim(input.mail)) }          | "ann@example.com"
        ${ default(input.x, "d") }            | "d"
        ${ default(input.x.y.z, "d") }        | "d"
        ${ default(input.n, "d") }            | "d"
        ${ default(input.l[7], "d") }         | "d"
        ${ default(input.s, input.x) }        | "x"
        ${ default(steps.note.no, 1) }        | 1
        ${ key("a:b", "c", 5) }               | "a%3Ab:c:5"
        ${ key("a", "b:c", 5) }               | "a:b%3Ac:5"
        ${ key("100%", "ä b") }               | "100%25:%C3%A4%20b"
        ${ sha256("x") } | "2d711642b726b04401627ca9fbac32f5c8530fb1903cc4db02258717921a4881"
        ${ short_hash("x") }                  | "2d711642b726b044"
        ${ json(input.o) }                    | "{\\"k\\":1}"
        ${ money(4900, "usd") }               | "49.00 USD"
        ${ money(4900, "jpy") }               | "4900 JPY"
        ${ format("%s: %d of %.2f, %05d, 100%%", input.s, input.i, input.d, input.i) } | "x: 5 of 1.50, 00005, 100%"
        ${ format("%s %s %s", input.l, input.o, true) } | "[1,2] {\\"k\\":1} true"
        ${ format("%d;%.0f;%.3f", input.big, input.dec, 2) } | "123456789012345678901234567890;1;2.000"
        ${ format("%04d;%.1f", -7, -0.25) }   | "-007;-0.3"
        ${ format("no place") }               | "no place"
        ${ format("%s", input.evil) }         | "${ 7*7 } {{secrets.STRIPE}}"
        ${ map(input.l, x, x + 1) }           | [2,3]
        ${ filter(input.l, x, x > 1) }        | [2]
        ${ any(input.l, x, x == 2) }          | true
        ${ all(input.l, x, x == 2) }          | false
        ${ input.l.map(x, [x, input.s]) }     | [[1,"x"],[2,"x"]]
        ${ input.s.contains("x") }            | true
        ${ "}" + '{' }                        | "}{"
        ${ steps.note.ok }                    | true
        ${ run.id }                           | "run_1"
        ${ run.started_at }                   | "2026-11-16T07:00:00Z"
        ${ run.started_at + "!" }             | "2026-11-16T07:00:00Z!"
        ${ default(run.started_at, "no") }    | "2026-11-16T07:00:00Z"
        i=${ input.i } o=${ input.o }         | "i=5 o={\\"k\\":1}"
            b=${ input.big } d=${ input.dec }     | "b=123456789012345678901234567890 d=1.234567890123456789012345"
        $${ input.i } and $$${ input.i }      | "${ input.i } and $${ input.i }"
        ${ input.s }${ input.i }              | "x5"
        """)
    void an_expression_evaluates_to(String expression, String result) {
        String quoted = "'" + expression.replace("'", "''") + "'";
        assertEquals(result, StrictJsonCodec.write(DefinitionFixtures.output(quoted, INPUT)));
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
        ${ input.x }               | input.x is missing
        ${ input.n.x }             | input.n.x is missing
        ${ lower(input.x.y) }      | input.x.y is missing
        ${ input.l[9] + 1 }        | a list index is out of range
        ${ input.l[-1] }           | input.l[-1] is missing
        ${ input.i / 0 }           | it divides by zero
        ${ input.i % 0 }           | it divides by zero
        ${ 1.0 / 0.0 }             | its result is infinite or not a number
        ${ input.i * 1.5 }         | an operator or function does not accept the types of its values
        ${ input.d * 2 }           | an operator or function does not accept the types of its values
        ${ input.big + 1 }         | an operator or function does not accept the types of its values
        ${ input.s + 1 }           | an operator or function does not accept the types of its values
        ${ lower(input.i) }        | an operator or function does not accept the types of its values
        ${ 9223372036854775807 + input.i } | a number is out of the 64-bit range
        ${ int(input.s) }          | text could not be parsed as a number
        ${ input.s ? 1 : 2 }       | an argument has the wrong type
        ${ {1: 2} }                | a map in its result has a key that is not text
        ${ key("a", "") }          | part 2 of key() is empty
        ${ key(input.n) }          | part 1 of key() is empty
        ${ key(input.l) }          | part 1 of key() is not text, a number or a boolean
        ${ money(1, input.s) }     | money() got a currency that is not in ISO 4217
        ${ format("%s", input.n) } | value 1 of format() is null
        ${ format("%s%d", 1, input.s) } | value 2 of format() is not a whole number
        ${ format("%d", input.d) } | value 1 of format() is not a whole number
        ${ format("%d", input.dec) } | value 1 of format() is not a whole number
        ${ format("%.2f", input.s) } | value 1 of format() is not a number
        ${ format("%.2f", input.huge) } | value 1 of format() is not a number
        ${ b"abc" }                | its result has a type that JSON does not support
        Dear ${ input.n }          | an expression inside text returned null
        """)
    void a_failed_evaluation_says_why_and_shows_no_value(String expression, String because) {
        String detail = DefinitionFixtures.failure("'" + expression + "'", INPUT);
        assertTrue(detail.contains("because " + because), detail);
        assertTrue(detail.startsWith("The output of workflow 'w' could not be evaluated"), detail);
    }

    @Test
    void a_failure_never_contains_a_value_of_the_payload() {
        for (String expression : new String[] {
            "int(input.v + \"x\")",
            "input.v ? 1 : 2",
            "input.v + 1",
            "{input.v: 1}[\"a\"]",
            "input.v.map(x, x)",
            "input ? 1 : 2",
            "{\"a\": 1}[input.v]",
            "default(input.v, 1) && true",
            "money(1, input.v)",
            "key([input.v])",
            "-input.v"
        }) {
            String detail = DefinitionFixtures.failure("'${ " + expression + " }'", "{\"v\": \"4111111111111111\"}");
            assertFalse(detail.contains("4111"), detail);
        }
    }

    @ParameterizedTest
    @CsvSource(delimiter = '|', quoteCharacter = '`', textBlock = """
        ${ foo }               | 13 | 'foo' is not a known name.
        ${ inptu.x }           | 13 | 'inptu' is not a known name. Did you mean 'input'?
        ${ lowr(input.s) }     | 13 | there is no function lowr(). Did you mean 'lower'?
        ${ 1 + lowr(input.s) } | 17 | there is no function lowr(). Did you mean 'lower'?
        ${ secret.STRIPE }     | 13 | secrets can be read only in `auth`, `headers` and `verify`, so that Semel never records them.
        ${ event.id }          | 13 | 'event' cannot be read in the output.
        ${ header["a"] }       | 13 | 'header' cannot be read in the output.
        ${ step.id }           | 13 | 'step' cannot be read in the output.
        ${ run.stopped_at }    | 13 | only run.id and run.started_at can be read from run.
        ${ attempt }           | 13 | 'attempt' cannot be read in the output: Semel evaluates this expression once, before the first attempt.
        ${ format("%s") }      | 19 | invalid expression: format() has 1 placeholders and 0 values; write one value for each placeholder.
        ${ format("%s", 1, 2) } | 19 | invalid expression: format() has 1 placeholders and 2 values; write one value for each placeholder.
        ${ format("%x", 1) }   | 19 | invalid expression: in format(), a % must be followed by s, d, 05d (with a width), .2f (with a precision) or %.
        ${ format(input.s, 1) } | 19 | invalid expression: format() needs a literal text as first argument and one value for each placeholder.
        ${ format() }          | 19 | invalid expression: format() needs a literal text as first argument and one value for each placeholder.
        ${ now() }             | 13 | now() cannot be called in the output, because only a step can record its result.
        ${ "a" + uuid() }      | 19 | uuid() cannot be called in the output, because only a step can record its result.
        ${ random() }          | 13 | random() cannot be called in the output, because only a step can record its result.
        ${ steps }             | 13 | write the id of a step after the dot, as in steps.charge.
        ${ size(steps) }       | 18 | write the id of a step after the dot, as in steps.charge.
        ${ steps[input.s] }    | 13 | write the id of a step after the dot, as in steps.charge.
        ${ has(steps.nope) }   | 17 | there is no earlier step 'nope'. Did you mean 'note'?
        ${ default(steps.x, 1) } | 21 | there is no earlier step 'x'.
        ${ [1].map(steps, 1) } | 21 | 'steps' cannot be a loop variable, because the name is already in use; choose another name.
        ${ 1 + "a" }           | 15 | '+' does not accept the types (int, string).
        ${ short_hash(5) }     | 23 | 'short_hash' does not accept the types (int).
        ${ }                   | 12 | the expression is empty.
        ${ input.s             | 12 | the expression is not closed; add the missing '}'.
        ${ 1 +* 2 }            | 16 | invalid expression: extraneous input '*'.
        ${ google.protobuf.Any{} } | 12 | protobuf messages (Name{…}) are not supported; write a map: {\"name\": value}.
        """)
    void a_wrong_expression_is_rejected_at_publish(String expression, int column, String message) {
        var mistake = DefinitionFixtures.only(
                DefinitionFixtures.with(DefinitionFixtures.STEP + "output: '" + expression + "'\n"));
        assertEquals(message, mistake.message());
        assertEquals("6:" + column, mistake.line() + ":" + mistake.column());
    }

    @Test
    void a_caret_in_folded_text_points_at_the_expression() {
        var mistake = DefinitionFixtures.only(
                DefinitionFixtures.with(DefinitionFixtures.STEP + "output: >\n  one\n  two ${ foo }\n"));
        assertEquals("8:10", mistake.line() + ":" + mistake.column());
    }

    /** Attack S28: a template must not lead to Java, to a look-up or to anything but its own small language. */
    @ParameterizedTest
    @ValueSource(
            strings = {
                "${ ''.getClass().forName(\"java.lang.Runtime\") }",
                "${ input.getClass() }",
                "${ T(java.lang.Runtime).getRuntime().exec(\"id\") }",
                "${jndi:ldap://x}",
                "${ java.lang.Runtime }",
                "${ input.s.matches(\"(a+)+$\") }",
                "${ timestamp(\"2020-01-01T00:00:00Z\") }",
                "${ type(input) }",
                "${ dyn(1) }",
                "${ cel.bind(x, 1, x) }",
                "${ this }",
                "${ __result__ }"
            })
    void an_attack_in_a_file_is_rejected(String expression) {
        DefinitionFixtures.mistakes(DefinitionFixtures.with(DefinitionFixtures.STEP + "output: \""
                + expression.replace("\\", "\\\\").replace("\"", "\\\"") + "\"\n"));
    }

    /** Attack S28 again, in the forms of other template languages: here they are only text. */
    @ParameterizedTest
    @ValueSource(
            strings = {"{{7*7}}", "#{T(java.lang.Runtime).getRuntime().exec(1)}", "{{''.getClass()}}", "<%= 7*7 %>"})
    void other_template_languages_are_only_text(String text) {
        assertEquals(
                text,
                DefinitionFixtures.output("'" + text.replace("'", "''") + "'", "{}")
                        .stringValue());
    }

    /** Attack S29: what comes out of an expression is data and is never evaluated. */
    @Test
    void data_is_never_evaluated_a_second_time() {
        String evil = "${ 7*7 } {{secrets.STRIPE}}";
        assertEquals(evil, DefinitionFixtures.output("${ input.evil }", INPUT).stringValue());
        assertEquals(
                "a " + evil,
                DefinitionFixtures.output("a ${ input.evil }", INPUT).stringValue());
        assertEquals(
                evil + "!",
                DefinitionFixtures.output("${ input.evil + \"!\" }", INPUT).stringValue());
        WorkflowDefinition twice = DefinitionFixtures.compiled("""
            steps:
              - {id: a, set: {v: '${ input.evil }'}}
              - {id: b, set: {v: 'x ${ steps.a.v }'}}
            output: ${ steps.b.v }
            """);
        assertEquals("x " + evil, DefinitionFixtures.run(twice, INPUT).stringValue());
    }
}
