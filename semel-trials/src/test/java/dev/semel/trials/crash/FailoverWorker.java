package dev.semel.trials.crash;

import dev.semel.engine.EngineLimits;
import dev.semel.engine.run.WorkflowCatalog;
import dev.semel.error.SemelException;
import dev.semel.http.HttpEffectClient;
import dev.semel.runtime.RunHandle;
import dev.semel.runtime.RuntimeOptions;
import dev.semel.runtime.SemelRuntime;
import dev.semel.workflow.Start;
import dev.semel.workflow.Workflow;
import java.io.BufferedReader;
import java.io.IOException;
import java.io.InputStreamReader;
import java.net.URI;
import java.net.http.HttpRequest;
import java.net.http.HttpRequest.BodyPublishers;
import java.nio.charset.StandardCharsets;
import java.sql.Connection;
import java.sql.PreparedStatement;
import java.time.Duration;
import java.util.Objects;

/**
 * A worker in a process of its own. Each line it reads is a key; it answers with the key, {@code ok} and the run, or
 * {@code no} and why. Arguments: the store, the receiver.
 */
final class FailoverWorker {
    static final String TABLE = "CREATE TABLE failover_row (name text NOT NULL)";
    private static final Duration LEASE = Duration.ofSeconds(3);

    private FailoverWorker() {}

    public static void main(String[] args) throws IOException {
        WorkflowCatalog.VersionCompiler noFiles = version -> {
            throw new WorkflowCatalog.WorkflowNotRegistered(version.name(), version.workflowId());
        };
        RuntimeOptions settings = RuntimeOptions.of(args[0], noFiles).withLimits(EngineLimits.DEFAULT.withLease(LEASE));
        try (SemelRuntime semel = SemelRuntime.open(settings);
                HttpEffectClient http = HttpEffectClient.standard()) {
            Workflow<String, String> flow = flow(http, args[1]);
            semel.register(flow);
            say("ready\t"
                    + Objects.requireNonNull(semel.workerStatus().durability()).summary());
            BufferedReader lines = new BufferedReader(new InputStreamReader(System.in, StandardCharsets.UTF_8));
            for (String line = lines.readLine(); line != null; line = lines.readLine()) {
                String key = line;
                Thread.ofVirtual().start(() -> say(trigger(semel, flow, key)));
            }
        }
    }

    private static String trigger(SemelRuntime semel, Workflow<String, String> flow, String key) {
        try {
            RunHandle<String> run = semel.start(flow, key, Start.withKey(key));
            return key + "\tok\t" + run.id();
        } catch (SemelException e) {
            return key + "\tno\t" + e.code();
        } catch (RuntimeException e) {
            return key + "\tbroken\t" + e.toString().replace('\n', ' ');
        }
    }

    private static Workflow<String, String> flow(HttpEffectClient http, String receiver) {
        return Workflow.define("failover", String.class, String.class).body((ctx, key) -> {
            ctx.step("before", String.class, _ -> "before");
            URI url = URI.create(receiver + "/dedupe/answers/" + key);
            String receipt = ctx.effect("pay")
                    .providerHonoursKey(Duration.ofHours(1))
                    .call(
                            String.class,
                            step -> http.send(step, HttpRequest.newBuilder(url).POST(BodyPublishers.ofString("pay")))
                                    .asString());
            ctx.tx("row", String.class, (sql, _) -> insert(sql, key));
            return receipt;
        });
    }

    private static String insert(Connection sql, String key) throws Exception {
        try (PreparedStatement insert = sql.prepareStatement("INSERT INTO failover_row (name) VALUES (?)")) {
            insert.setString(1, key);
            insert.executeUpdate();
        }
        return "inserted";
    }

    private static synchronized void say(String line) {
        System.out.println(line);
        System.out.flush();
    }
}
