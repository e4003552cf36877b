import { readFileSync } from 'node:fs';
import path from 'node:path';
import { freePort, startChild, workspaceRoot, type Child } from '@longwave/fleet';
import { until } from '@longwave/test-kit';
import { guaranteed, playOf, preroll, type Engines, type ServingClient } from './_support.ts';

/** A process of the service. */
export interface ServingProcess {
  readonly child: Child;
  readonly client: ServingClient;
  /** Lines of the log that have a word. */
  logged(word: string): readonly string[];
  /** Ends it in an orderly way. */
  stop(): Promise<void>;
}

/** Starts a process, and waits until it takes plays. */
export async function startServingProcess(engines: Engines): Promise<ServingProcess> {
  const port = await freePort();
  const name = `serving-${port}`;
  const logFile = path.join(engines.folder, `${name}.log`);
  const child = await startChild({
    ...{ name, logFile, command: process.execPath, cwd: workspaceRoot, stopSignal: 'SIGTERM' },
    args: [path.join(workspaceRoot, 'apps/internal-serving/src/main.ts')],
    env: { ...engines.environment(), GRPC_LISTEN: `127.0.0.1:${port}` },
    pidFolder: path.join(engines.folder, 'pids'),
  });
  const logged = (word: string) =>
    readFileSync(logFile, 'utf8')
      .split('\n')
      .filter((line) => line.includes(word));
  await until(`the start of ${name}`, () => logged('"service.started"').length > 0 || !child.isRunning());
  const client = engines.clientAs('public-delivery', port);
  return {
    ...{ child, client, logged },
    async stop() {
      client.close();
      await child.stop();
    },
  };
}

/** Longest time a listener waits for an answer here, before another process is asked for the same decision. */
const patienceMs = 1_000;

/** What listeners were given while it ran. */
export interface ServingLoad {
  /** Slots of a line item that were answered so far. */
  given(lineItemId: string): number;
  /** The longest time without an answered slot of a line item since the load began, or since this was asked before. */
  longestPauseMs(lineItemId: string): number;
  /** Decisions with the line items of their slots, as they were answered. */
  readonly answers: ReadonlyMap<string, readonly string[]>;
  stop(): Promise<void>;
}

const breaks = [preroll, { ...preroll, key: 'post', position: 'post' }];

/**
 * Plays at all processes, some at a time. One that does not answer is asked again at the next process under the same id, as public-delivery does.
 * @param processes those that take plays now, asked before each play
 */
export function startLoad(workspaceId: string, processes: () => readonly ServingProcess[], listeners = 4): ServingLoad {
  const answers = new Map<string, readonly string[]>();
  const given = new Map<string, { slots: number; lastAtMs: number; pauseMs: number }>();
  let [isOver, turn] = [false, 0];
  const startedMs = performance.now();
  const ofLine = (lineItemId: string) => {
    const known = given.get(lineItemId) ?? { slots: 0, lastAtMs: startedMs, pauseMs: 0 };
    given.set(lineItemId, known);
    return known;
  };
  const ask = async (request: ReturnType<typeof playOf>) => {
    const all = processes();
    const { client } = all[turn++ % all.length]!;
    return client.decide(request, { deadlineMs: patienceMs }).catch(() => undefined);
  };
  const playing = Array.from({ length: listeners }, async () => {
    while (!isOver) {
      const request = playOf(workspaceId, { breaks, listenerBucket: Buffer.alloc(0) });
      let answer = await ask(request);
      while (!answer) answer = await ask(request);
      const lineItems = answer.picks.map((pick) => pick.lineItemId);
      answers.set(request.decisionId, lineItems);
      const nowMs = performance.now();
      for (const lineItemId of lineItems) {
        const line = ofLine(lineItemId);
        line.pauseMs = Math.max(line.pauseMs, nowMs - line.lastAtMs);
        line.lastAtMs = nowMs;
        line.slots++;
      }
    }
  });
  return {
    answers,
    given: (lineItemId) => ofLine(lineItemId).slots,
    longestPauseMs(lineItemId) {
      const line = ofLine(lineItemId);
      const pauseMs = Math.max(line.pauseMs, performance.now() - line.lastAtMs);
      line.pauseMs = 0;
      line.lastAtMs = performance.now();
      return pauseMs;
    },
    async stop() {
      isOver = true;
      await Promise.all(playing);
    },
  };
}

/** A line item whose slots are given as soon as possible, at one position. */
export const bookedAt = (position: 'pre' | 'post', quantity: number) => ({
  ...guaranteed(quantity),
  break_positions: [position],
});
