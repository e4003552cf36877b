import { expect, test } from '@jest/globals';
import { anyTargeting } from '@longwave/events';
import { createCheck } from './ask-in-time.ts';
import type { ComputeThread } from './thread.ts';

/** A thread that answers one question after the other, each when it is told to. */
function createThread() {
  const begun: string[] = [];
  const ends: (() => void)[] = [];
  let last: Promise<unknown> = Promise.resolve();
  const ask = (question: { readonly workspaceId: string }, _signal: AbortSignal, left?: AbortSignal) => {
    const answered = last.then(() => {
      if (left?.aborted) return;
      begun.push(question.workspaceId);
      return new Promise<void>((resolve) => ends.push(resolve));
    });
    last = answered;
    return answered;
  };
  return { begun, ends, thread: { ask } as unknown as ComputeThread };
}

const settled = async () => {
  for (let turn = 0; turn < 20; turn++) await Promise.resolve();
};
const line = { targeting: anyTargeting } as Parameters<ReturnType<typeof createCheck>>[0]['line'];

test('many questions of one workspace keep another one waiting for one of them, and those of a caller who left are not begun', async () => {
  const { begun, ends, thread } = createThread();
  const check = createCheck(thread);
  const left = new AbortController();
  const ask = (workspaceId: string, signal = new AbortController().signal) =>
    check({ type: 'availability', workspaceId, line }, signal).catch(() => undefined);
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
