import { once } from 'node:events';
import { describe, expect, test } from '@jest/globals';
import { Client, credentials } from '@grpc/grpc-js';
import { Problem } from '@longwave/problems';
import { openChannel, type RpcContext, type Tls } from '../src/index.ts';
import { ProbeServiceService } from '../src/generated/longwave/probe/v1/probe.ts';
import {
  connect,
  foreignIdentity,
  identities,
  cleanups,
  say,
  serveProbe,
  ways,
  type ProbeHandler,
  type Way,
} from './_support.ts';

/** An encoder with this handler and a caller of it. */
async function pair(way: Way, probe: ProbeHandler, tls?: Tls) {
  const server = await serveProbe(probe);
  const caller = connect(server.port, tls, way);
  cleanups.push(() => server.close(0), caller.close);
  await caller.streaming();
  return { server, probe: caller.probe };
}

/** The problem a call ends with. */
async function problemOf(call: Promise<unknown>): Promise<Problem> {
  const error = await call.then(
    () => undefined,
    (reason: unknown) => reason,
  );
  expect(error).toBeInstanceOf(Problem);
  return error as Problem;
}

const request = { storageKey: 'uploads/upl_1/a.mp3' };

describe.each(ways)('%s', (way) => {
  test('an allowed caller reaches the handler, which knows it by its certificate', async () => {
    const seen: RpcContext[] = [];
    const { probe } = await pair(way, async ({ storageKey }, context) => {
      seen.push(context);
      return say(storageKey);
    });
    const deadline = new Date(Date.now() + 5_000);
    const answer = await probe(request, { principalStatement: 'signed.statement.text', deadline });
    expect(answer).toEqual(say(request.storageKey));
    expect(seen[0]).toMatchObject({ caller: 'management', principalStatement: 'signed.statement.text' });
    expect(Math.abs((seen[0]?.deadline.getTime() ?? 0) - deadline.getTime())).toBeLessThan(1_000);
  });

  test('a call without a statement arrives without one', async () => {
    const { probe } = await pair(way, async (_, { principalStatement }) => say(String(principalStatement)));
    expect(await probe(request, {})).toEqual(say('undefined'));
  });

  test('a service that is not on the allow-list is refused before the handler runs', async () => {
    let calls = 0;
    const { probe } = await pair(way, async () => say(String((calls += 1))), identities.analyticsSink);
    expect((await problemOf(probe(request, {}))).code).toBe('permission_denied');
    expect(calls).toBe(0);
  });

  test('a problem arrives whole: code, status, sentence, field errors, subject, operation and retry delay', async () => {
    const context = {
      status: 409,
      errors: [{ path: '/changes/title', code: 'too_small', detail: 'Ge en titel – “ett” räcker.' }],
      subject: { type: 'episodes', id: 'ep_1', version: 7 },
      operationId: 'op_1',
      retryAfterSeconds: 3,
    };
    const { server, probe } = await pair(way, async () => {
      throw new Problem('version_conflict', 'Läs om “Ett”, 50 % kvar.', { ...context, cause: new Error('row 17') });
    });
    const problem = await problemOf(probe(request, {}));
    expect({ code: problem.code, message: problem.message, context: problem.context }).toEqual({
      code: 'version_conflict',
      message: 'Läs om “Ett”, 50 % kvar.',
      context,
    });
    expect(problem.cause).toBeUndefined();
    expect(server.failures).toEqual([]);
  });

  test('a problem with a thousand field errors arrives as itself, with field errors', async () => {
    const errors = Array.from({ length: 1_000 }, (_, i) => ({
      path: `/changes/targeting/podcasts/${i}`,
      code: 'invalid_format',
      detail: 'This is not an ID of the form pod_….',
    }));
    const detail = errors.map((e) => `${e.path}: ${e.detail}`).join(' ');
    const { probe } = await pair(way, async () => {
      throw new Problem('validation_failed', detail, { errors });
    });
    const problem = await problemOf(probe(request, {}));
    expect({ code: problem.code, first: problem.context.errors?.[0] }).toEqual({
      code: 'validation_failed',
      first: errors[0],
    });
  });

  test('a problem that quotes ill-formed Unicode reaches its caller, and the server lives on', async () => {
    const { probe } = await pair(way, async ({ storageKey }) => {
      if (storageKey === '') return say('alive');
      throw new Problem('validation_failed', 'There is no field "\ud83c".');
    });
    expect((await problemOf(probe(request, { deadlineMs: 2_000 }))).code).toBe('validation_failed');
    expect(await probe({ storageKey: '' }, {})).toEqual(say('alive'));
  });

  test.each([
    [
      'rejects',
      async () => {
        throw new Error('password=hunter2');
      },
    ],
    [
      'throws before it returns a promise',
      () => {
        throw new Error('password=hunter2');
      },
    ],
  ])(
    'a handler that %s gives the caller internal_error without the text, and the operator the error',
    async (_, probe) => {
      const pairing = await pair(way, probe);
      const problem = await problemOf(pairing.probe(request, {}));
      expect(problem.code).toBe('internal_error');
      expect(problem.message).not.toContain('hunter2');
      expect(String(problem.cause)).not.toContain('hunter2');
      expect(pairing.server.failures).toEqual([new Error('password=hunter2')]);
    },
  );

  test('a failure of ours is reported to the operator with its private cause, one of the client is not', async () => {
    const cause = new Error('connection refused');
    const { server, probe } = await pair(way, async ({ storageKey }) => {
      throw storageKey === 'ours'
        ? new Problem('temporarily_unavailable', 'Later.', { cause })
        : new Problem('not_found');
    });
    expect((await problemOf(probe({ storageKey: 'theirs' }, {}))).code).toBe('not_found');
    expect((await problemOf(probe({ storageKey: 'ours' }, {}))).code).toBe('temporarily_unavailable');
    expect(server.failures).toEqual([expect.objectContaining({ code: 'temporarily_unavailable', cause })]);
  });

  test('a call past its deadline becomes a timeout and aborts the handler', async () => {
    const started = Promise.withResolvers<AbortSignal>();
    const { probe } = await pair(way, async (_, { signal }) => {
      started.resolve(signal);
      await once(signal, 'abort');
      return say('too late');
    });
    const problem = await problemOf(probe(request, { deadlineMs: 300 }));
    expect({ code: problem.code, status: problem.status }).toEqual({ code: 'timeout', status: 504 });
    const signal = await started.promise;
    if (!signal.aborted) await once(signal, 'abort');
  });

  test('the earlier of the two deadlines holds', async () => {
    const { probe } = await pair(way, () => new Promise(() => undefined));
    const past = new Date(Date.now() - 1_000);
    expect((await problemOf(probe(request, { deadline: past, deadlineMs: 20_000 }))).code).toBe('timeout');
  });

  test('a caller that gives up is released at once and the handler is aborted', async () => {
    const started = Promise.withResolvers<AbortSignal>();
    const { probe } = await pair(way, async (_, { signal }) => {
      started.resolve(signal);
      await once(signal, 'abort');
      return say('nobody listens');
    });
    const giveUp = new AbortController();
    const call = problemOf(probe(request, { signal: giveUp.signal }));
    const signal = await started.promise;
    giveUp.abort();
    expect((await call).status).toBeGreaterThanOrEqual(500);
    if (!signal.aborted) await once(signal, 'abort');
  });

  test('a caller that had given up before it asked is not kept waiting', async () => {
    const { probe } = await pair(way, () => new Promise(() => undefined));
    const before = Date.now();
    await problemOf(probe(request, { signal: AbortSignal.abort(), deadlineMs: 5_000 }));
    expect(Date.now() - before).toBeLessThan(2_500);
  });
});

test('a method that the service does not know is to be tried again: the service is of an earlier release', async () => {
  const { server } = await pair('calls by themselves', async () => say(''));
  const channel = openChannel(`127.0.0.1:${server.port}`, 'encoder', identities.management);
  cleanups.push(() => channel.close());
  const later = { ...ProbeServiceService.probe, path: '/longwave.probe.v1.ProbeService/Later' };
  const { probe } = channel.client({ ...ProbeServiceService, probe: later } as unknown as typeof ProbeServiceService);
  expect((await problemOf(probe(request, {}))).code).toBe('temporarily_unavailable');
});

test('a stranger does not get in: neither without a certificate nor with one of another authority', async () => {
  let calls = 0;
  const { server, probe } = await pair(
    'calls by themselves',
    async () => say(String((calls += 1))),
    await foreignIdentity(),
  );
  expect((await problemOf(probe(request, { deadlineMs: 2_000 }))).code).toBe('temporarily_unavailable');
  const nameless = new Client(`127.0.0.1:${server.port}`, credentials.createSsl(identities.encoder.ca), {
    'grpc.ssl_target_name_override': 'encoder',
  });
  const { path, requestSerialize, responseDeserialize } = ProbeServiceService.probe;
  const refused = new Promise((resolve) =>
    nameless.makeUnaryRequest(path, requestSerialize, responseDeserialize, request, resolve),
  );
  expect(await refused).toMatchObject({ code: 14 });
  nameless.close();
  expect(calls).toBe(0);
});

test('a caller does not talk to a service of another name', async () => {
  const { server } = await pair('calls by themselves', async () => say('never'));
  const channel = openChannel(`127.0.0.1:${server.port}`, 'internal-serving', identities.management);
  cleanups.push(() => channel.close());
  const call = channel.client(ProbeServiceService).probe(request, { deadlineMs: 2_000 });
  expect((await problemOf(call)).code).toBe('temporarily_unavailable');
});
