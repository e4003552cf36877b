import { expect, test } from '@jest/globals';
import { contentSnapshotBody, deliveryAliasBody, routes, surfaceCapabilityBody } from '@longwave/exchange-messages';
import type { RouteFacts, SnapshotRow } from '../src/projection/resource-tables.ts';
import { chooseRoute, type Route } from '../src/resolutions/choose-route.ts';
import { aliasBody, capabilityBody, episodeBody, now } from './_exchange.ts';

/**
 * Versions of a source, the oldest first; `ended`: its rights have passed, and the clock has not noticed. Behind them the version whose master
 * stands in: the newest that is ready, else the newest, but no revoked one.
 */
const worlds = {
  received: [['received'], 1],
  encoding: [['encoding'], 1],
  failed: [['failed'], 1],
  ready: [['ready'], 1],
  ended: [['ended'], 1],
  lapsed: [['lapsed'], 1],
  revoked: [['revoked'], null],
  'encoding after ready': [['ready', 'encoding'], 1],
  'failed after ready': [['ready', 'failed'], 1],
  'encoding after lapsed': [['lapsed', 'encoding'], 2],
  'revoked after lapsed': [['lapsed', 'revoked'], null],
  'encoding after revoked': [['revoked', 'encoding'], 2],
} as const;

/** States of the episode and of its podcast. */
const shown = {
  published: ['published', 'published'],
  'not known yet': [undefined, undefined],
  'hidden episode': ['unpublished', 'published'],
  'hidden podcast': ['published', 'unpublished'],
  'archived episode': ['archived', 'published'],
  'archived podcast': ['published', 'archived'],
} as const;

interface Case {
  readonly alias: 'active' | 'paused' | 'retired';
  readonly policy: Route;
  readonly asked: Route | undefined;
  readonly versions: keyof typeof worlds;
  readonly shown: keyof typeof shown;
  readonly unavailable: 'source' | 'gone';
}

const serving = ['ready', 'encoding after ready', 'failed after ready'] as const;
const revoked = ['revoked', 'revoked after lapsed'] as const;
const hidden = ['hidden episode', 'hidden podcast'] as const;
const archived = ['archived episode', 'archived podcast'] as const;
/** The route that decides: ads are asked for only where the policy has them. */
const wantedOf = ({ policy, asked }: Case): Route =>
  asked === undefined || (asked === 'platform_controlled' && policy !== 'platform_controlled') ? policy : asked;

/** Conditions, each with the values that it allows; `wanted` is `wantedOf`. */
type When = { readonly [K in keyof Case]?: readonly Case[K][] } & { readonly wanted?: readonly Route[] };
/** Route, URL and reason; `master`: of the version that stands in, `played`: of version 1, `why`: `as_asked` or `by_policy`. */
type Answer = readonly [Route | 'wanted', 'master' | 'played' | 'clean' | 'alias' | null, string];

/** The rules of docs/hosting-exchange.md (“Resolutions”) once more. The first that fits decides. */
const rules: readonly (readonly [When, Answer])[] = [
  [{ alias: ['retired'] }, ['source', null, 'alias_retired']],
  [{ shown: archived }, ['source', null, 'archived']],
  [{ alias: ['paused'], unavailable: ['source'] }, ['source', 'master', 'alias_paused']],
  [{ alias: ['paused'] }, ['source', null, 'alias_paused']],
  [{ wanted: ['source'], versions: revoked }, ['source', null, 'revoked']],
  [{ wanted: ['source'] }, ['source', 'master', 'why']],
  [
    { versions: ['ended', 'lapsed'], shown: ['published', 'not known yet', ...hidden] },
    ['source', 'played', 'rights_ended'],
  ],
  [
    { versions: ['encoding after lapsed', 'revoked after lapsed'], shown: ['published', ...hidden] },
    ['source', 'played', 'rights_ended'],
  ],
  [{ versions: revoked }, ['source', null, 'revoked']],
  [{ versions: serving, shown: hidden, unavailable: ['source'] }, ['source', 'master', 'unpublished']],
  [{ versions: serving, shown: hidden }, ['source', null, 'unpublished']],
  [{ versions: serving, wanted: ['platform_controlled'] }, ['platform_controlled', 'alias', 'why']],
  [{ versions: serving }, ['wanted', 'clean', 'why']],
  [{ versions: ['failed'], unavailable: ['source'] }, ['source', 'master', 'failed']],
  [{ versions: ['failed'] }, ['source', null, 'failed']],
  [{ unavailable: ['source'] }, ['source', 'master', 'not_ready']],
  [{}, ['source', null, 'not_ready']],
];

const fits = (when: When, each: Case): boolean =>
  Object.entries({ ...each, wanted: wantedOf(each) }).every(([name, value]) => {
    const allowed: readonly unknown[] | undefined = when[name as keyof When];
    return allowed?.includes(value) ?? true;
  });

const messageOf = (sourceId: string, version: number) => ({
  ...{ authority_id: 'agr_1', signed_by: 'key_1', stream_id: 'show:1', sequence: version },
  ...{ message_digest: `sha256:${'d'.repeat(64)}`, source_id: sourceId, source_version: version },
});
const masterOf = (version: number) => `https://host.example/master-${version}.mp3`;
const digestOf = (version: number) => String(version).repeat(64);

function versionOf(state: string, version: number): SnapshotRow {
  const { audio_master: master } = contentSnapshotBody.parse({ episode: episodeBody() }).episode;
  const content = contentSnapshotBody.omit({ x: true }).parse({
    episode: episodeBody({
      audio_master: { ...master, url: masterOf(version) },
      ...(state === 'ended' && { rights: { until: '2026-11-25T11:59:59Z' } }),
    }),
  });
  const rendition = { format: 'mp3', sha256: digestOf(version), size_bytes: 900, duration_ms: 60_000 };
  return {
    ...{ id: `csn_${version}`, version: 1, source_version: version, state: state === 'ended' ? 'ready' : state },
    attributes: { ...messageOf('ep-1', version), content, rendition, episode_id: 'ep_1' },
  };
}

function factsOf({ alias, policy, versions, shown: shownAs, unavailable }: Case): RouteFacts {
  const rows = worlds[versions][0].map((state, index) => versionOf(state, index + 1));
  const [episodeState, podcastState] = shown[shownAs];
  const route_policy = { surface_id: 'app', route: policy, when_unavailable: unavailable };
  // An episode that never played anything plays no version.
  const isPlayed = !['received', 'encoding', 'failed'].includes(rows[0]!.state) && episodeState !== undefined;
  return {
    alias: {
      ...{ id: 'dal_1', version: 1, state: alias },
      attributes: {
        ...messageOf('a1', 4),
        ...deliveryAliasBody.parse(aliasBody('a1', { route_policy })),
        address: 'northern/a1',
      },
    },
    surface: {
      ...{ id: 'sfc_1', version: 1, state: 'current' },
      attributes: { ...messageOf('app', 1), capability: surfaceCapabilityBody.parse(capabilityBody('app')) },
    },
    newest: rows.at(-1),
    serving: rows.findLast(({ state }) => state === 'ready'),
    played: isPlayed ? rows[0] : undefined,
    ...{ episodeState, podcastState },
  };
}

const keys = <K extends string>(record: Readonly<Record<K, unknown>>) => Object.keys(record) as K[];

/** Every combination. */
const cases: readonly Case[] = (['active', 'paused', 'retired'] as const).flatMap((alias) =>
  routes.flatMap((policy) =>
    [undefined, ...routes].flatMap((asked) =>
      keys(worlds).flatMap((versions) =>
        keys(shown).flatMap((shownAs) =>
          (['source', 'gone'] as const).map((unavailable) => ({
            ...{ alias, policy, asked, versions, unavailable },
            shown: shownAs,
          })),
        ),
      ),
    ),
  ),
);

const ruleOf = (each: Case): number => rules.findIndex(([when]) => fits(when, each));

/** What the rules say: route, URL, reason and the version that the URL leads to. */
function expected(each: Case) {
  const [route, url, reason] = rules[ruleOf(each)]![1];
  const wanted = wantedOf(each);
  const version = url === 'master' ? worlds[each.versions][1] : url === null ? null : 1;
  const addresses = {
    alias: 'https://media.test/delivery/v1/x/northern/a1.mp3',
    clean: `https://media.test/delivery/v1/a/${digestOf(1)}/episode.mp3?e=ep_1`,
    ...{ master: version === null ? null : masterOf(version), played: masterOf(1) },
  };
  return {
    route: route === 'wanted' ? wanted : route,
    url: url === null ? null : addresses[url],
    reasonCode: reason === 'why' ? (wanted === each.asked ? 'as_asked' : 'by_policy') : reason,
    contentVersion: version,
  };
}

test('every combination of route, versions, alias and what the workspace hides is resolved by the rules', () => {
  const wrong = cases.flatMap((each) => {
    const options = { mediaUrl: 'https://media.test', now };
    const { route, url, reasonCode, contentVersion } = chooseRoute(factsOf(each), each.asked, options);
    const got = { route, url, reasonCode, contentVersion };
    return JSON.stringify(got) === JSON.stringify(expected(each)) ? [] : [{ ...each, got, expected: expected(each) }];
  });
  expect(cases).toHaveLength(3 * 4 * 5 * 12 * 6 * 2);
  expect(wrong.slice(0, 5)).toEqual([]);
});

test('every rule decides something', () => {
  expect([...new Set(cases.map(ruleOf))].toSorted((a, b) => a - b)).toEqual(rules.map((_rule, index) => index));
});
