/** The script of the page on which uploads are tested: the queue with pauses of milliseconds for seconds, and a field for its file. */
import { grants } from '../src/api/upload/grants.ts';
import { createUploadQueue } from '../src/api/upload/queue.ts';
import { browserConditions } from '../src/api/upload/tries.ts';
import { openUploadStore } from '../src/api/upload/upload-state.ts';

/** The test chooses who is signed in by the address. */
const store = openUploadStore(async () => location.hash);
const uploads = createUploadQueue({
  store,
  grants,
  conditions: { ...browserConditions, wait: (ms, signal, cause) => browserConditions.wait(ms / 1000, signal, cause) },
  locks: navigator.locks,
  now: () => performance.now(),
});
const phases: string[] = [];
uploads.subscribe(() => {
  const phase = uploads.current()[0]?.phase ?? 'gone';
  if (phases.at(-1) !== phase) phases.push(phase);
});
const field = document.querySelector('input')!;
field.onchange = () => void uploads.add(field.files![0]!, { target: 'ep_1', group: 'pod_1' });

/** What the test asks. */
const page = {
  uploads,
  phases,
  storedParts: async () => (await store.all()).flatMap(({ etags }) => Object.keys(etags).map(Number)),
};
Object.assign(globalThis, { page });
await uploads.restore();
document.title = 'ready';
