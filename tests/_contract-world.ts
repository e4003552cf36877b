import { statSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { apiScopes } from '@longwave/principal';
import {
  acceptInvitation,
  getAccessToken,
  registerConnector,
  signUp,
  uploadFile,
  type Person,
  type RestClient,
} from '@longwave/test-kit/clients';
import { makeAudio, repeatAudio, until } from '@longwave/test-kit';
import pg from 'pg';
import {
  encodedEpisode,
  publishedPodcast,
  hostingWorldOf,
  type HostingWorld,
  type WorldAccount,
} from './_hosting-world.ts';
import { startOutsideHost } from './_outside-host.ts';
import { openSharedInstallation } from './_shared-installation.ts';

/** Everything that the cases of cases/contract.json speak of. */
export interface ContractWorld extends AsyncDisposable {
  /** The values for `{…}` in a case. */
  readonly names: Record<string, string>;
  /** Credential texts by the name of who sends them. */
  readonly credentials: Record<string, string>;
}

interface Setting extends ContractWorld {
  readonly world: HostingWorld;
  /** Who owns the accounts with access tokens. */
  readonly person: Person;
  /** The client that gets them. */
  readonly clientId: string;
}

/** Makes all of it on the shared installation. */
export async function makeContractWorld(): Promise<ContractWorld> {
  await using stack = new AsyncDisposableStack();
  const world = hostingWorldOf(stack.use(await openSharedInstallation()));
  const outside = stack.use(await startOutsideHost(world.outsidePort));
  const { base, mcp: mcpHost } = world.fleet.urls;
  const setting: Setting = {
    world,
    person: await signUp(world, 'Ada Quay'),
    clientId: await registerConnector(world),
    names: { base, mcpHost, outside: outside.origin, ...dates(new Date()) },
    credentials: { wrong: 'lw_no_such_key' },
    [Symbol.asyncDispose]: async () => undefined,
  };
  const owner = await ownAccount(setting, 'owner');
  await ownedThings(setting, owner);
  outside.files.set('/outside.mp3', { type: 'audio/mpeg', path: path.join(world.folder, 'short.mp3') });
  await ownersCredentials(setting, owner);
  await subscriptions(setting);
  await plans(setting);
  await maker(setting);
  await guests(setting, owner);
  const owned = stack.move();
  return { ...setting, [Symbol.asyncDispose]: () => owned.disposeAsync() };
}

/** `month3` is the name of the month three months ago, `month3Start` its beginning. */
function dates(now: Date): Record<string, string> {
  const months = [0, 1, 2, 3, 4, 5].flatMap((ago) => {
    const start = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - ago)).toISOString();
    return [
      [`month${ago}`, start.slice(0, 7)],
      [`month${ago}Start`, start],
    ];
  });
  return Object.fromEntries(months) as Record<string, string>;
}

/** An access token that the person gives for one of the accounts. */
async function grant(
  { world, person: { browser }, clientId, credentials }: Setting,
  as: string,
  { accountId }: WorldAccount,
  scopes: readonly string[],
): Promise<void> {
  const { base, mcp } = world.fleet.urls;
  const resource = scopes[0]!.startsWith('mcp:') ? `${mcp}/mcp` : `${base}/api/v1`;
  credentials[as] = await getAccessToken({ browser, accountId }, { base, clientId, resource, scopes });
}

/** An account of the person. */
async function ownAccount(setting: Setting, name: string, plan?: string) {
  const { attributes } = await setting.world.operator.account(setting.person.accountId);
  return account(setting, name, plan, { owner_user_id: attributes.owner_user_id });
}

async function account({ world, credentials }: Setting, name: string, plan?: string, more?: object) {
  const made = await world.account(name, plan, more);
  credentials[name] = made.apiKey;
  return made;
}

async function issue(
  { world, credentials }: Setting,
  as: string,
  owner: WorldAccount,
  kind: string,
  more: object = {},
): Promise<string> {
  const { id, text } = await world.credential(owner, kind, more);
  credentials[as] = text;
  return id;
}

const idOf = async (rest: RestClient, route: string, body: object) => (await rest.post<{ id: string }>(route, body)).id;

async function ownedThings({ world, names }: Setting, { rest }: WorldAccount): Promise<void> {
  const podcast = await publishedPodcast(rest, 'Harbour Light');
  const draftPodcast = await idOf(rest, '/podcasts', { title: 'In the making', language: 'en' });
  const hidden = await idOf(rest, `/podcasts/${draftPodcast}/episodes`, { title: 'Hidden' });
  const first = await encodedEpisode(world, rest, podcast, { title: 'First light', publish: true });
  const draft = await idOf(rest, `/podcasts/${podcast}/episodes`, { title: 'Second' });
  const short = makeAudio(path.join(world.folder, 'short.mp3'), 10);
  const fileUrl = (await uploadFile(rest, short)).fileUrl;
  const long = repeatAudio(makeAudio(path.join(world.folder, 'minute.mp3'), 60), 30);
  const production = async (file: string) =>
    idOf(rest, '/productions', { episode_id: draft, file_url: (await uploadFile(rest, file)).fileUrl });
  Object.assign(names, {
    podcast,
    draftPodcast,
    hiddenEpisode: hidden,
    episode: first.episodeId,
    encodedProduction: first.productionId,
    draftEpisode: draft,
    fileUrl,
    fileSize: String(statSync(short).size),
    initialProduction: await production(short),
    longProduction: await production(long),
    doomedClip: await idOf(rest, '/media_clips', {
      episode_id: draft,
      file_format: 'mp3',
      url: fileUrl,
      duration: 10,
    }),
  });
  await until('the clip of the encoded file', async () => {
    const [found] = await rest.get<{ id: string }[]>(`/media_clips?episode_id=${first.episodeId}`);
    names['clip'] = found?.id ?? '';
    return found !== undefined || undefined;
  });
}

async function ownersCredentials(setting: Setting, owner: WorldAccount): Promise<void> {
  const { world } = setting;
  await issue(setting, 'legacy', owner, 'legacy_token');
  await issue(setting, 'readToken', owner, 'legacy_token', { scope: 'read' });
  await grant(setting, 'partner', owner, apiScopes.rest);
  await issue(setting, 'session', owner, 'browser_session');
  await grant(setting, 'mcp', owner, apiScopes.mcp);
  await grant(setting, 'mcpRead', owner, ['mcp:read']);
  await issue(setting, 'mcpPersonal', owner, 'mcp_personal_token');
  await issue(setting, 'expired', owner, 'api_key', { expires_at: new Date(Date.now() - 1000).toISOString() });
  for (const [name, command] of [
    ['revoked', 'credential.revoke'],
    ['blocked', 'credential.block'],
  ] as const) {
    const id = await issue(setting, name, owner, 'api_key');
    await world.identity(owner, command, { type: 'credentials', id }, {});
  }
}

/** Accounts whose subscription is not simply active: each with an API key, a legacy token and access tokens. */
async function subscriptions(setting: Setting): Promise<void> {
  const over = { state: 'trialing', trial_ends_at: new Date(Date.now() - 1000).toISOString() };
  for (const [name, subscription] of [
    ['canceled', { state: 'canceled' }],
    ['suspended', { state: 'suspended' }],
    ['pastDue', { state: 'past_due' }],
    ['trialOver', over],
  ] as const) {
    const made = await ownAccount(setting, name);
    await issue(setting, `${name}Legacy`, made, 'legacy_token');
    await grant(setting, `${name}Partner`, made, apiScopes.rest);
    await grant(setting, `${name}Mcp`, made, apiScopes.mcp);
    const subject = { type: 'accounts', id: made.accountId };
    await setting.world.identity(made, 'account.set_subscription', subject, { subscription });
  }
}

/** Lets a podcast have begun in the month so many months ago: nothing else makes months that are over. */
async function age({ world }: Setting, podcastId: string, months: number): Promise<void> {
  const now = new Date();
  const begun = new Date(Date.UTC(now.getUTCFullYear(), now.getUTCMonth() - months, 2));
  await inDatabase(world, 'update product.resource set created_at = $2 where id = $1', [podcastId, begun]);
}

async function inDatabase(world: HostingWorld, statement: string, values: unknown[]): Promise<void> {
  const client = new pg.Client({ connectionString: world.fleet.adminDatabaseUrl });
  await client.connect();
  try {
    await client.query(statement, values);
  } finally {
    await client.end();
  }
}

async function plans(setting: Setting): Promise<void> {
  const { world, names } = setting;
  await issue(setting, 'growLegacy', await account(setting, 'grow', 'grow'), 'legacy_token');
  await issue(setting, 'legacyWithoutApi', await account(setting, 'launch', 'launch'), 'legacy_token');
  await issue(setting, 'scaleLegacy', await account(setting, 'scale', 'scale'), 'legacy_token');
  const classic = await account(setting, 'classic', 'scale');
  await world.identity(classic, 'account.set_plan', { type: 'accounts', id: classic.accountId }, { plan: 'classic' });
  await issue(setting, 'classicLegacy', classic, 'legacy_token');

  const grow = await ownAccount(setting, 'grow90', 'ninety_days');
  names['growPodcast'] = await publishedPodcast(grow.rest, 'Ninety days');
  await age(setting, names['growPodcast'], 5);
  await grant(setting, 'growAnalytics', grow, ['api:analytics.read']);

  const silent = await account(setting, 'silent', 'silent');
  names['silentPodcast'] = await publishedPodcast(silent.rest, 'Silent');
  names['silentDraft'] = await idOf(silent.rest, '/podcasts', { title: 'Draft', language: 'en' });
  names['silentEpisode'] = await idOf(silent.rest, `/podcasts/${names['silentPodcast']}/episodes`, { title: 'One' });

  const poor = await account(setting, 'poor', 'hurried');
  const podcast = await idOf(poor.rest, '/podcasts', { title: 'Short of time', language: 'en' });
  const episode = await idOf(poor.rest, `/podcasts/${podcast}/episodes`, { title: 'Ten seconds' });
  const { fileUrl } = await uploadFile(poor.rest, path.join(world.folder, 'short.mp3'));
  names['poorProduction'] = await idOf(poor.rest, '/productions', { episode_id: episode, file_url: fileUrl });

  const limited = await ownAccount(setting, 'limited', 'three_a_minute');
  await issue(setting, 'limitedLegacy', limited, 'legacy_token');
  await grant(setting, 'limitedPartner', limited, apiScopes.rest);
  await issue(setting, 'limitedSession', limited, 'browser_session');
}

/** Somebody who makes episodes while the cases run, with a podcast that began five months ago. */
async function maker(setting: Setting): Promise<void> {
  const { world, names } = setting;
  const { rest } = await account(setting, 'maker');
  names['makerPodcast'] = await publishedPodcast(rest, 'Workshop');
  await age(setting, names['makerPodcast'], 5);
  for (const name of ['plain', 'published', 'started', 'broken', 'outside'])
    names[`${name}Episode`] = await idOf(rest, `/podcasts/${names['makerPodcast']}/episodes`, { title: name });
  const letter = path.join(world.folder, 'letter.mp3');
  writeFileSync(letter, 'Dear listeners,\n'.repeat(5000));
  names['brokenFileUrl'] = (await uploadFile(rest, letter)).fileUrl;
  const { fileUrl } = await uploadFile(rest, path.join(world.folder, 'short.mp3'));
  names['makerFileUrl'] = fileUrl;
  for (const name of ['plain', 'published'])
    names[`${name}Production`] = await idOf(rest, '/productions', {
      episode_id: names[`${name}Episode`],
      file_url: fileUrl,
    });

  const busy = await account(setting, 'busy');
  names['busyPodcast'] = await publishedPodcast(busy.rest, 'Busy');
  const { id } = await busy.rest.post<{ id: string }>(`/podcasts/${names['busyPodcast']}/analytics/legacy_export`);
  await until('the export', async () => {
    const found = await busy.rest.get<{ state: string }>(`/podcasts/${names['busyPodcast']}/analytics/legacy_export`);
    return found.state === 'ready' || undefined;
  });
  // Of so few days an export is ready at once; this one goes on for as long as the cases need it.
  await inDatabase(world, "update product.resource set lifecycle_state = 'preparing' where id = $1", [id]);
}

/** People who work on the owner's podcasts. */
async function guests(setting: Setting, owner: WorldAccount): Promise<void> {
  const { world, names, credentials } = setting;
  await account(setting, 'stranger');
  for (const role of ['editor', 'analyst']) {
    const { email } = await account(setting, role);
    await owner.rest.post(`/podcasts/${names['podcast']}/collaborators`, { email, role });
    await acceptInvitation(world, email);
  }
  for (const [name, permissions] of [
    ['member', ['edit']],
    ['memberAnalyst', ['view_analytics']],
  ] as const) {
    const member = await account(setting, name, 'launch');
    const ids = { owner_account_id: owner.accountId, member_account_id: member.accountId };
    await world.identity(owner, 'membership.add', { type: 'memberships' }, { ...ids, permissions });
    if (name === 'member') await issue(setting, 'memberLegacy', member, 'legacy_token');
  }
  for (const name of ['editor', 'analyst', 'member', 'memberAnalyst'])
    await until(`what ${name} may see`, async () => {
      const answer = await fetch(`${world.fleet.urls.base}/api/v1/podcasts/${names['podcast']}`, {
        headers: { token: credentials[name]! },
      });
      return answer.ok || undefined;
    });
}
