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
    private TestStoreClient desk = unopened();

    abstract StoreFixture place();

    @BeforeEach
    void open() {
        desk = new TestStoreClient(place());
    }

    @Override
    public TestStoreClient desk() {
        return desk;
    }

    @AfterEach
    void check() {
        desk.close();
    }

    @SuppressWarnings("NullAway") // set before each test
    private static TestStoreClient unopened() {
        return null;
    }
}
