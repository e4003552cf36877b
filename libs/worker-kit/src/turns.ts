import { setImmediate as otherWork } from 'node:timers/promises';

/** Work goes on for so long before others have the event loop. */
const turnMs = 4;

/** Called between two pieces of long work: lets others have the event loop once a turn is over. */
export function createTurns(): () => Promise<void> {
  let beganMs = performance.now();
  return async () => {
    if (performance.now() - beganMs < turnMs) return;
    await otherWork();
    beganMs = performance.now();
  };
}
