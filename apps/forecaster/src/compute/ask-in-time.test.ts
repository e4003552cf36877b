import { expect, test } from '@jest/globals';
import { anyTargeting, type PlanLineItem } from '@longwave/events';
import { createCheck, readMs } from './ask-in-time.ts';
import type { ComputeThread } from './thread.ts';

/** A thread that answers one question after the other, each when it is told to. */
function createThread() {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  let last: Promise<unknown> = Promise.resolve();
  const ask = (question: { readonly workspaceId: string }, { left }: { readonly left?: AbortSignal }) => {
    const answered = last.then(() => {
      if (left?.aborted) throw new Error('nobody waits for the answer');
      begun.push(question.workspaceId);
      return new Promise<void>((resolve) => ends.push(resolve));
    });
    last = answered.catch(() => undefined);
    return answered;
  };
  return { begun, ends, thread: { ask } as unknown as ComputeThread };
}

const settled = async () => {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
};
const line = { targeting: anyTargeting } as PlanLineItem;

test('many questions of one workspace keep another one waiting for one of them, and those of a caller who left are not begun', async () => {
  const { begun, ends, thread } = createThread();
  const check = createCheck(thread);
  const left = new AbortController();
  const ask = (workspaceId: string, signal = new AbortController().signal) =>
    check({ type: 'availability', workspaceId, line, deadlineMs: readMs }, signal).catch(() => undefined);
  const asked = [ask('ws_many'), ask('ws_many', left.signal), ask('ws_many'), ask('ws_one')];
  await settled();
  left.abort();
  for (let turn = 0; turn < 3; turn++) {
    ends[turn]!();
    await settled();
  }
  await Promise.all(asked);
  expect(begun).toEqual(['ws_many', 'ws_one', 'ws_many']);
});

test('a workspace whose question outlasted its caller lets all others go first that wait; one that left before its turn keeps it', async () => {
  const { begun, ends, thread } = createThread();
  const check = createCheck(thread);
  const ask = (workspaceId: string, signal = new AbortController().signal) =>
    check({ type: 'availability', workspaceId, line, deadlineMs: readMs }, signal).catch(() => undefined);
  const left = new AbortController();
  const asked = [ask('ws_slow', left.signal), ask('ws_slow'), ask('ws_unlucky', left.signal), ask('ws_unlucky')];
  asked.push(ask('ws_one'), ask('ws_one'));
  await settled();
  left.abort();
  for (const end of [0, 1, 2, 3, 4]) {
    await settled();
    ends[end]!();
  }
  await Promise.all(asked);
  expect(begun).toEqual(['ws_slow', 'ws_one', 'ws_unlucky', 'ws_one', 'ws_slow']);
});

test('two workspaces whose questions outlasted their callers do not wait for each other for ever', async () => {
  const { begun, ends, thread } = createThread();
  const check = createCheck(thread);
  const asked = ['ws_0', 'ws_1'].flatMap((workspaceId) => {
    const left = new AbortController();
    const ask = (signal: AbortSignal) =>
      check({ type: 'availability', workspaceId, line, deadlineMs: readMs }, signal).catch(() => undefined);
    return [
      { left, end: ask(left.signal) },
      { left, end: ask(new AbortController().signal) },
    ];
  });
  for (const end of [0, 1, 2, 3]) {
    await settled();
    asked[2 * end]?.left.abort();
    ends[end]!();
  }
  await Promise.all(asked.map((one) => one.end));
  expect(begun.toSorted()).toEqual(['ws_0', 'ws_0', 'ws_1', 'ws_1']);
});
