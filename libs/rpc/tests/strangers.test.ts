import { expect, test } from '@jest/globals';
import { Client, credentials, Metadata, status, type ChannelCredentials } from '@grpc/grpc-js';
import { signPrincipal, tryVerifyPrincipal, type Principal } from '@longwave/principal';
import { Problem } from '@longwave/problems';
import { exportJWK, generateKeyPair } from 'jose';
import {
  CallStreamServiceService,
  type CarryRequest,
  type CarryResponse,
} from '../src/generated/longwave/call/v1/call.ts';
import { ProbeServiceService } from '../src/generated/longwave/probe/v1/probe.ts';
import { connect, foreignIdentity, identities, cleanups, say, serveProbe } from './_support.ts';

/** Opens the stream that carries calls with these credentials, sends one call, and answers how the stream ended. */
async function sendOnStream(port: number, as: ChannelCredentials): Promise<status> {
  const client = new Client(`127.0.0.1:${port}`, as, { 'grpc.ssl_target_name_override': 'encoder' });
  const { path, requestSerialize, responseDeserialize } = CallStreamServiceService.carry;
  const stream = client.makeBidiStreamRequest<CarryRequest, CarryResponse>(
    ...([path, requestSerialize, responseDeserialize, new Metadata(), {}] as const),
  );
  stream.on('error', () => undefined);
  stream.resume();
  stream.write({
    calls: [
      {
        ...{ id: 1, cancelled: false, method: ProbeServiceService.probe.path, request: Buffer.alloc(0), leftMs: 5_000 },
        ...{ principalStatement: '', traceparent: '', tracestate: '' },
      },
    ],
  });
  stream.end();
  const { code } = await new Promise<{ readonly code: status }>((resolve) => stream.once('status', resolve));
  client.close();
  return code;
}

test('a stranger gets no stream that carries calls: neither without a certificate nor with one of another authority', async () => {
  let calls = 0;
  const server = await serveProbe(async () => say(String((calls += 1))));
  cleanups.push(() => server.close(0));
  const { ca, key, cert } = identities.management;
  expect(await sendOnStream(server.port, credentials.createSsl(ca, key, cert))).toBe(status.OK);
  expect(calls).toBe(1);
  const foreign = await foreignIdentity();
  expect(await sendOnStream(server.port, credentials.createSsl(ca))).toBe(status.UNAVAILABLE);
  expect(await sendOnStream(server.port, credentials.createSsl(ca, foreign.key, foreign.cert))).toBe(
    status.UNAVAILABLE,
  );
  expect(calls).toBe(1);
});

test('each call on a stream has a principal of its own: a forged or expired one refuses its call alone', async () => {
  const keysOf = async () => {
    const { privateKey, publicKey } = await generateKeyPair('EdDSA', { extractable: true });
    return { privateKey: await exportJWK(privateKey), publicKey: await exportJWK(publicKey) };
  };
  const [ours, foreign] = [await keysOf(), await keysOf()];
  const publicKeys = [ours.publicKey];
  const server = await serveProbe(async (_request, { principalStatement }) => {
    const principal = await tryVerifyPrincipal(principalStatement ?? '', publicKeys, new Date());
    if (!principal) throw new Problem('permission_denied');
    return say(principal.account_id);
  });
  const caller = connect(server.port, identities.management, 'calls on the stream');
  cleanups.push(() => server.close(0), caller.close);
  await caller.streaming();
  const principal = (nth: number): Principal => ({
    ...{ account_id: `acc_${nth}`, workspace_id: 'ws_1', roles: ['owner'], grants: [] },
    ...{ credential_id: 'crd_1', credential_kind: 'api_key', read_only: false },
  });
  const now = new Date();
  const hourAgo = new Date(now.getTime() - 3_600_000);
  const statements = await Promise.all(
    Array.from({ length: 30 }, (_, nth) => {
      if (nth % 3 === 0) return signPrincipal(principal(nth), ours.privateKey, now);
      return nth % 3 === 1
        ? signPrincipal(principal(nth), foreign.privateKey, now)
        : signPrincipal(principal(nth), ours.privateKey, hourAgo);
    }),
  );
  const outcomes = await Promise.all(
    statements.map((principalStatement) =>
      caller.probe({ storageKey: '' }, { principalStatement }).catch((error: unknown) => error),
    ),
  );
  for (const [nth, outcome] of outcomes.entries())
    if (nth % 3 === 0) expect(outcome).toEqual(say(`acc_${nth}`));
    else expect(outcome).toMatchObject({ code: 'permission_denied' });
});
