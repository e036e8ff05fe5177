package dev.semel.store;

import org.junit.jupiter.api.AfterEach;
import org.junit.jupiter.api.BeforeEach;

/**
 * What every store does. The rules stand in the interfaces, a chapter each; a store only says where it is. No rule is
 * left out for one of them.
 */
abstract class StoreContract
        implements AdmissionRules,
                NameRules,
                RepeatedRules,
                OwnerRules,
                ChangeRules,
                RolloutRules,
                CatalogRules,
                ReplyRules,
                SweepRules,
                ReadRules,
                LimitRules,
                LedgerRules,
                RestRules,
                SignalRules,
                LetterRules,
                ReviewRules,
                GateRules,
                QuietRules,
                WorkerRules,
                SettingRules,
                ScheduleRules,
                ReplayRules,
                ResumeRules,
                EventRules,
                DeliveryRules,
                FigureRules,
                TxRules {
    private Desk desk = unopened();

    abstract Place place();

    @BeforeEach
    void open() {
        desk = new Desk(place());
    }

    @Override
    public Desk desk() {
        return desk;
    }

    @AfterEach
    void check() {
        desk.close();
    }

    @SuppressWarnings("NullAway") // set before each test
    private static Desk unopened() {
        return null;
    }
}
