package dev.semel.server.cli;

import java.util.ArrayList;
import java.util.List;
import java.util.concurrent.Callable;
import java.util.stream.Collectors;
import org.jspecify.annotations.Nullable;
import picocli.CommandLine;
import picocli.CommandLine.Command;
import picocli.CommandLine.Mixin;
import picocli.CommandLine.Model.CommandSpec;
import picocli.CommandLine.Option;
import picocli.CommandLine.ParameterException;
import picocli.CommandLine.Parameters;
import picocli.CommandLine.Spec;
import tools.jackson.databind.JsonNode;
import tools.jackson.databind.node.ObjectNode;

/** `semel hooks`: manages webhooks, the URLs that receive events from providers. */
@Command(
        name = "hooks",
        description =
                "Manages webhooks of providers: verifies deliveries and starts the workflows that"
                        + " subscribe to their events.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  semel hooks create stripe --preset stripe --secret stripe_signing",
            "  semel hooks test stripe                   a signed sample, twice",
            "  semel hooks deliveries stripe             received deliveries and their results"
        })
final class HooksCommand implements Callable<Integer> {
    private static final SettingCommand.Sort SORT = new SettingCommand.Sort("hooks", "hooks", "name", "");

    @Spec
    @Nullable
    CommandSpec spec;

    static CommandLine commandLine(Surroundings environment) {
        CommandLine remove = new CommandLine(new SettingCommand.Delete(environment, SORT));
        return new CommandLine(new HooksCommand())
                .addSubcommand(new Create(environment))
                .addSubcommand(new All(environment))
                .addSubcommand(new Rotate(environment))
                .addSubcommand(new HookTrial.Deliveries(environment))
                .addSubcommand(new HookTrial.Reprocess(environment))
                .addSubcommand(new HookTrial.Test(environment))
                .addSubcommand("remove", remove);
    }

    @Override
    public Integer call() {
        if (spec == null) {
            throw new IllegalStateException("not wired");
        }
        throw new ParameterException(
                spec.commandLine(),
                "Missing subcommand: semel hooks create, list, rotate, deliveries, reprocess, test or remove.");
    }

    /** Prints the URL for the provider, and warnings. */
    private static void show(Output output, Connection connection, JsonNode webhook) {
        if (output.json) {
            output.document(webhook);
            return;
        }
        output.line("webhook " + Json.text(webhook, "name") + " v" + Json.text(webhook, "version"));
        output.line(connection.api().address() + Json.text(webhook, "path"));
        for (JsonNode warning : webhook.path("warnings")) {
            output.talk("warning: " + Json.clean(warning.asString("")));
        }
    }

    @Command(name = "create", description = "Creates a webhook and prints the URL for the provider.")
    static final class Create implements Callable<Integer> {
        @Mixin
        final Output output;

        @Mixin
        final Connection connection;

        @Parameters(paramLabel = "NAME", description = "Name of the webhook, and the source of its events.")
        String name = "";

        @Option(
                names = "--preset",
                required = true,
                paramLabel = "PRESET",
                description =
                        "stripe, github, shopify, slack, standard or cloudevents. For generic: PUT /v1/hooks/NAME.")
        String preset = "";

        @Option(
                names = "--secret",
                required = true,
                paramLabel = "SECRET",
                description = "Name of a secret, see `semel secret set`; repeatable during a rotation.")
        List<String> secrets = new ArrayList<>();

        @Option(
                names = "--signature-reuse",
                paramLabel = "POLICY",
                description = "flag, reject or allow a signature that repeats under another id, if ids are not signed.")
        String reuse = "";

        @Option(names = "--keep", paramLabel = "TIME", description = "Retention of payloads, such as 7d.")
        String keep = "";

        @Option(names = "--bearer", description = "Authenticate CloudEvents by a bearer token instead of a signature.")
        boolean bearer;

        Create(Surroundings environment) {
            this.output = new Output(environment);
            this.connection = new Connection(environment);
        }

        @Override
        public Integer call() {
            ObjectNode document = Json.object().put("preset", preset);
            secrets.forEach(document.putArray("secrets")::add);
            if (!reuse.isEmpty()) {
                document.put("signature_reuse", reuse);
            }
            if (!keep.isEmpty()) {
                document.put("keep", keep);
            }
            if (bearer) {
                document.put("check", "bearer");
            }
            Call put = Call.put(Call.path("v1", "hooks", name), "application/json", Json.compactUnprinted(document));
            show(
                    output,
                    connection,
                    connection.api().ask(SettingCommand.expecting(put, 0)).body());
            return Exit.DONE;
        }
    }

    @Command(name = "list", description = "Lists webhooks with their URLs.")
    static final class All extends ListCommand {
        All(Surroundings environment) {
            super(environment);
        }

        @Override
        Sheet sheet() {
            return Sheet.of(
                            Call.get(Call.path("v1", "hooks")),
                            "hooks list",
                            "no webhooks. Create one: semel hooks create NAME --preset stripe --secret SECRET")
                    .text("WEBHOOK", "name")
                    .cell("PRESET", item -> Json.text(item.path("document"), "preset"))
                    .cell("SECRETS", item -> secrets(item.at("/document/secrets")))
                    .cell("URL", item -> connection.address() + Json.text(item, "path"));
        }

        private static String secrets(JsonNode list) {
            return list.valueStream()
                    .map(secret -> Json.clean(secret.asString("")))
                    .collect(Collectors.joining(", "));
        }
    }

    @Command(
            name = "rotate",
            description =
                    "Accepts a new secret beside the newest one. With --address, gives the webhook a new"
                            + " URL instead.")
    static final class Rotate implements Callable<Integer> {
        @Mixin
        final Output output;

        @Mixin
        final Connection connection;

        @Parameters(paramLabel = "NAME")
        String name = "";

        @Option(names = "--secret", paramLabel = "SECRET", description = "Name of the new secret.")
        String secret = "";

        @Option(names = "--only", description = "Accept only the newest secret; this ends the rotation.")
        boolean only;

        @Option(names = "--address", description = "Give the webhook a new URL; the old one stops working.")
        boolean address;

        @Spec
        @Nullable
        CommandSpec spec;

        Rotate(Surroundings environment) {
            this.output = new Output(environment);
            this.connection = new Connection(environment);
        }

        @Override
        public Integer call() {
            if (secret.isEmpty() && !only && !address && spec != null) {
                throw new ParameterException(spec.commandLine(), "Missing option: --secret, --only or --address.");
            }
            String path = Call.path("v1", "hooks", name);
            JsonNode now = connection.api().ask(Call.get(path)).body();
            ObjectNode document = (ObjectNode) now.path("document").deepCopy();
            List<String> names = new ArrayList<>();
            if (!secret.isEmpty()) {
                names.add(secret);
            }
            now.at("/document/secrets").forEach(one -> {
                boolean wanted = only ? names.isEmpty() : names.size() < 2;
                if (wanted && !names.contains(one.asString(""))) {
                    names.add(one.asString(""));
                }
            });
            var list = document.putArray("secrets");
            names.forEach(list::add);
            Call put = Call.put(path, "application/json", Json.compactUnprinted(document))
                    .where("new_source", address ? "true" : "");
            int version = now.path("version").asInt(0);
            show(
                    output,
                    connection,
                    connection.api().ask(SettingCommand.expecting(put, version)).body());
            return Exit.DONE;
        }
    }
}
