import { EventEmitter } from 'node:events';
import { afterEach, beforeEach, expect, jest, test } from '@jest/globals';
import type { Question, Reply, Request, ThreadData } from './question.ts';
import { createComputeThread } from './thread.ts';

/** A worker that says of questions what it is told to say. */
class Told extends EventEmitter {
  readonly requests: Request[] = [];
  isEnded = false;
  postMessage(request: Request): void {
    this.requests.push(request);
  }
  async terminate(): Promise<number> {
    this.isEnded = true;
    return 0;
  }
  say(id: number, end: 'begun' | 'answered'): void {
    const reply: Reply = end === 'begun' ? { id, end } : { id, end, answer: { asOfMs: id, plans: [] } };
    this.emit('message', reply);
  }
  /** Numbers of the questions that it was asked, and of those that nobody waits for any more. */
  asked = () => this.requests.flatMap((request) => ('question' in request ? [request.id] : []));
  abandoned = () => this.requests.flatMap((request) => ('abandoned' in request ? [request.id] : []));
}

const question = (workspaceId: string): Question => ({ type: 'plans', workspaceId, deadlineMs: 1 });

/** A thread, the workers that it has started, and questions of sellers who leave when they are told to. */
function createThread() {
  const workers: Told[] = [];
  const thread = createComputeThread({} as ThreadData, () => {
    const worker = new Told();
    workers.push(worker);
    return worker as never;
  });
  const end = async (answer: Promise<unknown>) =>
    answer.then(() => 'answered').catch((error: Error) => error.message || error.name);
  const ask = (workspaceId: string) => {
    const [left, ended] = [new AbortController(), new AbortController()];
    return { left, ended, end: end(thread.ask(question(workspaceId), { left: left.signal, ended: ended.signal })) };
  };
  return { workers, ask };
}

beforeEach(() => {
  jest.useFakeTimers({ doNotFake: ['nextTick', 'queueMicrotask'] });
});
afterEach(() => {
  jest.useRealTimers();
});

test('what is computed for somebody who has left is kept when it ends within 30 s; later the thread is ended, and those who wait are asked again, nobody else', async () => {
  const { workers, ask } = createThread();
  const asked = ['ws_0', 'ws_1', 'ws_2', 'ws_0'].map(ask);
  const first = workers[0]!;
  first.say(0, 'begun');
  jest.advanceTimersByTime(10_000);
  asked[0]!.left.abort();
  jest.advanceTimersByTime(29_000);
  first.say(0, 'answered');
  expect([await asked[0]!.end, first.isEnded]).toEqual(['answered', false]);

  first.say(1, 'begun');
  asked[1]!.left.abort();
  asked[2]!.left.abort();
  jest.advanceTimersByTime(29_999);
  expect(first.isEnded).toBe(false);
  jest.advanceTimersByTime(1);
  expect([first.isEnded, workers.length, workers[1]!.asked()]).toEqual([true, 2, [3]]);
  expect([await asked[1]!.end, await asked[2]!.end]).toEqual(['TookTooLong', 'nobody waits for the answer']);
  workers[1]!.say(3, 'answered');
  expect(await asked[3]!.end).toBe('answered');
});

test('a minute counts from the begin of the computing, however long a question has waited for its turn', async () => {
  const { workers, ask } = createThread();
  const [slow, waiting] = [ask('ws_0'), ask('ws_1')];
  const first = workers[0]!;
  first.say(0, 'begun');
  jest.advanceTimersByTime(59_000);
  first.say(0, 'answered');
  first.say(1, 'begun');
  jest.advanceTimersByTime(55_000);
  waiting.left.abort();
  jest.advanceTimersByTime(4_999);
  expect([await slow.end, first.isEnded]).toEqual(['answered', false]);
  jest.advanceTimersByTime(1);
  expect([await waiting.end, first.isEnded]).toEqual(['TookTooLong', true]);
  ask('ws_2');
  workers[1]!.say(2, 'begun');
  jest.advanceTimersByTime(60_000);
  expect(workers[1]!.isEnded).toBe(true);
});

test('a question that is ended before it is computed ends alone: the thread goes on with the others, and with nothing of it', async () => {
  const { workers, ask } = createThread();
  const [other, one, late] = [ask('ws_0'), ask('ws_1'), ask('ws_2')];
  const first = workers[0]!;
  first.say(0, 'begun');
  one.ended.abort(new Error('too late'));
  expect([await one.end, first.isEnded, first.abandoned()]).toEqual(['too late', false, [1]]);
  first.say(0, 'answered');
  expect(await other.end).toBe('answered');
  // It has begun with one before it heard of the end.
  first.say(1, 'begun');
  expect([first.isEnded, workers[1]!.asked()]).toEqual([true, [2]]);
  workers[1]!.say(2, 'begun');
  late.ended.abort(new Error('ended'));
  expect([await late.end, workers[1]!.isEnded]).toEqual(['ended', true]);
});
