package dev.semel.store;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/**
 * What every store does. The rules stand in the interfaces, a chapter each; a store only says where it is. No rule is
 * left out for one of them.
 */
abstract class StoreContract
        implements AdmissionWriteRules,
                UniqueKeyRules,
                ReappliedBatchRules,
                OwnershipRules,
                StoreCommandRules,
                RolloutRules,
                CatalogRules,
                IdempotentCommandRules,
                RetentionRules,
                StoreQueryRules,
                LimitRules,
                CompleteListRules,
                LedgerRules,
                SuspensionRules,
                SignalRules,
                KeyedSignalRules,
                ReviewRules,
                StartConditionRules,
                DebounceRules,
                WorkerRules,
                SettingRules,
                ScheduleRules,
                ReplayRules,
                ResumeRules,
                EventRules,
                DeliveryRules,
                MetricRules,
                UserTransactionRules {
    private TestStoreClient client = unopened();

    abstract StoreFixture place();

    @BeforeEach
    void open() {
        client = new TestStoreClient(place());
    }

    @Override
    public TestStoreClient client() {
        return client;
    }

    @AfterEach
    void check() {
        client.close();
    }

    @SuppressWarnings("NullAway") // set before each test
    private static TestStoreClient unopened() {
        return null;
    }
}
