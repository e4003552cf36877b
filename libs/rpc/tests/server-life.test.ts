import { expect, test } from '@jest/globals';
import { until } from '@longwave/test-kit';
import { Client, credentials, Metadata, status, type StatusObject } from '@grpc/grpc-js';
import { service as healthService } from 'grpc-health-check';
import { CallStreamServiceService, type CarryResponse } from '../src/generated/longwave/call/v1/call.ts';
import { ProbeServiceService } from '../src/generated/longwave/probe/v1/probe.ts';
import { connect, identities, cleanups, say, serveProbe } from './_support.ts';

const request = { storageKey: 'uploads/upl_1/a.mp3' };

test('the standard health service answers SERVING to any service of the installation', async () => {
  const server = await serveProbe(async () => say('probed'));
  const { ca, key, cert } = identities.analyticsSink;
  const client = new Client(`127.0.0.1:${server.port}`, credentials.createSsl(ca, key, cert), {
    'grpc.ssl_target_name_override': 'encoder',
  });
  cleanups.push(
    () => server.close(0),
    () => client.close(),
  );
  const { path, requestSerialize, responseDeserialize } = healthService['Check']!;
  const check = (name: string) =>
    new Promise<object>((resolve) =>
      client.makeUnaryRequest(path, requestSerialize, responseDeserialize, { service: name }, (error, answer) =>
        resolve(error ?? (answer as object)),
      ),
    );
  expect(await check('')).toMatchObject({ status: 'SERVING' });
  expect(await check('no.such.Service')).toMatchObject({ code: 5 });
});

test('draining lets running calls finish and refuses new ones', async () => {
  const started = Promise.withResolvers<void>();
  const finish = Promise.withResolvers<void>();
  const server = await serveProbe(async () => {
    started.resolve();
    await finish.promise;
    return say('finished');
  });
  const [caller, late] = [connect(server.port), connect(server.port)];
  cleanups.push(caller.close, late.close);
  const running = caller.probe(request, {});
  await started.promise;
  const closed = server.close();
  await expect(late.probe(request, { deadlineMs: 5_000 })).rejects.toMatchObject({ code: 'temporarily_unavailable' });
  finish.resolve();
  expect(await running).toEqual(say('finished'));
  await closed;
});

test('a call that exceeds the drain time is ended, its handler aborted, and the server closes', async () => {
  const started = Promise.withResolvers<AbortSignal>();
  const server = await serveProbe(async (_, { signal }) => {
    started.resolve(signal);
    return new Promise(() => undefined);
  });
  const caller = connect(server.port);
  cleanups.push(caller.close);
  const running = caller.probe(request, {}).catch((error: unknown) => error);
  const signal = await started.promise;
  await server.close(50);
  expect(await running).toMatchObject({ code: 'temporarily_unavailable' });
  expect(signal.aborted).toBe(true);
});

test('a caller finds the server again after it restarted on the same port', async () => {
  const first = await serveProbe(async () => say('first'));
  const caller = connect(first.port);
  cleanups.push(caller.close);
  expect(await caller.probe(request, {})).toEqual(say('first'));
  await first.close();
  await expect(caller.probe(request, {})).rejects.toMatchObject({ code: 'temporarily_unavailable' });

  const second = await serveProbe(async () => say('second'), `127.0.0.1:${first.port}`);
  cleanups.push(() => second.close(0));
  expect(await until(() => caller.probe(request, {}), { despiteErrors: true })).toEqual(say('second'));
});

test('a server whose port is taken does not start', async () => {
  const first = await serveProbe(async () => say('first'));
  cleanups.push(() => first.close(0));
  await expect(serveProbe(async () => say('second'), `127.0.0.1:${first.port}`)).rejects.toThrow();
});

/** A caller with a service certificate that speaks gRPC itself, and so may stay when it is asked to leave. */
function stubbornCaller(port: number) {
  const { ca, key, cert } = identities.management;
  const client = new Client(`127.0.0.1:${port}`, credentials.createSsl(ca, key, cert), {
    'grpc.ssl_target_name_override': 'encoder',
  });
  cleanups.push(() => client.close());
  return client;
}

test('a stream whose caller ignores that it was asked to leave is ended, and its calls under way with it', async () => {
  const handled = Promise.withResolvers<AbortSignal>();
  const server = await serveProbe(
    async (_, { signal }) => {
      handled.resolve(signal);
      return new Promise(() => undefined);
    },
    undefined,
    { maxConnectionAgeMs: 200, streamLeaveMs: 200 },
  );
  cleanups.push(() => server.close(0));
  const { path, requestSerialize, responseDeserialize } = CallStreamServiceService.carry;
  const client = stubbornCaller(server.port);
  const stream = client.makeBidiStreamRequest(path, requestSerialize, responseDeserialize, new Metadata(), {});
  const answers: CarryResponse[] = [];
  stream.on('data', (answer: CarryResponse) => answers.push(answer)).on('error', () => undefined);
  const ended = new Promise<StatusObject>((resolve) => stream.on('status', resolve));
  const call = {
    method: ProbeServiceService.probe.path,
    request: Buffer.alloc(0),
    leftMs: undefined,
    cancelled: false,
  };
  stream.write({ calls: [{ ...call, id: 1, principalStatement: '', traceparent: '', tracestate: '' }] });
  expect(await ended).toMatchObject({ code: status.UNAVAILABLE });
  expect(answers).toMatchObject([{ closing: true }]);
  expect((await handled.promise).aborted).toBe(true);
});

test('a connection whose calls do not end is closed after its age and grace', async () => {
  const handled = Promise.withResolvers<AbortSignal>();
  const server = await serveProbe(
    async (_, { signal }) => {
      handled.resolve(signal);
      return new Promise(() => undefined);
    },
    undefined,
    { maxConnectionAgeMs: 200, connectionGraceMs: 200 },
  );
  cleanups.push(() => server.close(0));
  const { path, requestSerialize, responseDeserialize } = ProbeServiceService.probe;
  const client = stubbornCaller(server.port);
  const failure = await new Promise((resolve) =>
    client.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, resolve),
  );
  expect(failure).toMatchObject({ code: status.UNAVAILABLE });
  expect((await handled.promise).aborted).toBe(true);
});
