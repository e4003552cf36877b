import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { until } from '@longwave/test-kit';
import { fixtures, startGateway, type GatewayUnderTest } from './_support.ts';

let gateway: GatewayUnderTest;
beforeAll(async () => {
  gateway = await startGateway();
});
afterAll(() => gateway[Symbol.asyncDispose]());

const { id } = fixtures['production_encoding']!;
const tick = (progress: number) => JSON.stringify({ production_id: id, progress, stage: 'encoding' });

interface Event {
  readonly event: string;
  readonly data: unknown;
}

/** Reads server-sent events one by one. */
async function* eventsOf(response: Response): AsyncGenerator<Event> {
  let text = '';
  for await (const part of response.body!.pipeThrough(new TextDecoderStream())) {
    text += part;
    for (let end = text.indexOf('\n\n'); end >= 0; end = text.indexOf('\n\n')) {
      const fields = new Map(
        text
          .slice(0, end)
          .split('\n')
          .map((line) => line.split(/: (.*)/s) as [string, string]),
      );
      text = text.slice(end + 2);
      if (fields.has('event')) yield { event: fields.get('event')!, data: JSON.parse(fields.get('data')!) };
    }
  }
}

const listeners = async () => Number((await gateway.redis.pubsub('NUMSUB', `progress:${id}`))[1]);

test('a client sees the state, the last tick, every change of progress and the end, and then the stream closes', async () => {
  await gateway.reset();
  await gateway.redis.set(`progress:${id}`, tick(0.25));
  const response = await gateway.get(`/productions/${id}/events`);
  expect(response.headers.get('content-type')).toBe('text/event-stream; charset=utf-8');
  const events = eventsOf(response);
  const next = async () => (await events.next()).value as Event | undefined;
  expect(await next()).toEqual({ event: 'state', data: { production_id: id, state: 'encoding' } });
  expect(await next()).toEqual({ event: 'progress', data: { production_id: id, progress: 0.25, stage: 'encoding' } });
  await until(async () => (await listeners()) === 1);
  for (const message of ['no json', tick(0.25), tick(0.5)]) await gateway.redis.publish(`progress:${id}`, message);
  expect(await next()).toEqual({ event: 'progress', data: { production_id: id, progress: 0.5, stage: 'encoding' } });
  gateway.scene.given = { states: { production_encoding: 'encoded' } };
  expect(await next()).toEqual({ event: 'state', data: { production_id: id, state: 'encoded' } });
  expect(await next()).toBeUndefined();
  await until(async () => (await listeners()) === 0);
});

test('a second try is shown from its own start: progress falls when the encoder begins again', async () => {
  await gateway.reset();
  const events = eventsOf(await gateway.get(`/productions/${id}/events`));
  await events.next();
  await until(async () => (await listeners()) === 1);
  for (const progress of [0.8, 0, 0.05]) await gateway.redis.publish(`progress:${id}`, tick(progress));
  for (const progress of [0.8, 0, 0.05])
    expect((await events.next()).value).toMatchObject({ event: 'progress', data: { progress } });
  await events.return(undefined);
});

test('the stream of a finished production sends its state and ends at once; of a failed one also the problem', async () => {
  await gateway.reset();
  const all = async (name: string) => {
    const events: Event[] = [];
    for await (const event of eventsOf(await gateway.get(`/productions/${fixtures[name]!.id}/events`)))
      events.push(event);
    return events;
  };
  expect(await all('production_encoded')).toMatchObject([{ event: 'state', data: { state: 'encoded' } }]);
  expect(await all('production_error')).toMatchObject([
    { event: 'state', data: { state: 'error', problem: { code: 'no_audio' } } },
  ]);
});

test('the progress of an encoding production is its last tick', async () => {
  await gateway.reset();
  await gateway.redis.set(`progress:${id}`, tick(0.75));
  expect(await (await gateway.get(`/productions/${id}`)).json()).toMatchObject({ state: 'encoding', progress: 0.75 });
});

test('a waiting production shows its place in the queue and when it is expected to begin and to end', async () => {
  await gateway.reset({ queuePlace: { position: 3, startsInMs: 60_000n, endsInMs: 90_000n } });
  const { queue } = (await (await gateway.get(`/productions/${id}`)).json()) as { queue: Record<string, unknown> };
  const at = (name: string) => Date.parse(String(queue[name]));
  expect(queue['position']).toBe(3);
  expect(at('estimated_end_at') - at('estimated_start_at')).toBe(30_000);
  const encoded = await gateway.get(`/productions/${fixtures['production_encoded']!.id}`);
  expect(await encoded.json()).not.toHaveProperty('queue');
});

test('a client that leaves is forgotten', async () => {
  await gateway.reset();
  const leaving = new AbortController();
  const response = await fetch(`${gateway.url}/api/v1/productions/${id}/events`, {
    headers: { Token: 'owner' },
    signal: leaving.signal,
  });
  await eventsOf(response).next();
  leaving.abort();
  await until(async () => (await listeners()) === 0);
});

test('a client that leaves before admission gets no stream', async () => {
  const admission = Promise.withResolvers<void>();
  await gateway.reset({ verifyAfter: admission.promise });
  const served = () => gateway.logLines.filter((line) => line.includes('"request.served"')).length;
  const before = served();
  const leaving = new AbortController();
  const request = gateway.get(`/productions/${id}/events`, 'owner', {}, leaving.signal);
  await until(async () => gateway.scene.verified === 1);
  leaving.abort();
  await expect(request).rejects.toThrow();
  await until(async () => served() === before + 1);
  admission.resolve();
  await until(async () => gateway.scene.deadlines.length === 1);

  const staying = eventsOf(await gateway.get(`/productions/${id}/events`));
  await staying.next();
  await staying.return(undefined);
  await until(async () => (await listeners()) === 0);
});

test('a stream ends by itself after a quarter of an hour, and may be opened again', async () => {
  await gateway.reset({ states: { production_encoding: 'initial' } });
  const open = async () => eventsOf(await gateway.get(`/productions/${id}/events`));
  const events = await open();
  expect((await events.next()).value).toMatchObject({ data: { state: 'initial' } });
  gateway.clock.now = new Date(gateway.clock.now.getTime() + 15 * 60_000);
  expect((await events.next()).done).toBe(true);
  const again = await open();
  expect((await again.next()).value).toMatchObject({ data: { state: 'initial' } });
  await again.return(undefined);
});

test('a credential has at most twenty streams open; what it closes it may open again', async () => {
  await gateway.reset();
  const open = (credential = 'owner') => gateway.get(`/productions/${id}/events`, credential);
  await until(async () => (await listeners()) === 0);
  const streams = [];
  for (let i = 0; i < 20; i++) {
    const stream = eventsOf(await open());
    await stream.next();
    streams.push(stream);
  }
  const refused = await open();
  expect([refused.status, await refused.text()]).toEqual([429, 'Throttled']);
  expect(Object.fromEntries(refused.headers)).toMatchObject({ 'ratelimit-remaining': '0', 'retry-after': '60' });
  const other = await open('viewer');
  expect(other.status).toBe(200);
  await other.body!.cancel();
  await streams.pop()!.return(undefined);
  await until(async () => {
    const { status, body } = await open();
    await body!.cancel();
    return status === 200;
  });
  for (const stream of streams) await stream.return(undefined);
});

test('a credential that is revoked meanwhile loses the stream within half a minute', async () => {
  await gateway.reset();
  const events = eventsOf(await gateway.get(`/productions/${id}/events`));
  await events.next();
  gateway.scene.given = { refused: true };
  gateway.clock.now = new Date(gateway.clock.now.getTime() + 30_000);
  expect((await events.next()).done).toBe(true);
});

test('HEAD answers the type and opens no stream', async () => {
  await gateway.reset();
  const response = await fetch(`${gateway.url}/api/v1/productions/${id}/events`, {
    method: 'HEAD',
    headers: { Token: 'owner' },
  });
  expect([response.status, response.headers.get('content-type')]).toEqual([200, 'text/event-stream; charset=utf-8']);
});

test('events of an invisible production are 404', async () => {
  await gateway.reset();
  const response = await gateway.get('/productions/pro_0000000000000000000000000z/events');
  expect([response.status, await response.json()]).toEqual([
    404,
    { code: 404, message: 'The production with id pro_0000000000000000000000000z could not be found.' },
  ]);
});
