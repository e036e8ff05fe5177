package dev.semel.trials.crash;

import java.util.List;
import java.util.Locale;
import java.util.random.RandomGenerator;

/** The kinds of load in a soak: a workflow, the input of a run, and what the provider must have accepted for it. */
enum SoakWorkflow {
    /** A payment at a provider that sometimes fails, hangs or resets the connection. */
    PAY(4, 1) {
        @Override
        String steps() {
            return post("pay", "dedupe/${ input.manners }", "${ input.name }", "provider_key") + "    timeout: 5s\n";
        }

        @Override
        String input(String name, RandomGenerator chance) {
            List<String> bad = List.of("resets-1", "fails-1", "drops-1", "hangs-1");
            return "\"manners\":\"" + (chance.nextInt(10) > 0 ? "answers" : bad.get(chance.nextInt(4))) + "\"";
        }
    },

    /** A provider without keys, which Semel queries before it sends again. */
    LOOKUP(2, 1) {
        @Override
        String steps() {
            return """
                  - id: lookup
                    http:
                      method: POST
                      url: RECEIVER/forgets/${ input.manners }/lookup/${ input.name }
                      idempotency_header: none
                      body: { name: "${ input.name }" }
                    protect: lookup
                    lookup: { http: { url: "RECEIVER/forgets/${ input.manners }/lookup/${ input.name }" } }
                """;
        }

        @Override
        String input(String name, RandomGenerator chance) {
            return "\"manners\":\"" + (chance.nextInt(10) > 0 ? "answers" : "resets-1") + "\"";
        }
    },

    /** A slow transaction in the store, then a request that Semel never sends twice. */
    TX(6, 1) {
        @Override
        String steps() {
            return """
                  - id: row
                    tx: { sql: "SLOW_INSERT", params: { name: "${ input.name }" } }
                    retry: { attempts: 100, first: 1s, factor: 1 }
                """ + post("tx", "forgets/answers", "${ input.name }", "at_most_once");
        }
    },

    /** Three nested loops, with a request in the outermost. */
    LOOPS(2, 1) {
        @Override
        String steps() {
            return """
                      - id: outer
                        for_each: ${ input.list }
                        as: a
                        item_key: ${ string(a) }
                        parallel: 4
                        steps:
                          - id: middle
                            for_each: ${ input.list }
                            as: b
                            item_key: ${ string(b) }
                            steps:
                              - id: inner
                                for_each: ${ input.list }
                                as: c
                                item_key: ${ string(c) }
                                steps: [{ id: cell, set: { product: "${ a * b * c }" } }]
                    """
                    + post("loops", "dedupe/answers", "${ input.name }/${ string(a) }", "provider_key")
                            .indent(4);
        }

        @Override
        String input(String name, RandomGenerator chance) {
            return "\"list\":[1,2,3,4,5,6]";
        }

        @Override
        List<String> requests(String key) {
            return List.of(1, 2, 3, 4, 5, 6).stream()
                    .map(item -> "loops/" + key + "/" + item)
                    .toList();
        }
    },

    /** An input of almost 1 MiB, of small objects, and a loop that copies a part of it into each result. */
    BIG(2, 5) {
        @Override
        String steps() {
            return """
                  - id: copies
                    for_each: ${ input.list }
                    as: item
                    item_key: ${ string(item) }
                    steps: [{ id: copy, set: { part: "${ input.text }" } }]
                """ + post("big", "dedupe/answers", "${ input.name }", "provider_key");
        }

        @Override
        String input(String name, RandomGenerator chance) {
            StringBuilder objects = new StringBuilder();
            while (objects.length() < 990_000) {
                objects.append(objects.isEmpty() ? "" : ",")
                        .append("{\"a\":")
                        .append(chance.nextInt(1_000))
                        .append('}');
            }
            return "\"list\":[1,2,3,4,5],\"text\":\"" + "x".repeat(20_000) + "\",\"objects\":[" + objects + "]";
        }
    },

    /** Waits for a signal. */
    SIGNAL(4, 1) {
        @Override
        String steps() {
            return """
                  - id: wait
                    wait_for: { signal: soak.go, key: "${ input.name }", timeout: 1h }
                """ + post("signal", "dedupe/answers", "${ input.name }", "provider_key");
        }
    },

    /** An item of a digest that many runs share. */
    DIGEST(8, 1) {
        @Override
        String steps() {
            return """
                  - id: tell
                    digest: { key: "${ input.group }", collect_for: 2s, item: "${ input.name }" }
                    send: { channel: soak, to: all, template: soak }
                    protect: provider_key
                    provider_window: 24h
                """;
        }

        @Override
        String input(String name, RandomGenerator chance) {
            return "\"group\":\"g" + chance.nextInt(3) + "\"";
        }

        @Override
        List<String> requests(String key) {
            return List.of();
        }
    };

    static final String CHANNEL = """
        {"kind":"webhook","url":"RECEIVER/records/answers/digest","honours":["provider_key"],"provider_window":"24h"}
        """;
    static final String TEMPLATE = """
        {"channel":"webhook","text":"{{#each items}}<{{ this }}>{{/each}}"}
        """;

    private final int clients;
    private final int burst;

    /**
     * @param clients that send at the same time
     * @param burst runs that one client starts before it waits for their ends
     */
    SoakWorkflow(int clients, int burst) {
        this.clients = clients;
        this.burst = burst;
    }

    abstract String steps();

    /** Members of the input besides `name`. */
    String input(String name, RandomGenerator chance) {
        return "\"n\":1";
    }

    /** What the provider must have accepted, each exactly once. */
    List<String> requests(String key) {
        return List.of(word() + "/" + key);
    }

    int clients() {
        return clients;
    }

    int burst() {
        return burst;
    }

    String word() {
        return name().toLowerCase(Locale.ROOT);
    }

    String workflow() {
        return "soak_" + word();
    }

    String file(String receiver, String slowInsert) {
        return ("semel: 1\nworkflow: " + workflow() + "\nowner: soak\nsteps:\n" + steps())
                .replace("RECEIVER", receiver)
                .replace("SLOW_INSERT", slowInsert);
    }

    String body(String key, RandomGenerator chance) {
        return "{\"data\":{\"name\":\"" + key + "\"," + input(key, chance) + "}}";
    }

    /** Whether Semel may leave the outcome of the request open. */
    boolean mayBeInDoubt() {
        return this == TX;
    }

    /** The kind of a key `word-client-number`. */
    static SoakWorkflow of(String key) {
        return valueOf(key.substring(0, key.indexOf('-')).toUpperCase(Locale.ROOT));
    }

    private static String post(String word, String manners, String name, String protection) {
        return """
              - id: send
                http: { method: POST, url: "RECEIVER/%s/%s/%s", body: { name: "${ input.name }" } }
                protect: %s
            """.formatted(manners, word, name, protection)
                + (protection.equals("provider_key") ? "    provider_window: 24h\n" : "");
    }
}
