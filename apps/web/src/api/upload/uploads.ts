import { fetchMe } from '../me.ts';
import { grants } from './grants.ts';
import { createOwner, grantsOf } from './owner.ts';
import { createUploadQueue } from './queue.ts';
import { browserConditions } from './tries.ts';
import { openUploadStore } from './upload-state.ts';

const owner = createOwner(async (signal) => (await fetchMe(signal)).owner);

/** The uploads of this tab. */
export const uploads = createUploadQueue({
  store: openUploadStore(owner.find),
  grants: grantsOf(owner, grants),
  conditions: browserConditions,
  locks: navigator.locks,
  now: () => performance.now(),
});

addEventListener('beforeunload', (event) => {
  if (uploads.isBusy()) event.preventDefault();
});
void uploads.restore().catch(() => undefined);
