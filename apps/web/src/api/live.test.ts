import { expect, test } from '@jest/globals';
import { createLive, type ChangeSource } from './live.ts';

function world() {
  const sources: { readonly hear: (data: object) => void; source: ChangeSource; isClosed: boolean }[] = [];
  const timers: { readonly ms: number; readonly then: () => void; isForgotten: boolean }[] = [];
  const changes: string[] = [];
  const live = createLive({
    open: () => {
      let listener: (event: { readonly data: string }) => void = () => undefined;
      const source: ChangeSource = {
        close: () => void (entry.isClosed = true),
        onopen: null,
        onerror: null,
        addEventListener: (type, then) => void (type === 'revision' && (listener = then)),
      };
      const entry = { source, isClosed: false, hear: (data: object) => listener({ data: JSON.stringify(data) }) };
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
  });
  const pass = (ms: number) => {
    for (const timer of timers.filter((one) => one.ms === ms && !one.isForgotten)) {
      timer.isForgotten = true;
      timer.then();
    }
  };
  return { live, sources, changes, pass };
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
