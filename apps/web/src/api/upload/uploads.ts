import { grants } from './grants.ts';
import { createUploadQueue } from './queue.ts';
import { browserConditions } from './tries.ts';
import { openUploadStore } from './upload-state.ts';

/** The uploads of this tab. */
export const uploads = createUploadQueue({
  store: openUploadStore(),
  grants,
  conditions: browserConditions,
  locks: navigator.locks,
  now: () => performance.now(),
});

addEventListener('beforeunload', (event) => {
  if (uploads.isBusy()) event.preventDefault();
});
void uploads.restore().catch(() => undefined);
