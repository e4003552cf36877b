/** Calls under way on one stream; more are refused at once, so that no queue grows without end. */
export const maxCallsUnderWay = 1_000;
/** A longer request travels by itself: others would wait behind it. */
export const maxCarriedRequestBytes = 64 * 1024;
/** Largest message of any kind. */
export const maxMessageBytes = 16 * 1024 * 1024;
/** The most that a timer waits. */
export const maxTimerMs = 2 ** 31 - 1;
