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

/** A class of trials that runs once on each store, with a server of its own, and ends with the invariants. */
@ParameterizedClass(name = "{0}")
@ArgumentsSource(OnBothStores.Stages.class)
public abstract class OnBothStores {
    protected final ServerFixture stage;

    protected OnBothStores(ServerFixture stage) {
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
            return Arrays.stream(StoreKind.values()).map(ServerFixture::new).map(Arguments::of);
        }
    }
}
