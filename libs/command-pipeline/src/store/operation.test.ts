import { describe, expect, test } from '@jest/globals';
import { productCatalog } from '@longwave/command-catalog';
import fc from 'fast-check';
import {
  isTransition,
  nextSafeAction,
  nextSafeActions,
  operationStates,
  operationView,
  type OperationState,
  type RunningWork,
} from './operation.ts';

const state = fc.constantFrom(...operationStates);
const work = fc.record({ isCancellable: fc.boolean(), isSentOutside: fc.boolean() });
const terminal: readonly OperationState[] = ['succeeded', 'failed', 'cancelled'];

/** The table of the Management API, written out a second time. */
const table = [
  'accepted → running',
  'accepted → waiting_review',
  'accepted → succeeded',
  'accepted → failed',
  'accepted → cancelled',
  'waiting_review → running',
  'waiting_review → failed',
  'waiting_review → cancelled',
  'running → waiting_review',
  'running → succeeded',
  'running → failed',
];

describe('the states of an operation', () => {
  test('follow each other as the table says, and running work is cancelled only if it can be and nothing was sent outside', () => {
    fc.assert(
      fc.property(state, state, work, (from, to, how) => {
        const isCancellation = from === 'running' && to === 'cancelled';
        expect(isTransition(from, to, how)).toBe(
          isCancellation ? how.isCancellable && !how.isSentOutside : table.includes(`${from} → ${to}`),
        );
      }),
    );
  });

  test('never change once they are terminal, whatever is tried', () => {
    fc.assert(
      fc.property(state, fc.array(fc.tuple(state, work)), (first, attempts) => {
        let now = first;
        let ended: OperationState | undefined = terminal.includes(now) ? now : undefined;
        for (const [to, how] of attempts) {
          if (isTransition(now, to, how)) now = to;
          if (ended) expect(now).toBe(ended);
          if (terminal.includes(now)) ended ??= now;
        }
      }),
    );
  });

  test('that are terminal can be reached from every other one', () => {
    const every: RunningWork = { isCancellable: true, isSentOutside: false };
    for (const from of operationStates.filter((each) => !terminal.includes(each))) {
      const reached = new Set<OperationState>([from]);
      for (const each of reached) for (const to of operationStates) if (isTransition(each, to, every)) reached.add(to);
      expect([...reached]).toEqual(expect.arrayContaining([...terminal]));
    }
  });
});

test('what a client does next is one of the declared actions, and an unclear outcome at a provider is reconciled first', () => {
  const provider = fc.option(
    fc.record({
      external_receipt: fc.option(fc.string()),
      ambiguity: fc.constantFrom('none' as const, 'unknown' as const, 'conflicting' as const),
    }),
    { nil: undefined },
  );
  const problem = fc.option(
    fc.record({ code: fc.constantFrom('internal_error', 'review_declined'), detail: fc.string() }),
    { nil: undefined },
  );
  fc.assert(
    fc.property(state, provider, problem, fc.boolean(), (at, outside, found, endsSubject) => {
      const action = nextSafeAction(
        { state: at, ...(outside && { provider: outside }), ...(found && { problem: found }) },
        endsSubject,
      );
      expect(nextSafeActions).toContain(action);
      const isUnclear = outside !== undefined && outside.ambiguity !== 'none' && at !== 'succeeded';
      expect(action === 'reconcile_provider').toBe(isUnclear);
      if (!isUnclear) expect(action === 'poll').toBe(at === 'accepted' || at === 'running');
    }),
  );
});

describe('the view of an operation', () => {
  const facts = {
    id: 'op_1',
    workspace_id: 'ws_1',
    command_type: 'advertiser.revise',
    subject: { type: 'advertisers', id: 'adv_1', version: 2 },
    receipt_id: 'rcp_1',
    created_at: '2026-11-23T12:00:00.000Z',
    updated_at: '2026-11-23T12:00:00.000Z',
  };
  const { advertisers } = productCatalog.resources;
  const { 'advertiser.revise': revise, 'advertiser.archive': archive } = productCatalog.commands;

  test('names what was made, once it succeeded, and when to ask again until it ended', () => {
    expect(operationView({ ...facts, state: 'succeeded' }, revise, advertisers)).toEqual({
      ...facts,
      state: 'succeeded',
      result: facts.subject,
      next_safe_action: 'read_subject',
    });
    const waiting = operationView({ ...facts, state: 'accepted' }, revise, advertisers);
    expect(waiting).toEqual({ ...facts, state: 'accepted', next_safe_action: 'poll', retry_after_s: 2 });
  });

  test('names another result than the subject where the work made one', () => {
    const result = { type: 'campaigns', id: 'cmp_2' };
    expect(operationView({ ...facts, state: 'succeeded', result }, revise, advertisers).result).toEqual(result);
  });

  test('sends the client to the receipt when the command ended its subject', () => {
    expect(operationView({ ...facts, state: 'succeeded' }, archive, advertisers).next_safe_action).toBe('read_receipt');
  });

  test('of a command that the catalog no longer has is still readable', () => {
    expect(operationView({ ...facts, state: 'failed' }, undefined, undefined).next_safe_action).toBe(
      'repair_and_reissue',
    );
  });
});
