import {
  verifyStream,
  type Acknowledgement,
  type ComparedEvidence,
  type RouteRequest,
} from '@longwave/exchange-client';
import type { JWK } from 'jose';
import { z } from 'zod';
import { UsageError } from '../command.ts';
import { typedVersion, type ExchangeCommand } from './exchange-command.ts';
import { isAddress } from './master-file.ts';
import { readLines } from './signed-lines.ts';
import { readJson } from './settings.ts';

/** The JSON at an address; undefined for anything else there. Throws `UsageError` when it does not answer. */
async function fetchJson(address: string): Promise<unknown> {
  const response = await fetch(address).catch((cause: unknown) => {
    throw new UsageError(
      `${address} does not answer. Save the keys while the service runs, and give the file: curl ${address} > keys.json, then --keys keys.json`,
      { cause },
    );
  });
  return response.json().catch(() => undefined);
}

/** The public keys at an address or in a file. Throws `UsageError` when there are none. */
async function readKeys(source: string): Promise<readonly JWK[]> {
  const found = isAddress(source) ? await fetchJson(source) : readJson(source);
  const parsed = z.looseObject({ keys: z.array(z.looseObject({ kty: z.string() })) }).safeParse(found);
  if (!parsed.success) throw new UsageError(`${source} has no JWKS: {"keys": […]}.`);
  return parsed.data.keys;
}

/** Public keys of the authority, as `KEY=FILE`: the id of a machine key and a file with its JWK. */
const readSigners = (text: string): readonly JWK[] =>
  text.split(',').map((each) => {
    const [kid = '', file] = each.split('=');
    if (!file) throw new UsageError('--signers: write KEY=FILE, such as key_…=key.json.');
    return { ...(readJson(file) as JWK), kid };
  });

/** What `export` writes in each line: the message, and its receipt. */
interface ExportedLine {
  readonly receipt: { readonly id: string; readonly jws: string };
}

const noMessage = (streamId: string) => new Error(`The stream ${streamId} has no message yet.`);

/** Commands that read, ask or verify, and those for serving intents. */
export const readCommands: readonly ExchangeCommand[] = [
  {
    name: 'head',
    words: ['STREAM'],
    summary: 'shows where a stream stands: its last message, its state, its last receipt',
    options: {},
    needed: [],
    reads: 'connection',
    run: async ({ words, connect }) => {
      const head = await connect().exchange.head(words[0]!);
      if (!head) throw noMessage(words[0]!);
      return head;
    },
  },
  {
    name: 'mapping',
    words: ['SOURCE'],
    summary: 'shows what an episode has become: its state, its ids, its slots',
    options: { version: ['N', 'a version of it (default: the newest)'] },
    needed: [],
    reads: 'connection',
    run: async ({ words, values, connect }) => {
      const mapping = await connect().exchange.mapping(words[0]!, typedVersion(values['version']));
      if (!mapping) throw new Error(`The exchange knows no such version of ${words[0]!}.`);
      return mapping;
    },
  },
  {
    name: 'compare',
    words: ['EVIDENCE'],
    summary:
      'shows the rows of a report beside our own downloads; EVIDENCE is the id (pev_…) of what “evidence” has sent',
    options: {},
    needed: [],
    reads: 'connection',
    run: async ({ words, connect }) => {
      const pages: ComparedEvidence[] = [];
      for await (const page of connect().exchange.evidence(words[0]!)) pages.push(page);
      const { next_after: _next, ...report } = pages[0]!;
      return { ...report, rows: pages.flatMap(({ rows }) => rows) };
    },
  },
  {
    name: 'resolve',
    words: [],
    summary: 'asks where to send a listener',
    options: {
      alias: ['ALIAS', 'an alias, or'],
      source: ['ID', 'an episode, by the platform’s own id'],
      surface: ['SURFACE', 'the surface that asks'],
      route: ['ROUTE', 'platform_controlled, ad_free, clean or source'],
    },
    needed: ['surface'],
    reads: 'connection',
    run: ({ values, connect }) => {
      const { alias, source, surface, route } = values;
      return connect().exchange.resolve({
        ...(alias !== undefined && { alias }),
        ...(source !== undefined && { source: { source_id: source } }),
        ...(route !== undefined && { route: route as NonNullable<RouteRequest['route']> }),
        surface_id: surface!,
      });
    },
  },
  {
    name: 'intents',
    words: [],
    summary: 'shows what should serve at the addresses of the platform, and who has applied it',
    options: { after: ['N', 'only later versions'] },
    needed: [],
    reads: 'connection',
    run: ({ values, connect }) => connect().exchange.intents(typedVersion(values['after'])),
  },
  {
    name: 'acknowledge',
    words: ['INTENT'],
    summary: 'says what the platform has done about the newest version of a serving intent',
    options: {
      status: ['STATUS', 'applied (the default), rejected or superseded'],
      detail: ['CODE', 'why, where it was not applied'],
    },
    needed: [],
    reads: 'connection',
    run: async ({ words, values, connect }) => {
      const { exchange } = connect();
      const found = (await exchange.intents()).findLast(({ intent_id: id }) => id === words[0]);
      if (!found) throw new Error(`There is no serving intent ${words[0]!}.`);
      const acknowledgement: Acknowledgement = {
        ...{ intent_version: found.version, plan_digest: found.plan_digest, applied_at: new Date().toISOString() },
        status: (values['status'] ?? 'applied') as Acknowledgement['status'],
        ...(values['detail'] !== undefined && { detail_code: values['detail'] }),
      };
      await exchange.acknowledge(found.intent_id, acknowledgement);
      return { intent_id: found.intent_id, ...acknowledgement };
    },
  },
  {
    name: 'export',
    words: ['STREAM'],
    summary: 'prints every message of a stream with its receipt, one in each line',
    options: { after: ['N', 'only messages behind this place'] },
    needed: [],
    reads: 'connection',
    run: async ({ words, values, connect }) => {
      const { exchange } = connect();
      if (!(await exchange.head(words[0]!))) throw noMessage(words[0]!);
      for await (const line of exchange.exportStream(words[0]!, typedVersion(values['after'])))
        console.log(JSON.stringify(line));
    },
  },
  {
    name: 'checkpoint',
    words: [],
    summary: 'prints the newest signed checkpoint over the receipts of the workspace',
    options: {},
    needed: [],
    reads: 'connection',
    run: async ({ connect }) => {
      const checkpoint = await connect().exchange.checkpoint();
      if (!checkpoint) throw new Error('There is no checkpoint yet: one is made every hour.');
      return checkpoint;
    },
  },
  {
    name: 'verify',
    words: ['FILE'],
    summary:
      'checks an exported stream without the service: signatures, chain, receipts. Exit code 1 when it is broken',
    options: {
      keys: ['URL|FILE', 'the public keys (JWKS) of the exchange: {api_url}/hosting-exchange/v1/keys'],
      signers: ['KEY=FILE,…', 'the machine keys of the platform: key_…=key.json'],
      checkpoint: ['FILE', 'what “checkpoint” printed'],
    },
    needed: ['keys', 'signers'],
    reads: 'nothing',
    run: async ({ words, values }) => {
      const lines = readLines(words[0]!) as readonly ExportedLine[];
      const found = await verifyStream({
        messages: lines,
        receipts: lines.flatMap(({ receipt }) => receipt ?? []),
        signers: readSigners(values['signers']!),
        keys: await readKeys(values['keys']!),
        ...(values['checkpoint'] !== undefined && { checkpoint: readJson(values['checkpoint']) }),
      });
      if (!found.ok) process.exitCode = 1;
      if (!found.ok) return { whole: false, sequence: found.sequence, problem: found.problem };
      const { streamId, messages, head, underCheckpoint } = found;
      return { whole: true, stream_id: streamId, messages, head, under_checkpoint: underCheckpoint };
    },
  },
];
