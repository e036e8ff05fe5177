package dev.semel.trials.files;

import dev.semel.server.demo.DemoDataSeeder;
import dev.semel.server.demo.DemoExternalApi;
import dev.semel.trials.support.ApiCaller;
import java.util.ArrayList;
import java.util.List;
import java.util.Map;
import java.util.TreeMap;

/** The three flows of `examples/` that reach others: how one is set going, and what the others must have heard in the end. */
enum ExampleFlow {
    /** A license under `provider_key`, a mail under `ask`. */
    RECEIPT(
            "receipt_and_license",
            Map.of("step-done", 2, "effect-reserved", 2, "effect-sent", 2, "run-ending", 1, "replay-answered", 1)) {
        @Override
        String data(String name) {
            return "\"payment_id\":\"%s\",\"amount\":4900,\"currency\":\"usd\",\"email\":\"%s\""
                    .formatted(name, address(name));
        }

        @Override
        List<List<HaltPoint>> twice() {
            return List.of(
                    List.of(new HaltPoint("effect-sent", 1), new HaltPoint("effect-reserved", 1)),
                    List.of(new HaltPoint("effect-reserved", 2), new HaltPoint("effect-doubted", 1)),
                    List.of(new HaltPoint("effect-sent", 2), new HaltPoint("effect-doubted", 1)));
        }

        @Override
        List<String> judge(ReceiverView heard) {
            List<String> wrong = new ArrayList<>();
            once(wrong, "licenses", heard.effects(DemoExternalApi.LICENSES));
            once(wrong, "mails", heard.mails());
            return wrong;
        }
    },

    /** A lead under `lookup`, a mail under `at_most_once`, a digest to chat under `ask`. */
    LEAD(
            "new_lead",
            Map.of("step-done", 5, "effect-reserved", 3, "effect-sent", 3, "run-ending", 1, "replay-answered", 1)) {
        @Override
        String data(String name) {
            return "\"form_submission_id\":\"%s\",\"email\":\"%s\",\"region\":\"emea\",\"plan\":\"pro\""
                    .formatted(name, address(name));
        }

        @Override
        List<List<HaltPoint>> twice() {
            return List.of(
                    List.of(new HaltPoint("effect-reserved", 1), new HaltPoint("lookup-empty", 1)),
                    List.of(new HaltPoint("effect-sent", 1), new HaltPoint("run-ending", 1)),
                    List.of(new HaltPoint("effect-sent", 3), new HaltPoint("effect-doubted", 1)));
        }

        @Override
        List<String> judge(ReceiverView heard) {
            List<String> wrong = new ArrayList<>();
            once(wrong, "leads", heard.effects(DemoExternalApi.LEADS));
            once(wrong, "messages to chat", heard.effects(DemoExternalApi.CHAT));
            // At most once: that nobody knows is said, and never sent again.
            switch (heard.status("welcome.email")) {
                case "completed" -> once(wrong, "mails of a welcome that is called sent", heard.mails());
                case "indeterminate" -> {
                    if (heard.mails() > 1) {
                        wrong.add(heard.mails() + " mails");
                    }
                }
                default -> wrong.add("the welcome is " + heard.status("welcome.email"));
            }
            return wrong;
        }
    },

    /** A signal, a pick under `ask`, a parcel under `provider_key` in a run of its own. */
    ORDER(
            "fulfil_order",
            Map.of(
                    "effect-reserved", 2,
                    "effect-sent", 2,
                    "child-started", 1,
                    "run-ending", 2,
                    "replay-answered", 1)) {
        @Override
        String data(String name) {
            return "\"order_id\":\"%s\",\"warehouse\":\"berlin\",\"total\":4900,\"lines\":[{\"sku\":\"A\",\"qty\":1}]"
                    .formatted(name);
        }

        @Override
        void prod(ApiCaller caller, String run) {
            String path = "/v1/runs/" + run + "/signals/payment.captured";
            caller.post(path, "{\"data\":{}}", "Idempotency-Key: evt_" + run).expect(200);
        }

        @Override
        List<List<HaltPoint>> twice() {
            return List.of(
                    List.of(new HaltPoint("effect-sent", 1), new HaltPoint("effect-doubted", 1)),
                    List.of(new HaltPoint("child-started", 1), new HaltPoint("effect-sent", 1)),
                    List.of(new HaltPoint("effect-sent", 2), new HaltPoint("effect-reserved", 1)));
        }

        @Override
        List<String> judge(ReceiverView heard) {
            List<String> wrong = new ArrayList<>();
            once(wrong, "picks", heard.effects(DemoExternalApi.PICKS));
            once(wrong, "parcels", heard.effects(DemoExternalApi.PARCELS));
            once(wrong, "runs of ship_parcel", heard.runs("ship_parcel"));
            return wrong;
        }
    };

    /** More commits than the shortest flow needs; where one comes later than the end, the cell says so. */
    private static final int COMMITS = 5;

    private final String workflow;
    private final Map<String, Integer> passings;

    /** Where a process ends: at the n-th passing of a label. */
    record HaltPoint(String label, int passing) {
        static final HaltPoint NEVER = new HaltPoint("-", 0);

        /** How many writes share a commit hangs on the moment; everything else is passed as often in each life. */
        boolean certain() {
            return !label.equals("batch-committed");
        }

        @Override
        public String toString() {
            return label + "#" + passing;
        }
    }

    /** What the others say of one cell, and what the run says of itself. */
    interface ReceiverView {
        long effects(DemoExternalApi provider);

        /** How many mails there are to the address of the cell. */
        int mails();

        /** How a step stands on the timeline. */
        String status(String step);

        int runs(String workflow);
    }

    /** @param passings how often a life without a halt comes to each label */
    ExampleFlow(String workflow, Map<String, Integer> passings) {
        this.workflow = workflow;
        this.passings = passings;
    }

    String workflow() {
        return workflow;
    }

    Map<String, Integer> passings() {
        return passings;
    }

    /** The files of all flows, as they are but for the address of the providers and the length of the digest. */
    static List<String> files(String playground) {
        return DemoDataSeeder.examples(playground).stream()
                .map(example -> example.text().replace("collect_for: 15m", "collect_for: 1s"))
                .toList();
    }

    static String address(String name) {
        return name + "@acme.example";
    }

    abstract String data(String name);

    /** What else the outside world does to a run; done twice it is done once. */
    void prod(ApiCaller caller, String run) {}

    /** Those who take over end, too. */
    abstract List<List<HaltPoint>> twice();

    /** What is wrong with what the others heard. */
    abstract List<String> judge(ReceiverView heard);

    private static void once(List<String> wrong, String what, long times) {
        if (times != 1) {
            wrong.add(times + " " + what);
        }
    }

    /** Nobody halts; each passing of each label; and those that end twice. */
    List<List<HaltPoint>> cells() {
        List<List<HaltPoint>> cells = new ArrayList<>();
        cells.add(List.of());
        for (int i = 1; i <= COMMITS; i++) {
            cells.add(List.of(new HaltPoint("batch-committed", i)));
        }
        new TreeMap<>(passings).forEach((label, passing) -> {
            for (int i = 1; i <= passing; i++) {
                cells.add(List.of(new HaltPoint(label, i)));
            }
        });
        cells.addAll(twice());
        return cells;
    }
}
