package dev.semel.server.world;

import dev.semel.Semel;
import dev.semel.server.channel.ChannelReader;
import dev.semel.server.settings.Settings;
import dev.semel.server.steps.Digests;
import dev.semel.server.steps.JavaStep;
import dev.semel.server.steps.Messages;
import dev.semel.server.steps.Outside;
import dev.semel.server.steps.People;
import java.util.Map;
import org.jspecify.annotations.Nullable;

/** The outside world of one workspace. */
public final class World implements Outside {
    private final Mailroom mailroom;
    private final Register register;
    private final Gatherings gatherings;
    private final Means means;

    /**
     * What is the same for all workspaces.
     *
     * @param allowsSql whether files may run SQL in the store's database
     * @param javaSteps by their names
     */
    public record Means(boolean allowsSql, Map<String, JavaStep> javaSteps) {
        public Means {
            javaSteps = Map.copyOf(javaSteps);
        }
    }

    public World(Semel semel, Settings settings, ChannelReader.Ports ports, int workspace, Means means) {
        this.mailroom = new Mailroom(settings, ports, workspace);
        this.register = new Register(semel, settings, workspace);
        this.gatherings = new Gatherings(semel, workspace);
        this.means = means;
    }

    @Override
    public boolean allowsSql() {
        return means.allowsSql();
    }

    @Override
    public Messages messages() {
        return mailroom;
    }

    @Override
    public People people() {
        return register;
    }

    @Override
    public Digests digests() {
        return gatherings;
    }

    @Override
    public @Nullable JavaStep java(String name) {
        return means.javaSteps().get(name);
    }
}
