import { afterAll, beforeAll, expect, test } from '@jest/globals';
import { freePorts, removeDataFolder, temporaryDataFolder, type PublicUrls } from '@longwave/fleet';
import { samples } from '@longwave/local/samples';
import { sha256, until } from '@longwave/test-kit';
import { checkFeed, download, getAccessToken, registerConnector, signUp } from '@longwave/test-kit/clients';
import { createPodcaster, startTestFleet, type TestFleet } from '../_fleet.ts';
import { startPublicHosts } from '../_public-hosts.ts';

const domain = 'pod.example';
const hosts = ['base', 'mcp', 'api', 'media', 'objects'] as const;
const nameOf = (host: (typeof hosts)[number]) => (host === 'base' ? domain : `${host}.${domain}`);

let world: TestFleet;
let urls: PublicUrls;
const stack = new AsyncDisposableStack();
beforeAll(async () => {
  const folder = temporaryDataFolder();
  stack.defer(() => removeDataFolder(folder));
  const proxy = stack.use(await startPublicHosts(hosts.map(nameOf), folder.root));
  const [base = 0, mcp = 0, api = 0, media = 0, objectStore = 0] = await freePorts(5);
  const ports = { base, mcp, api, media, objectStore };
  for (const host of hosts) proxy.route(nameOf(host), host === 'objects' ? objectStore : ports[host]);
  const url = (host: (typeof hosts)[number]) => `https://${nameOf(host)}:${proxy.port}`;
  urls = { base: url('base'), mcp: url('mcp'), api: url('api'), media: url('media'), objects: url('objects') };
  // Management looks at artwork at its public address, as directories will.
  const env = { management: proxy.env };
  world = stack.use(await startTestFleet({ ports, urls, env, trustedProxies: '127.0.0.1/32' }));
});
afterAll(() => stack.disposeAsync());

const json = async <T>(address: string, headers: Record<string, string> = {}) => {
  const answer = await fetch(address, { headers });
  return { status: answer.status, headers: answer.headers, body: (await answer.json()) as T };
};

test('a person signs up, out and in at the public address, with a cookie that only this host gets', async () => {
  const ada = await signUp(world, 'Ada');
  expect([...ada.browser.cookies.keys()]).toContain('__Host-lw_session');
  expect(JSON.parse((await ada.browser.get('/api/v1/account')).body)).toMatchObject({ id: ada.accountId });
  await ada.browser.post('/sign-out', {});
  expect((await ada.browser.get('/api/v1/account')).status).toBe(401);
  const form = (await ada.browser.get('/sign-in')).body;
  expect(form).not.toContain('http://');
  const { email, password } = ada;
  const signedIn = await ada.browser.post('/sign-in', { email, password }, {}, '/sign-in');
  expect(signedIn.headers.getSetCookie().find((cookie) => cookie.startsWith('__Host-lw_session='))).toMatch(
    /; Path=\/; HttpOnly; SameSite=Lax; Secure/,
  );
  expect((await ada.browser.get('/api/v1/account')).status).toBe(200);
});

test('programs find the public issuer and resources, and their tokens open the API behind the proxy', async () => {
  const metadata = await json<Record<string, string>>(`${urls.base}/.well-known/oauth-authorization-server`);
  expect(metadata.body['issuer']).toBe(urls.base);
  for (const name of ['authorization_endpoint', 'token_endpoint', 'revocation_endpoint', 'jwks_uri'])
    expect(metadata.body[name]).toMatch(new RegExp(`^${urls.base}/`));
  const management = `${urls.api}/management/v1`;
  const refused = await json(`${management}/workspaces`);
  expect(refused.status).toBe(401);
  const [, resourceMetadata = ''] =
    /resource_metadata="([^"]+)"/.exec(refused.headers.get('www-authenticate') ?? '') ?? [];
  expect((await json(resourceMetadata)).body).toMatchObject({
    resource: management,
    authorization_servers: [urls.base],
  });
  const mcp = await json(`${urls.mcp}/.well-known/oauth-protected-resource/mcp`);
  expect(mcp.body).toMatchObject({ resource: `${urls.mcp}/mcp`, authorization_servers: [urls.base] });

  const ada = await signUp(world, 'Ada');
  const clientId = await registerConnector(world);
  const ask = { base: urls.base, clientId, resource: management, scopes: ['management:read'] };
  const authorization = `Bearer ${await getAccessToken(ada, ask)}`;
  const opened = await json<{ rows: readonly object[] }>(`${management}/workspaces`, { authorization });
  expect([opened.status, opened.body.rows.length]).toEqual([200, 1]);
});

test('an episode goes from an upload at a presigned public address into a feed whose addresses are public', async () => {
  const podcaster = await createPodcaster(world);
  const { rest } = podcaster;
  const grant = await rest.post<{ upload_url: string; file_url: string }>('/uploads', {
    filename: 'a.wav',
    filesize: 5,
  });
  expect(new URL(grant.upload_url).origin).toBe(urls.objects);
  const elsewhere = grant.upload_url.replace(urls.objects, world.fleet.objectStore.endpoint);
  const put = (address: string) =>
    fetch(address, { method: 'PUT', body: 'audio', headers: { 'content-type': 'audio/wav' } });
  // The host is part of the signature.
  expect((await put(elsewhere)).status).toBe(403);
  expect((await put(grant.upload_url)).status).toBe(200);

  const { productionId } = await podcaster.newProduction(samples.audio);
  await rest.post(`/productions/${productionId}/start?publish_episode=true`);
  const { files } = await podcaster.state(productionId, 'encoded');
  expect(podcaster.feedUrl).toMatch(new RegExp(`^${urls.media}/`));
  const item = await until('the episode in the feed', () => checkFeed(podcaster.feedUrl), { timeoutMs: 30_000 });
  const feed = await (await fetch(podcaster.feedUrl)).text();
  const addresses = [...feed.matchAll(/(?:href|url)="(https?:[^"]+)"/g)].map(([, address]) => new URL(address!).origin);
  expect(new Set(addresses)).toEqual(new Set([urls.media]));
  const heard = await download(item.enclosureUrl);
  expect(new URL(heard.mediaUrl).origin).toBe(urls.media);
  expect(heard.status).toBe(200);
  const rendition = files.find(({ role }) => role === 'rendition')!;
  const clean = Buffer.from(await (await fetch(rendition.url)).arrayBuffer());
  expect(new URL(rendition.url).origin).toBe(urls.media);
  expect(sha256(clean)).toBe(rendition.sha256);
});
