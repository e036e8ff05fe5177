package dev.semel.trials.support;

import java.util.Arrays;
import java.util.stream.Stream;
import org.junit.jupiter.api.extension.ExtensionContext;
import org.junit.jupiter.params.AfterParameterizedClassInvocation;
import org.junit.jupiter.params.ParameterizedClass;
import org.junit.jupiter.params.provider.Arguments;
import org.junit.jupiter.params.provider.ArgumentsProvider;
import org.junit.jupiter.params.provider.ArgumentsSource;
import org.junit.jupiter.params.support.ParameterDeclarations;

/** The same as {@link OnBothStores} with `semel dev --demo`, whose steps and channels may call this machine. */
@ParameterizedClass(name = "{0}")
@ArgumentsSource(OnDevServers.Stages.class)
public abstract class OnDevServers {
    protected final ServerFixture stage;

    protected OnDevServers(ServerFixture stage) {
        this.stage = stage;
    }

    @AfterParameterizedClassInvocation
    static void the_invariants_hold(ServerFixture stage) {
        stage.end();
    }

    static final class Stages implements ArgumentsProvider {
        @Override
        public Stream<? extends Arguments> provideArguments(
                ParameterDeclarations parameters, ExtensionContext context) {
            return Arrays.stream(StoreKind.values())
                    .map(kind -> new ServerFixture(kind, true))
                    .map(Arguments::of);
        }
    }
}
