import { readFileSync } from 'node:fs';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { cookieName, sessionCookie } from '@longwave/principal';
import { until } from '@longwave/test-kit';
import { makeContractWorld, type ContractWorld } from '../_contract-world.ts';
import { difference, missing } from '../_match-answer.ts';

interface ContractRequest {
  readonly method: string;
  /** Below `/api/v1`, or a whole address. */
  readonly path: string;
  readonly headers?: Readonly<Record<string, string>>;
  readonly body?: unknown;
  /** A body that is no JSON. */
  readonly text?: string;
}

interface ContractAnswer {
  readonly status: number;
  /** Null: the header is absent; between slashes: a regular expression. */
  readonly headers?: Readonly<Record<string, string | null>>;
  readonly body?: unknown;
  readonly includes?: unknown;
  readonly text?: string;
  /** A regular expression of the body's text. */
  readonly pattern?: string;
  /** The path whose answer, to the same request otherwise, has the same status and body. */
  readonly as?: string;
}

/** One row of a table of the contract, as a request and its exact answer (data: cases/contract.json). */
interface ContractCase {
  readonly source: string;
  readonly guarantee: string;
  /** The person whose credential goes into the Token header; null: none. */
  readonly as: string | null;
  readonly request: ContractRequest;
  readonly answer: ContractAnswer;
  /** Becomes true after a while. */
  readonly eventually?: true;
  /** Names for later cases: a regular expression of the body's text, of which the first group counts. */
  readonly keep?: Readonly<Record<string, string>>;
}

const cases = JSON.parse(
  readFileSync(path.join(import.meta.dirname, '../cases/contract.json'), 'utf8'),
) as ContractCase[];

let world: ContractWorld;
beforeAll(async () => {
  world = await makeContractWorld();
});
afterAll(async () => world?.[Symbol.asyncDispose]());

/** Ids that no thing has. */
const absentId = (prefix: string) => `${prefix}_${'7'.padEnd(26, '0')}`;

function fill<T>(value: T, more: Readonly<Record<string, string>> = {}): T {
  const names: Readonly<Record<string, string>> = { ...world.names, ...more };
  const within = (inner: unknown): unknown => {
    if (typeof inner === 'string') {
      const number = /^\{(\w+):number\}$/.exec(inner);
      if (number) return Number(names[number[1]!]);
      return inner.replace(/\{(?:(key|absent):)?([a-z]\w*)\}/gi, (_, kind: string | undefined, name: string) => {
        if (kind === 'absent') return absentId(name);
        const found = kind === 'key' ? world.credentials[name] : names[name];
        if (!found) throw new Error(`the case names {${name}}, which this world does not have`);
        return found;
      });
    }
    if (Array.isArray(inner)) return inner.map(within);
    if (typeof inner !== 'object' || inner === null) return inner;
    return Object.fromEntries(Object.entries(inner).map(([name, one]) => [name, within(one)]));
  };
  return within(value) as T;
}

/** The headers with somebody's credential; that of a session is a cookie, as a page of ours sends it. */
function credentialHeaders(as: string | null): Readonly<Record<string, string>> {
  if (as === null) return {};
  const text = world.credentials[as]!;
  if (!/session$/i.test(as)) return { token: text };
  const base = world.names['base']!;
  return { cookie: `${cookieName(sessionCookie, base)}=${text}`, origin: base };
}

async function send(as: string | null, { method, path: route, headers = {}, body, text }: ContractRequest) {
  const isJson = body !== undefined && body !== null;
  const response = await fetch(route.startsWith('http') ? route : `${world.names['base']}/api/v1${route}`, {
    method,
    headers: {
      ...credentialHeaders(as),
      ...(isJson && { 'content-type': 'application/json' }),
      ...headers,
    },
    ...(isJson && { body: JSON.stringify(body) }),
    ...(text !== undefined && { body: text }),
  });
  return { status: response.status, headers: response.headers, text: await response.text() };
}

type Sent = Awaited<ReturnType<typeof send>>;

function headerDifference(wanted: string | null, found: string | null): string | undefined {
  if (wanted === null || !/^\/.*\/$/.test(wanted)) return difference(wanted, found);
  return new RegExp(wanted.slice(1, -1)).test(found ?? '') ? undefined : `${found} is not like ${wanted}`;
}

/** The first thing that is not as the case says. */
function wrong(expected: ContractAnswer, { status, headers, text }: Sent): string | undefined {
  if (status !== expected.status) return `${status} instead of ${expected.status}: ${text}`;
  for (const [name, value] of Object.entries(expected.headers ?? {})) {
    const found = headerDifference(value, headers.get(name));
    if (found !== undefined) return `${name} ${found}`;
  }
  const json = () => JSON.parse(text) as unknown;
  if (expected.text !== undefined && text !== expected.text) return `$: ${text} instead of ${expected.text}`;
  if (expected.pattern !== undefined && !new RegExp(expected.pattern).test(text))
    return `$: ${text} is not like ${expected.pattern}`;
  if (expected.includes !== undefined) {
    const found = missing(expected.includes, json());
    if (found !== undefined) return found;
  }
  return expected.body === undefined ? undefined : difference(expected.body, json());
}

/** Asks once and compares. Answers what was wrong, and what came. */
async function tryCase({ as, request, answer }: ContractCase): Promise<{ found: string | undefined; sent: Sent }> {
  const asked = fill(request);
  const sent = await send(as, asked);
  const date = Date.parse(sent.headers.get('date') ?? '');
  const expected = fill(answer, { minuteEnd: String((Math.floor(date / 60_000) + 1) * 60) });
  const found = wrong(expected, sent);
  if (found !== undefined || expected.as === undefined) return { found, sent };
  const twin = await send(as, { ...asked, path: expected.as });
  return { found: wrong({ status: twin.status, text: twin.text }, sent), sent };
}

const isLimited = (each: ContractCase | undefined) => each?.as?.startsWith('limited') ?? false;
/** The first of cases that count requests of one minute together. */
const opensGroup = (each: ContractCase) => isLimited(each) && !isLimited(cases[cases.indexOf(each) - 1]);

/** Requests of one minute must not fall into two. */
const roomInThisMinute = () => until('a minute with room', async () => Date.now() % 60_000 < 40_000 || undefined);

describe('the contract, row by row', () => {
  test.each(cases.map((each) => [`${each.source}: ${each.guarantee}`, each] as const))('%s', async (_name, each) => {
    if (opensGroup(each)) await roomInThisMinute();
    let tried = await tryCase(each);
    if (each.eventually && tried.found !== undefined)
      await until(each.guarantee, async () => {
        tried = await tryCase(each);
        return tried.found === undefined || undefined;
      }).catch(() => undefined);
    expect(tried.found).toBeUndefined();
    for (const [name, pattern] of Object.entries(each.keep ?? {})) {
      const match = new RegExp(pattern).exec(tried.sent.text);
      expect([name, match !== null]).toEqual([name, true]);
      world.names[name] = match![1] ?? match![0];
    }
  });
});
