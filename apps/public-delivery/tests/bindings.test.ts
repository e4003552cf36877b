import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { newId } from '@longwave/ids';
import { createBindings } from '../src/play/bindings.ts';
import { createKnownArrangements } from '../src/play/known-arrangements.ts';
import { findArrangement, type Binding, type NewArrangement } from '../src/play/play-table.ts';
import { arrangementOf } from './_arrangement.ts';
import { openBench, type Bench } from './_support.ts';

let bench: Bench;
beforeAll(async () => {
  bench = await openBench();
});
afterAll(() => bench.stop());

/** What one process has. */
function openNode() {
  const statements: string[] = [];
  const pool = new Proxy(bench.pool, {
    get: (target, name) => {
      if (name !== 'query') return Reflect.get(target, name, target) as unknown;
      return (asked: { name: string; text: string }) => {
        statements.push(asked.name);
        return target.query(asked);
      };
    },
  });
  const arrangements = createKnownArrangements(pool);
  return { bindings: createBindings(pool, arrangements), arrangements, statements };
}
const bindingOf = (listenerKey: string, arrangementId: string, sequence = 0): Binding => ({
  ...{ listenerKey, episodeId: 'ep_1', sequence, arrangementId, ads: {} },
  ...{ decisionId: newId('dec'), startedAt: new Date(1_767_225_600_000 + sequence) },
});
const listeners = (count: number) => Array.from({ length: count }, () => newId('lst'));

test('a hundred listeners at once are one question and one statement, and each has what was bound to it', async () => {
  const { bindings, statements, arrangements } = openNode();
  const [one, two] = ['Bound', 'Bound too'].map(arrangementOf) as [NewArrangement, NewArrangement];
  const wanted = listeners(100).map((key, at) => {
    const arrangement = at % 2 ? one : two;
    return [arrangement, bindingOf(key, arrangement.id)] as const;
  });
  const held = await Promise.all(wanted.map(([arrangement, binding]) => bindings.bind(arrangement, binding)));
  expect(held).toEqual(wanted.map(([, binding]) => binding));
  const found = await Promise.all(wanted.map(([, { listenerKey }]) => bindings.findLatest([listenerKey], 'ep_1')));
  expect(found).toEqual(held);
  expect(statements).toEqual(['save_bindings', 'latest_bindings']);
  expect(await findArrangement(bench.pool, one.id)).toEqual(await arrangements.find(one.id));
});

test('of two processes that bind the same listeners at once exactly one holds for each, and both are told which', async () => {
  const [first, second] = [openNode(), openNode()];
  const [one, two] = ['Here', 'There'].map(arrangementOf);
  const keys = listeners(150);
  const [here, there] = await Promise.all([
    Promise.all(keys.map((key) => first.bindings.bind(one!, bindingOf(key, one!.id)))),
    Promise.all(keys.toReversed().map((key) => second.bindings.bind(two!, bindingOf(key, two!.id)))),
  ]);
  expect(here).toEqual(there.toReversed());
  const { rowCount } = await bench.pool.query('select from binding where listener_key = any($1)', [keys]);
  expect(rowCount).toBe(keys.length);
});

test('of several keys and bindings the newest is found, and none where there is none', async () => {
  const { bindings } = openNode();
  const arrangement = arrangementOf('Newest');
  const [old, current, unknown] = listeners(3) as [string, string, string];
  await bindings.bind(arrangement, bindingOf(old, arrangement.id, 7));
  for (const sequence of [0, 1]) await bindings.bind(arrangement, bindingOf(current, arrangement.id, sequence));
  const asked: [string[], string][] = [
    [[current, old], 'ep_1'],
    [[current], 'ep_1'],
    [[unknown], 'ep_1'],
    [[current], 'ep_2'],
  ];
  const found = await Promise.all(asked.map((each) => bindings.findLatest(...each)));
  expect(found.map((each) => each && [each.listenerKey, each.sequence])).toEqual([
    [old, 7],
    [current, 1],
    undefined,
    undefined,
  ]);
});

test('an arrangement that is known to be stored is not sent again', async () => {
  const { bindings, arrangements } = openNode();
  const arrangement = arrangementOf('Once');
  const [one, two] = listeners(2) as [string, string];
  await bindings.bind(arrangement, bindingOf(one, arrangement.id));
  expect(arrangements.has(arrangement.id)).toBe(true);
  // What would be refused is not sent.
  const unsendable = { ...arrangement, workspaceId: '\0' };
  await expect(bindings.bind(unsendable, bindingOf(two, arrangement.id))).resolves.toBeDefined();
});
