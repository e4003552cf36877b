import { expect, test } from '@jest/globals';
import { until } from '@longwave/test-kit';
import { Client, credentials } from '@grpc/grpc-js';
import { service as healthService } from 'grpc-health-check';
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
