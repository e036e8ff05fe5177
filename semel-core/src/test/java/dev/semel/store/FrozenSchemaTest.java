package dev.semel.store;

import static org.junit.jupiter.api.Assertions.assertEquals;
import static org.junit.jupiter.api.Assertions.assertNotNull;
import static org.junit.jupiter.api.Assertions.assertTrue;

import dev.semel.effect.EffectLedger;
import dev.semel.run.RunId;
import dev.semel.run.RunState;
import dev.semel.store.jdbc.session.SchemaMigrations;
import java.io.IOException;
import java.io.InputStream;
import java.nio.charset.StandardCharsets;
import java.nio.file.Files;
import java.util.List;
import java.util.Objects;
import org.junit.jupiter.params.ParameterizedTest;
import org.junit.jupiter.params.provider.EnumSource;

/** Opens databases that V001 created. The files are frozen: a later version migrates them and reads the same rows. */
final class FrozenSchemaTest {
    private static final RunId RUN = new RunId(1_000_001, 7);

    private static byte[] frozen(String name) throws IOException {
        try (InputStream in = FrozenSchemaTest.class.getResourceAsStream("/dev/semel/store/" + name)) {
            return Objects.requireNonNull(in, name).readAllBytes();
        }
    }

    private static StoreFixture open(Dialect dialect) throws IOException {
        StoreFixture fixture = dialect.open();
        if (fixture instanceof SqliteStoreFixture file) {
            Files.createDirectories(Objects.requireNonNull(file.file().getParent()));
            Files.write(file.file(), frozen("v001.db"));
        } else {
            fixture.execute(new String(frozen("v001-postgres.sql"), StandardCharsets.UTF_8));
        }
        return fixture;
    }

    @ParameterizedTest
    @EnumSource
    void a_database_that_v001_created_opens_and_its_run_reads_back(Dialect dialect) throws IOException {
        try (StoreFixture fixture = open(dialect)) {
            assertEquals(1, fixture.number("SELECT number FROM semel_migration WHERE number = 1"), "it is one of V001");
            try (WorkflowStore store = fixture.store();
                    StoreQueries reads = store.openQueries()) {
                assertEquals(SchemaMigrations.ALL.size(), fixture.count("semel_migration"));
                DatabaseRows.WorkspaceRow workspace = reads.workspace("one");
                assertNotNull(workspace);
                DatabaseRows.RunRow run = reads.run(workspace.ws(), RUN);
                assertNotNull(run);
                assertEquals(RunState.COMPLETED, run.state());
                assertEquals("wf_one", run.workflowId());
                assertEquals("{\"a\":1}", run.input());
                assertEquals(
                        "{\"ok\":true}",
                        Objects.requireNonNull(run.end()).result().output());
                assertEquals(
                        List.of("[]"),
                        reads.journal(RUN).stream()
                                .map(StoreQueries.JournalChunk::entries)
                                .toList());
                assertEquals(
                        List.of(RUN),
                        reads.keyRecords(workspace.ws(), "order-1").stream()
                                .map(held -> held.keyRecord().run())
                                .toList());
                EffectLedger.EffectRow effect = reads.effects(RUN).getFirst();
                assertEquals(EffectLedger.EffectState.DONE, effect.state());
                assertNotNull(effect.result());
                DatabaseRows.VersionRow version = reads.version("wf_one", 1);
                assertNotNull(version);
                assertTrue(version.body().contains("one"), version.body());
            }
            Invariants.check(fixture);
        }
    }
}
