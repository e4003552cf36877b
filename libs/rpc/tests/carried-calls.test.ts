import { once } from 'node:events';
import { setTimeout as pause } from 'node:timers/promises';
import { expect, test } from '@jest/globals';
import { Client, credentials, Metadata, Server, ServerCredentials, status } from '@grpc/grpc-js';
import { Problem } from '@longwave/problems';
import { until } from '@longwave/test-kit';
import fc from 'fast-check';
import {
  CallStreamServiceService,
  type Call,
  type CarryRequest,
  type CarryResponse,
} from '../src/generated/longwave/call/v1/call.ts';
import { ProbeServiceService } from '../src/generated/longwave/probe/v1/probe.ts';
import { streamedMethods } from '../src/streamed-methods.ts';
import {
  connect,
  countRequestsAlone,
  identities,
  cleanups,
  say,
  serveProbe,
  startProbeServer,
  type ProbeHandler,
} from './_support.ts';

/** An encoder with this handler, and a caller whose calls travel on the stream. */
async function carrying(probe: ProbeHandler, tls = identities.management) {
  const server = await serveProbe(probe);
  const caller = connect(server.port, tls, 'calls on the stream');
  cleanups.push(() => server.close(0), caller.close);
  await caller.streaming();
  return { server, ...caller };
}

/** What a call ended with, without the private cause. */
const outcomeOf = (call: Promise<unknown>) =>
  call.then(
    (answer) => ({ answer }),
    (error: unknown) =>
      error instanceof Problem
        ? { ...error.context, code: error.code, text: error.message, cause: undefined }
        : { error },
  );

/** What the handler of the mixed calls is told to do, as the key of the file. */
type Wish = { readonly does: 'answer' | 'refuse' | 'fail' | 'hang'; readonly afterMs: number; readonly length: number };

const fulfil: ProbeHandler = async ({ storageKey }, { signal, principalStatement }) => {
  const { does, afterMs, length } = JSON.parse(storageKey) as Wish;
  await pause(afterMs);
  if (does === 'refuse')
    throw new Problem('version_conflict', 'Läs om.', { status: 409, retryAfterSeconds: length % 7 });
  if (does === 'fail') throw new Error('private');
  if (does === 'hang') await once(signal, 'abort');
  return say(`${principalStatement} ${'x'.repeat(length)}`);
};

test('any mix of calls gives what the same calls give by themselves', async () => {
  const { server, probe } = await carrying(fulfil);
  const alone = connect(server.port);
  cleanups.push(alone.close);
  const wish = fc.record({
    does: fc.constantFrom<Wish['does']>('answer', 'answer', 'answer', 'refuse', 'fail', 'hang'),
    afterMs: fc.integer({ min: 0, max: 30 }),
    length: fc.oneof(fc.integer({ min: 0, max: 500 }), fc.integer({ min: 60_000, max: 400_000 })),
  });
  const call = fc.record({
    wish,
    ends: fc.constantFrom('deadline', 'signal', 'past', 'aborted'),
    statement: fc.constantFrom(undefined, 'a.b.c'),
  });
  const send = (
    caller: typeof alone.probe,
    { wish, ends, statement }: typeof call extends fc.Arbitrary<infer C> ? C : never,
  ) => {
    const request = { storageKey: JSON.stringify(wish) };
    const principalStatement = statement;
    if (ends === 'past') return caller(request, { principalStatement, deadline: new Date(Date.now() - 1) });
    if (ends === 'aborted') return caller(request, { principalStatement, signal: AbortSignal.abort() });
    // Calls that hang end by their own way; no other call comes near these times.
    if (wish.does !== 'hang') return caller(request, { principalStatement, deadlineMs: 30_000 });
    return ends === 'deadline'
      ? caller(request, { principalStatement, deadlineMs: 100 })
      : caller(request, { principalStatement, signal: AbortSignal.timeout(100) });
  };
  await fc.assert(
    fc.asyncProperty(fc.array(call, { minLength: 1, maxLength: 80 }), async (calls) => {
      const outcomes = (caller: typeof alone.probe) => Promise.all(calls.map((one) => outcomeOf(send(caller, one))));
      expect(await outcomes(probe)).toEqual(await outcomes(alone.probe));
    }),
    { numRuns: 15 },
  );
  expect(
    await countRequestsAlone(() =>
      probe({ storageKey: JSON.stringify({ does: 'answer', afterMs: 0, length: 1 }) }, {}),
    ),
  ).toBe(0);
});

test('a call whose request is long travels by itself', async () => {
  const { probe } = await carrying(async ({ storageKey }) => say(String(storageKey?.length)));
  const long = { storageKey: 'x'.repeat(200_000) };
  expect(await countRequestsAlone(async () => expect(await probe(long, {})).toEqual(say('200000')))).toBe(1);
});

test('a call that is answered late holds up none of those behind it', async () => {
  const release = Promise.withResolvers<void>();
  const { probe } = await carrying(async ({ storageKey }) => {
    if (storageKey === 'slow') await release.promise;
    return say(storageKey);
  });
  const slow = probe({ storageKey: 'slow' }, {});
  const others = Array.from({ length: 300 }, (_, nth) => `call ${nth}`);
  expect(await Promise.all(others.map((storageKey) => probe({ storageKey }, {})))).toEqual(others.map(say));
  release.resolve();
  expect(await slow).toEqual(say('slow'));
});

test('each call on a stream is judged by the allow-list of its own method', async () => {
  let calls = 0;
  const probe = async () => say(String((calls += 1)));
  const [allowed, stranger] = [await carrying(probe), await carrying(probe, identities.analyticsSink)];
  expect(await allowed.probe({ storageKey: '' }, {})).toEqual(say('1'));
  await expect(allowed.prepareArtwork({ storageKey: '' }, {})).rejects.toMatchObject({ code: 'permission_denied' });
  await expect(stranger.probe({ storageKey: '' }, {})).rejects.toMatchObject({ code: 'permission_denied' });
  expect(calls).toBe(1);
});

test('of more calls than may be under way the surplus is refused at once, and all others are answered', async () => {
  const release = Promise.withResolvers<void>();
  const { probe } = await carrying(async () => {
    await release.promise;
    return say('late');
  });
  const calls = Array.from({ length: 1_100 }, () => outcomeOf(probe({ storageKey: '' }, {})));
  const refused = { code: 'temporarily_unavailable', retryAfterSeconds: 1 };
  for (const call of calls.slice(1_000)) expect(await call).toMatchObject(refused);
  release.resolve();
  for (const call of calls.slice(0, 1_000)) expect(await call).toEqual({ answer: say('late') });
  expect(await probe({ storageKey: '' }, {})).toEqual(say('late'));
});

/** A caller of the stream itself, which is not bound to what our client does. */
function openRaw(port: number) {
  const { ca, key, cert } = identities.management;
  const client = new Client(`127.0.0.1:${port}`, credentials.createSsl(ca, key, cert), {
    'grpc.ssl_target_name_override': 'encoder',
  });
  const { path, requestSerialize, responseDeserialize } = CallStreamServiceService.carry;
  const stream = client.makeBidiStreamRequest<CarryRequest, CarryResponse>(
    ...([path, requestSerialize, responseDeserialize, new Metadata(), {}] as const),
  );
  stream.on('error', () => undefined);
  const opened = once(stream, 'metadata');
  opened.catch(() => undefined);
  const ended = new Promise<{ readonly code: status }>((resolve) => stream.once('status', resolve));
  cleanups.push(
    () => client.close(),
    () => stream.cancel(),
  );
  return { stream, opened, ended };
}

const callOf = (id: number, method: string = ProbeServiceService.probe.path): Call => ({
  ...{ id, cancelled: false, method, request: Buffer.alloc(0), leftMs: 60_000 },
  ...{ principalStatement: '', traceparent: '', tracestate: '' },
});

test('a caller that reads no answers gets no further calls served', async () => {
  let served = 0;
  const large = say('x'.repeat(20_000));
  const server = await serveProbe(async () => {
    served++;
    return large;
  });
  cleanups.push(() => server.close(0));
  const { stream, opened } = openRaw(server.port);
  await opened;
  let answered = 0;
  let reads = false;
  // It takes one message: grpc-js reads without end for a stream from which nothing was ever read.
  stream.on('data', ({ answers }: CarryResponse) => {
    answered += answers.length;
    if (!reads) stream.pause();
  });
  let id = 0;
  const frame = () => ({ calls: Array.from({ length: 10 }, () => callOf(++id)) });
  for (let frames = 0; frames < 100; frames++) {
    stream.write(frame());
    await pause(5);
  }
  await until(() => served > 0);
  let before = -1;
  await until(async () => {
    const isStill = served === before;
    before = served;
    await pause(100);
    return isStill;
  });
  expect(served).toBeLessThan(700);
  reads = true;
  stream.resume();
  await until(() => answered === 1_000);
  stream.end();
});

test.each<[string, readonly Call[]]>([
  ['an id that is under way', [callOf(1), callOf(1)]],
  ['more calls in one message than agreed', Array.from({ length: 65 }, (_, id) => callOf(id))],
])('a caller that sends %s loses its stream, and its calls are aborted', async (_sent, calls) => {
  const signals: AbortSignal[] = [];
  const server = await serveProbe((_request, { signal }) => {
    signals.push(signal);
    return new Promise(() => undefined);
  });
  cleanups.push(() => server.close(0));
  const { stream, opened, ended } = openRaw(server.port);
  stream.resume();
  await opened;
  stream.write({ calls: [...calls] });
  expect((await ended).code).toBe(status.INVALID_ARGUMENT);
  await until(() => signals.every(({ aborted }) => aborted));
});

test('a method that the server does not have is answered like a service of an earlier release, and the stream ends when all are answered', async () => {
  const server = await serveProbe(() => pause(20, say('here')));
  cleanups.push(() => server.close(0));
  const { stream, opened, ended } = openRaw(server.port);
  const answers: CarryResponse['answers'] = [];
  stream.on('data', (message: CarryResponse) => answers.push(...message.answers));
  await opened;
  stream.write({ calls: [callOf(1, '/longwave.probe.v1.ProbeService/Later'), callOf(2)] });
  stream.end();
  await until(() => answers.length === 2);
  expect(answers.map(({ id, outcome }) => [id, outcome?.$case])).toEqual([
    [1, 'failure'],
    [2, 'response'],
  ]);
  expect(answers[0]!.outcome!.value).toMatchObject({ code: status.UNIMPLEMENTED });
  expect((await ended).code).toBe(status.OK);
});

test('when the server goes in the middle of a stream, every call under way settles, and later calls work', async () => {
  const hang: ProbeHandler = () => new Promise(() => undefined);
  const { server, probe } = await carrying(hang);
  const calls = Array.from({ length: 50 }, () => outcomeOf(probe({ storageKey: '' }, {})));
  await pause(50);
  await server.close(0);
  for (const call of calls) expect(await call).toMatchObject({ code: 'temporarily_unavailable' });
  const next = await serveProbe(async () => say('second'), `127.0.0.1:${server.port}`);
  cleanups.push(() => next.close(0));
  const again = () => probe({ storageKey: '' }, {});
  expect(await until(again, { despiteErrors: true })).toEqual(say('second'));
  await until(async () => (await countRequestsAlone(again)) === 0);
});

test('when the server is killed in the middle of a stream, every call settles, none is handled twice, and later calls work', async () => {
  const killed = await startProbeServer();
  cleanups.push(killed.kill);
  const caller = connect(killed.port, identities.management, 'calls on the stream');
  cleanups.push(caller.close);
  await caller.streaming();
  const ask = (storageKey: string) => outcomeOf(caller.probe({ storageKey }, {}));
  const hanging = Array.from({ length: 50 }, (_, nth) => ask(`hang ${nth}`));
  const outcomes = new Map<string, Awaited<ReturnType<typeof ask>>>();
  const askUntilAway = async (lane: number) => {
    for (let nth = 0; ; nth++) {
      const key = `${lane}.${nth}`;
      const outcome = await ask(key);
      outcomes.set(key, outcome);
      if (!('answer' in outcome)) return;
    }
  };
  const asking = Array.from({ length: 10 }, (_, lane) => askUntilAway(lane));
  await until(() => killed.handled().length > 300);
  await killed.kill();
  const outage = { code: 'temporarily_unavailable', retryAfterSeconds: 1 };
  for (const call of hanging) expect(await call).toMatchObject(outage);
  await Promise.all(asking);
  for (const [key, outcome] of outcomes)
    if ('answer' in outcome) expect(outcome.answer).toEqual(say(key));
    else expect(outcome).toMatchObject(outage);

  const handled: string[] = [];
  const next = await serveProbe(async ({ storageKey }) => {
    handled.push(storageKey);
    return say('second');
  }, `127.0.0.1:${killed.port}`);
  cleanups.push(() => next.close(0));
  const again = () => caller.probe({ storageKey: 'later' }, {});
  expect(await until(again, { despiteErrors: true })).toEqual(say('second'));
  await until(async () => (await countRequestsAlone(again)) === 0);
  expect(new Set(handled)).toEqual(new Set(['later']));
  const before = killed.handled();
  expect(new Set(before).size).toBe(before.length);
  for (let nth = 0; nth < hanging.length; nth++) expect(before).toContain(`hang ${nth}`);
});

test('a server that closes answers the calls under way on a stream, refuses later ones, and ends', async () => {
  const release = Promise.withResolvers<void>();
  const { server, probe } = await carrying(async () => {
    await release.promise;
    return say('finished');
  });
  const calls = Array.from({ length: 50 }, () => probe({ storageKey: '' }, {}));
  await pause(50);
  let isClosed = false;
  const closed = server.close().then(() => (isClosed = true));
  await until(
    async () => (await countRequestsAlone(() => outcomeOf(probe({ storageKey: '' }, { deadlineMs: 500 })))) === 1,
  );
  await expect(probe({ storageKey: '' }, { deadlineMs: 5_000 })).rejects.toMatchObject({
    code: 'temporarily_unavailable',
  });
  expect(isClosed).toBe(false);
  release.resolve();
  for (const call of calls) expect(await call).toEqual(say('finished'));
  await closed;
});

test('a channel that is closed answers its calls under way and leaves the server free to close', async () => {
  const { server, probe, close } = await carrying(async () => {
    await pause(50);
    return say('finished');
  });
  const call = probe({ storageKey: '' }, {});
  close();
  expect(await call).toEqual(say('finished'));
  await server.close(60_000);
});

test('a server of an earlier release, which has no stream, gets the calls by themselves', async () => {
  const { ca, cert, key } = identities.encoder;
  const server = new Server();
  let streamsAsked = 0;
  const { carry: _unknown, ...definition } = { ...ProbeServiceService, carry: CallStreamServiceService.carry };
  server.addService(definition, {
    probe: (_call: unknown, answer: (error: null, value: unknown) => void) => answer(null, say('old')),
    prepareArtwork: () => undefined,
  });
  const port = await new Promise<number>((resolve, reject) =>
    server.bindAsync(
      '127.0.0.1:0',
      ServerCredentials.createSsl(ca, [{ cert_chain: cert, private_key: key }], true),
      (error, bound) => (error ? reject(error) : resolve(bound)),
    ),
  );
  const caller = connect(port, identities.management, 'calls on the stream');
  cleanups.push(() => server.forceShutdown(), caller.close);
  const { makeBidiStreamRequest } = Client.prototype;
  Client.prototype.makeBidiStreamRequest = function (this: Client, ...sent: unknown[]) {
    streamsAsked++;
    return Reflect.apply(makeBidiStreamRequest, this, sent) as never;
  };
  cleanups.push(() => (Client.prototype.makeBidiStreamRequest = makeBidiStreamRequest));
  const ask = () => caller.probe({ storageKey: '' }, {});
  for (let nth = 0; nth < 20; nth++) expect(await ask()).toEqual(say('old'));
  expect(streamsAsked).toBe(1);
  // It is tried again later: the server may have been replaced.
  await until(async () => {
    await ask();
    return streamsAsked > 1;
  });
});

test('the methods that share a stream are unary methods of our services', async () => {
  const services = await Promise.all([
    import('../src/generated/longwave/serving/v1/serving.ts').then((all) => all.ServingServiceService),
    import('../src/generated/longwave/credential/v1/credential.ts').then((all) => all.CredentialServiceService),
    import('../src/generated/longwave/resource/v1/resource.ts').then((all) => all.ResourceServiceService),
    import('../src/generated/longwave/resource/v1/resource.ts').then((all) => all.OperationServiceService),
  ]);
  const unary = services.flatMap((service) =>
    Object.values(service).flatMap(({ path, responseStream }) => (responseStream ? [] : [path as string])),
  );
  for (const path of streamedMethods) expect(unary).toContain(path);
});
