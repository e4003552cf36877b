import { AsyncLocalStorage, createHook } from 'node:async_hooks';
import { subscribe, unsubscribe } from 'node:diagnostics_channel';
import type { IncomingMessage } from 'node:http';
import { Redis } from 'ioredis';
import pg from 'pg';

/** The work that one request causes, in the order in which it begins. */
interface RequestWork {
  readonly route: string;
  readonly steps: string[];
}

/** The name of a statement, else its text. */
const statementOf = (query: unknown) =>
  typeof query === 'string' ? query : ((query as { name?: string }).name ?? (query as { text: string }).text);

/** Watches the hashes of passwords, the statements and the commands of Redis that requests to servers of this process cause. */
export function watchRequests() {
  const running = new AsyncLocalStorage<RequestWork>();
  const seen: RequestWork[] = [];
  const note = (step: string) => void running.getStore()?.steps.push(step);

  const onRequest = (message: unknown) => {
    const { method, url } = (message as { request: IncomingMessage }).request;
    const work = { route: `${method} ${url}`, steps: [] };
    seen.push(work);
    running.enterWith(work);
  };
  subscribe('http.server.request.start', onRequest);
  const hashes = createHook({ init: (_id, type) => void (type === 'ARGON2REQUEST' && note('argon2')) }).enable();
  const { query } = pg.Client.prototype;
  const { sendCommand } = Redis.prototype;
  pg.Client.prototype.query = function (this: pg.Client, ...given: unknown[]) {
    note(`postgres ${statementOf(given[0])}`);
    return Reflect.apply(query, this, given);
  } as typeof query;
  Redis.prototype.sendCommand = function (this: Redis, ...given: Parameters<typeof sendCommand>) {
    note(`redis ${given[0].name}`);
    return Reflect.apply(sendCommand, this, given);
  };

  return {
    /** The steps of the newest request of a route. */
    stepsOf: (route: string) => seen.findLast((work) => work.route === route)!.steps,
    [Symbol.dispose]: () => {
      unsubscribe('http.server.request.start', onRequest);
      hashes.disable();
      pg.Client.prototype.query = query;
      Redis.prototype.sendCommand = sendCommand;
    },
  };
}
