package dev.semel.admission;

/** The quota of a trigger's sender. A charge throws if the quota is used up. */
public interface TriggerQuota {
    TriggerQuota NONE = new TriggerQuota() {
        @Override
        public boolean limitsFresh() {
            return false;
        }

        @Override
        public void chargeFresh() {}

        @Override
        public void chargeRepeat() {}
    };

    /** Whether it limits fresh triggers. A key in use is then found before the quota is charged. */
    boolean limitsFresh();

    /** Charges one fresh trigger. */
    void chargeFresh();

    /** Charges one repeat, which has its own quota. */
    void chargeRepeat();
}
