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

/** `hooks create | list | rotate | deliveries | reprocess | test | remove`. */
@Command(
        name = "hooks",
        description = "Takes webhooks of providers: proves them, and starts the workflows that want their events.",
        footerHeading = "%nExamples:%n",
        footer = {
            "  semel hooks create stripe --preset stripe --secret stripe_signing",
            "  semel hooks test stripe                   a signed sample, twice",
            "  semel hooks deliveries stripe             what came, and what became of it"
        })
final class HooksCommand implements Callable<Integer> {
    private static final SettingCommand.Sort SORT = new SettingCommand.Sort("hooks", "hooks", "name", "");

    @Spec
    @Nullable
    CommandSpec spec;

    static CommandLine commandLine(Surroundings around) {
        CommandLine remove = new CommandLine(new SettingCommand.Delete(around, SORT));
        return new CommandLine(new HooksCommand())
                .addSubcommand(new Create(around))
                .addSubcommand(new All(around))
                .addSubcommand(new Rotate(around))
                .addSubcommand(new HookTrial.Deliveries(around))
                .addSubcommand(new HookTrial.Reprocess(around))
                .addSubcommand(new HookTrial.Test(around))
                .addSubcommand("remove", remove);
    }

    @Override
    public Integer call() {
        if (spec == null) {
            throw new IllegalStateException("not wired");
        }
        throw new ParameterException(
                spec.commandLine(),
                "Say what to do: semel hooks create, list, rotate, deliveries, reprocess, test or remove.");
    }

    /** Where the provider posts to, and what there is to mind. */
    private static void show(Output output, Connection connection, JsonNode hook) {
        if (output.json) {
            output.document(hook);
            return;
        }
        output.line("hook " + Json.text(hook, "name") + " v" + Json.text(hook, "version"));
        output.line(connection.api().address() + Json.text(hook, "path"));
        for (JsonNode warning : hook.path("warnings")) {
            output.talk("warning: " + Json.clean(warning.asString("")));
        }
    }

    @Command(name = "create", description = "Makes a hook and prints the address to give to the provider.")
    static final class Create implements Callable<Integer> {
        @Mixin
        final Output output;

        @Mixin
        final Connection connection;

        @Parameters(paramLabel = "NAME", description = "The source of its events.")
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
                description = "The name of a secret, see `semel secret set`; several while one is rotated.")
        List<String> secrets = new ArrayList<>();

        @Option(
                names = "--signature-reuse",
                paramLabel = "POLICY",
                description = "flag, reject or allow a signature under another id, where ids are not signed.")
        String reuse = "";

        @Option(names = "--keep", paramLabel = "TIME", description = "How long payloads are kept, such as 7d.")
        String keep = "";

        @Option(names = "--bearer", description = "CloudEvents are proved by a bearer token, not by a signature.")
        boolean bearer;

        Create(Surroundings around) {
            this.output = new Output(around);
            this.connection = new Connection(around);
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

    @Command(name = "list", description = "Lists hooks with their addresses.")
    static final class All extends ListCommand {
        All(Surroundings around) {
            super(around);
        }

        @Override
        Sheet sheet() {
            return Sheet.of(
                            Call.get(Call.path("v1", "hooks")),
                            "hooks list",
                            "no hooks. Make one: semel hooks create NAME --preset stripe --secret SECRET")
                    .text("HOOK", "name")
                    .cell("PRESET", item -> Json.text(item.path("document"), "preset"))
                    .cell("SECRETS", item -> secrets(item.at("/document/secrets")))
                    .cell("ADDRESS", item -> connection.address() + Json.text(item, "path"));
        }

        private static String secrets(JsonNode list) {
            return list.valueStream()
                    .map(secret -> Json.clean(secret.asString("")))
                    .collect(Collectors.joining(", "));
        }
    }

    @Command(
            name = "rotate",
            description = "Believes another secret beside the newest one; with --address moves the hook instead.")
    static final class Rotate implements Callable<Integer> {
        @Mixin
        final Output output;

        @Mixin
        final Connection connection;

        @Parameters(paramLabel = "NAME")
        String name = "";

        @Option(names = "--secret", paramLabel = "SECRET", description = "The name of the secret that takes over.")
        String secret = "";

        @Option(names = "--only", description = "Believes the newest secret alone: the rotation is over.")
        boolean only;

        @Option(names = "--address", description = "Gives the hook another address; the old one is no more.")
        boolean address;

        @Spec
        @Nullable
        CommandSpec spec;

        Rotate(Surroundings around) {
            this.output = new Output(around);
            this.connection = new Connection(around);
        }

        @Override
        public Integer call() {
            if (secret.isEmpty() && !only && !address && spec != null) {
                throw new ParameterException(spec.commandLine(), "Say what to rotate: --secret, --only or --address.");
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
