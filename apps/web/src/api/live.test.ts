import { expect, test } from '@jest/globals';
import { createLive, type ChangeSource } from './live.ts';

function world(mayFollow: () => boolean = () => true) {
  let asked = 0;
  const sources: { hear: (data: object, type?: string) => void; source: ChangeSource; isClosed: boolean }[] = [];
  const timers: { readonly ms: number; readonly then: () => void; isForgotten: boolean }[] = [];
  const changes: string[] = [];
  const live = createLive({
    open: () => {
      const heard = new Map<string, (event: { readonly data: string }) => void>();
      const source: ChangeSource = {
        close: () => void (entry.isClosed = true),
        onopen: null,
        onerror: null,
        addEventListener: (type, then) => void heard.set(type, then),
      };
      const entry = {
        source,
        isClosed: false,
        hear: (data: object, type = 'revision') => heard.get(type)!({ data: JSON.stringify(data) }),
      };
      sources.push(entry);
      return source;
    },
    after: (ms, then) => {
      const timer = { ms, then, isForgotten: false };
      timers.push(timer);
      return () => void (timer.isForgotten = true);
    },
    onChange: (workspace, type, id) => changes.push(`${workspace} ${type} ${id}`),
    onMissed: (workspace) => changes.push(`${workspace} missed`),
    mayFollow: () => {
      asked += 1;
      return Promise.resolve(mayFollow());
    },
  });
  const pass = (ms: number) => {
    for (const timer of timers.filter((one) => one.ms === ms && !one.isForgotten)) {
      timer.isForgotten = true;
      timer.then();
    }
  };
  return { live, sources, changes, pass, asked: () => asked };
}

test('a tab has one stream, of the workspace that it shows', () => {
  const { live, sources, changes } = world();
  live.show('ws_1');
  live.show('ws_1');
  sources[0]!.hear({ subject: { type: 'line_items', id: 'li_1', version: 2 } });
  live.show('ws_2');
  expect(sources.map(({ isClosed }) => isClosed)).toEqual([true, false]);
  expect(changes).toEqual(['ws_1 line_items li_1']);
});

test('a stream that is lost comes back by itself, and everything is read anew; after ten seconds the page says so', () => {
  const { live, sources, changes, pass } = world();
  live.show('ws_1');
  sources[0]!.source.onopen!();
  sources[0]!.source.onerror!();
  expect([live.isSilent(), changes]).toEqual([false, []]);
  pass(10_000);
  expect(live.isSilent()).toBe(true);
  pass(2000);
  sources[1]!.source.onopen!();
  expect([live.isSilent(), changes, sources[0]!.isClosed]).toEqual([false, ['ws_1 missed'], true]);
});

const answered = () => new Promise((resolve) => setImmediate(resolve));

test('a stream that the server closes is not opened anew by who may not follow any more', async () => {
  const { live, sources, pass, asked } = world(() => false);
  live.show('ws_1');
  sources[0]!.source.onopen!();
  sources[0]!.hear({ code: 'unauthenticated' }, 'closed');
  await answered();
  pass(2000);
  expect([asked(), sources.length, sources[0]!.isClosed]).toEqual([1, 1, true]);
  pass(10_000);
  expect(live.isSilent()).toBe(true);
});

test('pauses grow up to a minute, and after three failures it is asked once whether the person may follow', async () => {
  const { live, sources, pass, asked } = world();
  live.show('ws_1');
  const opened = [];
  for (const pause of [2000, 4000, 8000, 16_000, 32_000, 64_000, 64_000]) {
    sources.at(-1)!.source.onerror!();
    await answered();
    pass(pause);
    opened.push(sources.length);
  }
  expect([opened, asked()]).toEqual([[2, 3, 4, 5, 6, 7, 8], 1]);
  sources.at(-1)!.source.onopen!();
  pass(30_000);
  sources.at(-1)!.source.onerror!();
  pass(2000);
  expect(sources).toHaveLength(9);
});

test('a workspace that is left while it is asked is followed no more', async () => {
  const { live, sources, pass } = world();
  live.show('ws_1');
  sources[0]!.hear({ code: 'service_unavailable' }, 'closed');
  live.stop();
  await answered();
  pass(2000);
  expect(sources).toHaveLength(1);
});
