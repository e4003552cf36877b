import { randomBytes } from 'node:crypto';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { findResource } from '@longwave/command-pipeline';
import { newId } from '@longwave/ids';
import { Problem } from '@longwave/problems';
import { until } from '@longwave/test-kit';
import { startJobRunner } from '../src/background/job-runner.ts';
import { createEraseListenersHandler, type ErasureOptions } from '../src/workspace/privacy/erase-listeners.ts';
import { privacyRequest, requestedErasure } from './_examples-privacy.ts';
import { refusalOf, startTestManagement, type TestManagement } from './_management.ts';
import { digest, jobOf } from './_values.ts';
import { createWorld, type World } from './_world.ts';

let management: TestManagement;
beforeAll(async () => {
  management = await startTestManagement();
});
afterAll(async () => management[Symbol.asyncDispose]());

const key = () => randomBytes(32).toString('hex');

/** The three services with a listener each, which answer as their own tests prove; `calls` names what they were asked. */
function createStores(decisions: Readonly<Record<string, string>> = {}) {
  const calls: [store: string, listeners: readonly string[]][] = [];
  const collected = new Map<string, string[]>();
  const erased = new Set<string>();
  const bound = new Map(Object.entries(decisions));
  const stores: Pick<ErasureOptions, 'bindings' | 'listeners' | 'serving'> = {
    bindings: {
      findListeners: async ({ decisionIds }) => ({
        listeners: decisionIds.flatMap((decisionId) => {
          const listenerKey = bound.get(decisionId);
          return listenerKey === undefined ? [] : [{ decisionId, listenerKey }];
        }),
      }),
      eraseListeners: async ({ listenerKeys }) => {
        calls.push(['bindings', listenerKeys]);
        for (const [decision, listener] of bound) if (listenerKeys.includes(listener)) bound.set(decision, key());
        return { bindings: 2n };
      },
    },
    serving: {
      forgetListeners: async ({ listenerBuckets }) => {
        calls.push(['serving', listenerBuckets.map((bytes) => Buffer.from(bytes).toString('hex'))]);
        return { records: 0n, sampledPlays: 0n };
      },
    },
    listeners: {
      collectListeners: async ({ erasureId, listenerKeys }) => {
        if (!collected.has(erasureId)) collected.set(erasureId, listenerKeys);
        return { listenerKeys: erased.has(erasureId) ? [] : collected.get(erasureId)! };
      },
      eraseListeners: async ({ erasureId }) => {
        calls.push(['listeners', erased.has(erasureId) ? [] : collected.get(erasureId)!]);
        erased.add(erasureId);
        return {
          erased: [
            { table: 'fact', rows: 7n },
            { table: 'session', rows: 0n },
          ],
          keptListeners: 1,
        };
      },
    },
  };
  return { ...stores, calls };
}

/** Runs jobs of erasures until the subject has ended. */
async function runErasure(
  w: World,
  id: string,
  stores: Pick<ErasureOptions, 'bindings' | 'listeners' | 'serving'>,
  maxAttempts?: number,
) {
  const handler = createEraseListenersHandler({ ...management, ...stores });
  await using _runner = startJobRunner({
    ...management,
    handlers: { erase_listeners: maxAttempts === undefined ? handler : { ...handler, maxAttempts } },
    onError: () => undefined,
    pollMs: 20,
    backOffMs: () => 1,
  });
  return await until('the end of the erasure', async () => {
    const erasure = await findResource(management.pool, w.workspaceId, 'listener_erasures', id);
    return erasure?.lifecycle_state === 'erased' || erasure?.lifecycle_state === 'failed' ? erasure : undefined;
  });
}

describe('an erasure', () => {
  test('asks every store for the listeners that are named and those of decisions, and says what they did', async () => {
    const w = createWorld(management);
    const [decided, unknown] = [newId('dec'), newId('dec')];
    const listener = key();
    const stores = createStores({ [decided]: listener });
    const { id } = await requestedErasure(w, { decision_ids: [decided, unknown] });
    const erasure = await runErasure(w, id, stores);
    expect(stores.calls).toEqual([
      ['serving', [digest.slice(0, 32), listener.slice(0, 32)]],
      ['bindings', [digest, listener]],
      ['listeners', [digest, listener]],
    ]);
    expect(erasure.attributes).toEqual({
      ...{ ...privacyRequest, decision_ids: [decided, unknown] },
      erased: [
        { store: 'public-delivery', table: 'binding', rows: 2 },
        { store: 'analytics-sink', table: 'fact', rows: 7 },
      ],
      ...{ unknown_decisions: 1, kept_listeners: 1, finished_at: expect.any(String) },
    });
    expect(JSON.stringify(erasure)).not.toContain(listener);
    expect(await jobOf(management.pool, id)).toMatchObject({ state: 'done' });
    const { rows } = await management.pool.query<{ state: string }>(
      `select state from operation where subject_id = $1 and command_type = 'listener_data.erase'`,
      [id],
    );
    expect(rows).toEqual([{ state: 'succeeded' }]);
  });

  test.each(['serving', 'bindings', 'listeners'] as const)(
    'that is killed after the step of %s goes on with the same listeners',
    async (lost) => {
      const w = createWorld(management);
      const decision = newId('dec');
      const listener = key();
      const stores = createStores({ [decision]: listener });
      let isKilled = false;
      /** The step is done, and nobody hears of it. */
      const killed = async <T>(step: Promise<T>): Promise<T> => {
        const answer = await step;
        if (isKilled) return answer;
        isKilled = true;
        throw new Problem('temporarily_unavailable');
      };
      const { serving, bindings, listeners } = stores;
      const { id } = await requestedErasure(w, { decision_ids: [decision], listener_keys: undefined });
      const erasure = await runErasure(w, id, {
        serving:
          lost === 'serving' ? { forgetListeners: (...all) => killed(serving.forgetListeners(...all)) } : serving,
        bindings:
          lost === 'bindings'
            ? { ...bindings, eraseListeners: (...all) => killed(bindings.eraseListeners(...all)) }
            : bindings,
        listeners:
          lost === 'listeners'
            ? { ...listeners, eraseListeners: (...all) => killed(listeners.eraseListeners(...all)) }
            : listeners,
      });
      expect(erasure.lifecycle_state).toBe('erased');
      const asked = new Set(
        stores.calls.filter(([, keys]) => keys.length > 0).map(([store, [first]]) => `${store} ${first}`),
      );
      expect(asked).toEqual(
        new Set([`serving ${listener.slice(0, 32)}`, `bindings ${listener}`, `listeners ${listener}`]),
      );
      expect(erasure.attributes).toMatchObject({ unknown_decisions: 0 });
    },
  );

  test('fails with a reason when a store stays away, and can be sent again', async () => {
    const w = createWorld(management);
    const stores = createStores();
    const away = { forgetListeners: () => Promise.reject(new Problem('temporarily_unavailable')) };
    const { id } = await requestedErasure(w);
    const erasure = await runErasure(w, id, { ...stores, serving: away }, 2);
    expect([erasure.lifecycle_state, erasure.attributes.problem?.code]).toEqual(['failed', 'erasure_gave_up']);
    const again = await requestedErasure(w);
    expect((await runErasure(w, again.id, stores)).lifecycle_state).toBe('erased');
  });

  test('that a person asks for waits for two others', async () => {
    const w = createWorld(management);
    const outcome = await management.execute(
      {
        ...{ workspaceId: w.workspaceId, commandType: 'listener_data.erase', idempotencyKey: newId('req') },
        ...{ subject: { type: 'listener_erasures', id: null, version: 0 }, changes: privacyRequest },
      },
      w.actor,
    );
    expect(JSON.parse(outcome.operationJson)).toMatchObject({ state: 'waiting_review', review: { declared: 'dual' } });
    expect(outcome.resource).toBeUndefined();
  });
});

test.each([
  ['an address of the network', { request_reference: '203.0.113.7' }],
  ['an address of a person', { request_reference: 'ada@example.org' }],
  ['an address in place of a key', { listener_keys: ['203.0.113.7'] }],
  ['nobody', { listener_keys: undefined }],
])('a request that names %s is refused and leaves nothing', async (_, changes) => {
  const w = createWorld(management);
  expect((await refusalOf(requestedErasure(w, changes))).code).toBe('validation_failed');
  const { rowCount } = await management.pool.query('select from resource where workspace_id = $1', [w.workspaceId]);
  expect(rowCount).toBe(0);
});
