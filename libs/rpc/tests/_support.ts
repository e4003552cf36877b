import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { afterAll, afterEach } from '@jest/globals';
import { Client } from '@grpc/grpc-js';
import { developmentCa } from '@longwave/fleet';
import { bareEnvironment, until } from '@longwave/test-kit';
import {
  ProbeServiceService,
  type ProbeRequest,
  type ProbeResponse,
} from '../src/generated/longwave/probe/v1/probe.ts';
import { openChannel, readTls, rpcService, serveRpc, type RpcContext, type Tls } from '../src/index.ts';

export type ProbeHandler = (request: ProbeRequest, context: RpcContext) => Promise<ProbeResponse>;

const folder = mkdtempSync(path.join(tmpdir(), 'longwave-rpc-'));
const files = await developmentCa(folder, ['encoder', 'management', 'analytics-sink'], new Date());

/** Identities of one private CA. */
export const identities = {
  encoder: readTls(files.encoder),
  management: readTls(files.management),
  analyticsSink: readTls(files['analytics-sink']),
};

/** The name `management`, certified by a CA nobody trusts. */
export async function foreignIdentity(): Promise<Tls> {
  const foreign = (await developmentCa(path.join(folder, 'foreign'), ['management'], new Date())).management;
  return { ...readTls(foreign), ca: identities.management.ca };
}

/** Called after each test, the last one first. */
export const cleanups: (() => unknown)[] = [];
afterEach(async () => {
  for (const cleanup of cleanups.splice(0).reverse()) await cleanup();
});
afterAll(() => rmSync(folder, { recursive: true, force: true }));

/** The answer of a probe in these tests: the given sentence. */
export const say = (detail: string): ProbeResponse => ({
  outcome: { $case: 'unreadable', value: { code: 'media_empty', detail } },
});

export type Lifetimes = NonNullable<Parameters<typeof serveRpc>[0]['lifetimes']>;

/** An encoder whose only method is `probe`, which management may call. `failures` collects what is reported to the operator. */
export async function serveProbe(probe: ProbeHandler, listen = '127.0.0.1:0', lifetimes: Lifetimes = {}) {
  const failures: unknown[] = [];
  const server = await serveRpc({
    listen,
    tls: identities.encoder,
    services: [
      rpcService(
        ProbeServiceService,
        { probe: ['management'], prepareArtwork: [] },
        { probe, prepareArtwork: () => Promise.reject(new Error('nobody may call it')) },
      ),
    ],
    onError: (error) => failures.push(error),
    lifetimes,
  });
  return { ...server, failures };
}

/** An encoder in a process of its own, and the keys of the probes that it had in hand. */
export async function startProbeServer() {
  const program = path.join(import.meta.dirname, 'fixture-probe-server.ts');
  const child = spawn(process.execPath, [program, JSON.stringify(files.encoder)], {
    ...{ env: bareEnvironment, stdio: ['ignore', 'pipe', 'inherit'] },
  });
  let output = '';
  child.stdout.on('data', (bytes: Buffer) => (output += bytes.toString()));
  const exited = once(child, 'exit');
  return {
    port: Number(await until(() => /^listening (\d+)$/m.exec(output)?.[1])),
    handled: () => [...output.matchAll(/^handling (.*)$/gm)].map(([, key]) => key!),
    /** Resolves when the process is gone. Twice is harmless. */
    kill: async () => {
      child.kill('SIGKILL');
      await exited;
    },
  };
}

/** How a channel sends its calls. */
export type Way = 'calls by themselves' | 'calls on the stream';
export const ways: readonly Way[] = ['calls by themselves', 'calls on the stream'];

const methodsOfProbe = new Set([ProbeServiceService.probe.path, ProbeServiceService.prepareArtwork.path]);

let requestsAlone = 0;
const { makeUnaryRequest } = Client.prototype;
Client.prototype.makeUnaryRequest = function (this: Client, ...sent: unknown[]) {
  requestsAlone++;
  return Reflect.apply(makeUnaryRequest, this, sent) as ReturnType<typeof makeUnaryRequest>;
};

/** How many calls `work` sends by themselves. */
export async function countRequestsAlone(work: () => Promise<unknown>): Promise<number> {
  const before = requestsAlone;
  await work();
  return requestsAlone - before;
}

/** A caller of the encoder at this port or address. `streaming` resolves when its calls travel on the stream; it reaches no handler. */
export function connect(
  at: number | string,
  tls: Tls = identities.management,
  way: Way = 'calls by themselves',
  lookup?: (name: string) => Promise<readonly string[]>,
) {
  const streamed = way === 'calls on the stream' ? methodsOfProbe : new Set<string>();
  const address = typeof at === 'number' ? `127.0.0.1:${at}` : at;
  const channel = openChannel(address, 'encoder', tls, { streamed, ...(lookup && { lookup }) });
  const { probe, prepareArtwork } = channel.client(ProbeServiceService);
  const touch = () => prepareArtwork({ storageKey: '' }, {}).catch(() => undefined);
  const streaming = async () => {
    if (way === 'calls on the stream') await until(async () => (await countRequestsAlone(touch)) === 0);
  };
  return { probe, prepareArtwork, streaming, close: () => channel.close() };
}
