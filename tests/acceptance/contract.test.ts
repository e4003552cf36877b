import { readFileSync } from 'node:fs';
import { stat } from 'node:fs/promises';
import path from 'node:path';
import { afterAll, beforeAll, describe, expect, test } from '@jest/globals';
import { uploadFile } from '@longwave/local/job/rest-client';
import { until } from '@longwave/local/job/until';
import { makeAudio, type ProductionView } from '../_fleet.ts';
import {
  encodedEpisode,
  publishedPodcast,
  startHostingWorld,
  type HostingWorld,
  type WorldAccount,
} from '../_hosting-world.ts';
import { difference, missing } from '../_match-answer.ts';

/** One row of a table of the contract, as a request and its exact answer (data: cases/contract.json). */
interface ContractCase {
  readonly source: string;
  readonly guarantee: string;
  /** Whose credential goes into the Token header; null: none. */
  readonly as: string | null;
  readonly request: {
    readonly method: string;
    readonly path: string;
    readonly headers?: Readonly<Record<string, string>>;
    readonly body?: unknown;
  };
  readonly answer: {
    readonly status: number;
    /** Null: the header is absent. */
    readonly headers?: Readonly<Record<string, string | null>>;
    readonly body?: unknown;
    readonly includes?: unknown;
    readonly text?: string;
  };
}

const cases = JSON.parse(
  readFileSync(path.join(import.meta.dirname, '../cases/contract.json'), 'utf8'),
) as ContractCase[];

let world: HostingWorld;
/** What `{…}` in a case stands for. */
const names: Record<string, string> = {};
const credentials: Record<string, string> = { wrong: 'lw_no_such_key' };

beforeAll(async () => {
  world = await startHostingWorld();
  const owner = await world.account('owner');
  await ownedThings(owner);
  await others(owner);
});
afterAll(async () => world?.[Symbol.asyncDispose]());

/** Ids that no thing has. */
const absentId = (prefix: string) => `${prefix}_${'7'.padEnd(26, '0')}`;

async function ownedThings(owner: WorldAccount): Promise<void> {
  const { rest } = owner;
  names['podcast'] = await publishedPodcast(rest, 'Harbour Light');
  names['draftPodcast'] = (await rest.post<{ id: string }>('/podcasts', { title: 'In the making', language: 'en' })).id;
  const first = await encodedEpisode(world, rest, names['podcast'], { title: 'First light', publish: true });
  Object.assign(names, { episode: first.episodeId, encodedProduction: first.productionId });
  const draft = await rest.post<{ id: string }>(`/podcasts/${names['podcast']}/episodes`, { title: 'Second' });
  names['draftEpisode'] = draft.id;
  const short = makeAudio(path.join(world.folder, 'short.mp3'), 10);
  names['fileUrl'] = (await uploadFile(rest, short)).fileUrl;
  names['fileSize'] = String((await stat(short)).size);
  const long = makeAudio(path.join(world.folder, 'long.mp3'), 1800);
  const production = async (file: string) =>
    (
      await rest.post<{ id: string }>('/productions', {
        episode_id: draft.id,
        file_url: (await uploadFile(rest, file)).fileUrl,
      })
    ).id;
  names['initialProduction'] = await production(short);
  names['longProduction'] = await production(long);
  const clip = { episode_id: draft.id, file_format: 'mp3', url: names['fileUrl'], duration: 10 };
  names['doomedClip'] = (await rest.post<{ id: string }>('/media_clips', clip)).id;
  await until('the clip of the encoded file', 15_000, async () => {
    const [found] = await rest.get<{ id: string }[]>(`/media_clips?episode_id=${first.episodeId}`);
    names['clip'] = found?.id ?? '';
    return found !== undefined || undefined;
  });
  credentials['owner'] = owner.apiKey;
  credentials['legacy'] = (await world.credential(owner, 'legacy_token')).text;
  credentials['readToken'] = (await world.credential(owner, 'legacy_token', { scope: 'read' })).text;
  credentials['partner'] = (await world.credential(owner, 'oauth_access_token')).text;
  credentials['session'] = (await world.credential(owner, 'browser_session')).text;
  credentials['mcp'] = (await world.credential(owner, 'mcp_access_token')).text;
  credentials['mcpPersonal'] = (await world.credential(owner, 'mcp_personal_token')).text;
  credentials['expired'] = (
    await world.credential(owner, 'api_key', { expires_at: new Date(Date.now() - 1000).toISOString() })
  ).text;
  for (const [name, command] of [
    ['revoked', 'credential.revoke'],
    ['blocked', 'credential.block'],
  ] as const) {
    const { id, text } = await world.credential(owner, 'api_key');
    await world.identity(owner, command, { type: 'credentials', id }, {});
    credentials[name] = text;
  }
}

async function others(owner: WorldAccount): Promise<void> {
  const make = async (name: string, plan?: string, subscription?: object) => {
    const account = await world.account(name, plan, subscription && { subscription });
    credentials[name] = account.apiKey;
    return account;
  };
  await make('stranger');
  await make('grow', 'grow');
  credentials['legacyWithoutApi'] = (await world.credential(await make('launch', 'launch'), 'legacy_token')).text;
  for (const state of ['canceled', 'suspended']) await make(state, 'unlimited', { state });
  await make('pastDue', 'unlimited', { state: 'past_due' });
  const over = { state: 'trialing', trial_ends_at: new Date(Date.now() - 1000).toISOString() };
  credentials['trialOverLegacy'] = (
    await world.credential(await make('trialOver', 'unlimited', over), 'legacy_token')
  ).text;

  const grow = await make('grow90', 'ninety_days');
  names['growPodcast'] = await publishedPodcast(grow.rest, 'Ninety days');
  const silent = await make('silent', 'silent');
  names['silentPodcast'] = await publishedPodcast(silent.rest, 'Silent');
  names['silentDraft'] = (await silent.rest.post<{ id: string }>('/podcasts', { title: 'Draft', language: 'en' })).id;
  const poor = await make('poor', 'hurried');
  const podcast = await poor.rest.post<{ id: string }>('/podcasts', { title: 'Short of time', language: 'en' });
  const episode = await poor.rest.post<{ id: string }>(`/podcasts/${podcast.id}/episodes`, { title: 'Ten seconds' });
  const { fileUrl } = await uploadFile(poor.rest, path.join(world.folder, 'short.mp3'));
  const production = { episode_id: episode.id, file_url: fileUrl };
  names['poorProduction'] = (await poor.rest.post<ProductionView>('/productions', production)).id;
  const limited = await make('limited', 'three_a_minute');
  credentials['limitedLegacy'] = (await world.credential(limited, 'legacy_token')).text;

  for (const role of ['editor', 'analyst']) {
    await make(role);
    await owner.rest.post(`/podcasts/${names['podcast']}/collaborators`, { email: `${role}@example.com`, role });
  }
  for (const [name, permissions] of [
    ['member', ['edit']],
    ['memberAnalyst', ['view_analytics']],
  ] as const) {
    const member = await make(name, 'launch');
    const ids = { owner_account_id: owner.accountId, member_account_id: member.accountId };
    await world.identity(owner, 'membership.add', { type: 'memberships' }, { ...ids, permissions });
    if (name === 'member') credentials['memberLegacy'] = (await world.credential(member, 'legacy_token')).text;
  }
  for (const name of ['editor', 'analyst', 'member'])
    await until(`what ${name} may see`, 15_000, async () => {
      const answer = await fetch(`${world.fleet.urls.base}/api/v1/podcasts/${names['podcast']}`, {
        headers: { token: credentials[name]! },
      });
      return answer.ok || undefined;
    });
}

function fill(value: unknown): unknown {
  if (typeof value === 'string') {
    const number = /^\{(\w+):number\}$/.exec(value);
    if (number) return Number(names[number[1]!]);
    return value.replace(/\{(?:(key|absent):)?(\w+)\}/g, (_, kind: string | undefined, name: string) => {
      if (kind === 'absent') return absentId(name);
      const found = kind === 'key' ? credentials[name] : names[name];
      if (!found) throw new Error(`the case names {${name}}, which this world does not have`);
      return found;
    });
  }
  if (Array.isArray(value)) return value.map(fill);
  if (typeof value === 'object' && value !== null)
    return Object.fromEntries(Object.entries(value).map(([name, inner]) => [name, fill(inner)]));
  return value;
}

/** Four requests of one minute must not fall into two. */
async function roomInThisMinute(): Promise<void> {
  await until('a minute with room', 20_000, async () => Date.now() % 60_000 < 45_000 || undefined);
}

describe('the contract, row by row', () => {
  test.each(cases.map((each) => [`${each.source}: ${each.guarantee}`, each] as const))('%s', async (_name, each) => {
    const { method, path: route, headers = {}, body } = fill(each.request) as ContractCase['request'];
    if (each.as?.startsWith('limited')) await roomInThisMinute();
    const response = await fetch(`${world.fleet.urls.base}/api/v1${route}`, {
      method,
      headers: {
        ...(each.as !== null && { token: credentials[each.as]! }),
        ...(body !== undefined && body !== null && { 'content-type': 'application/json' }),
        ...headers,
      },
      ...(body !== undefined && body !== null && { body: JSON.stringify(body) }),
    });
    const text = await response.text();
    const expected = fill(each.answer) as ContractCase['answer'];
    expect(`${response.status} ${response.status === expected.status ? '' : text}`.trim()).toBe(`${expected.status}`);
    for (const [name, value] of Object.entries(expected.headers ?? {}))
      expect([name, difference(value, response.headers.get(name))]).toEqual([name, undefined]);
    if (expected.body !== undefined) expect(difference(expected.body, JSON.parse(text))).toBeUndefined();
    if (expected.includes !== undefined) expect(missing(expected.includes, JSON.parse(text))).toBeUndefined();
    if (expected.text !== undefined) expect(text).toBe(expected.text);
  });
});
