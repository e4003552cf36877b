import { writeFileSync } from 'node:fs';
import path from 'node:path';
import { developmentCa, type Fleet } from '@longwave/fleet';
import { openChannel, readTls } from '@longwave/rpc';
import { Api, Carrier, CredentialServiceService } from '@longwave/rpc/credential';
import { createBrowser } from '@longwave/test-kit';
import {
  createAccount,
  createRestClient,
  getAccessToken,
  issueCredential,
  registerConnector,
  signUp,
  type Operator,
} from '@longwave/test-kit/clients';
import pMap from 'p-map';
import { ask } from './ask.ts';
import { startBaseline } from './baseline-server.ts';
import { emptyRpc } from './empty-rpc.ts';
import { compare, ratePerSecond, type Row } from './measure.ts';

/** Every request comes from an address of its own, as a trusted proxy tells it: limits by address are for others. */
let addresses = 0;
const nextAddress = () => {
  addresses += 1;
  return `198.18.${(addresses >> 8) & 255}.${addresses & 255}`;
};

const baselineName = 'empty RPC on the same channel';
const callsPerRound = 1_000;
const keysPerRound = 200;

/**
 * `Verify` calls per second against an empty RPC: of keys that auth-server never saw, whose statement is signed; of one key, whose
 * statement it has; and of one access token, whose grant is asked for too.
 */
export async function verifyRate(fleet: Fleet, operator: Operator): Promise<Row[]> {
  const { 'mcp-server': gateway } = await developmentCa(path.join(fleet.dataFolder, 'tls'), ['mcp-server'], new Date());
  const channel = openChannel(fleet.addresses['auth-server'], 'auth-server', readTls(gateway));
  try {
    const credentials = channel.client(CredentialServiceService);
    const verify = async (credential: string, api: Api) => {
      const { outcome } = await credentials.verify({ credential, api, carrier: Carrier.HEADER }, { deadlineMs: 5_000 });
      if (outcome?.$case !== 'principal') throw new Error(`a credential was refused: ${outcome?.value}`);
    };
    const empty = emptyRpc(channel);
    const baseline = () => ratePerSecond(callsPerRound, 32, empty);
    const accounts = await pMap(Array.from({ length: 40 }), () => createAccount(operator), { concurrency: 8 });
    const newKeys = () =>
      pMap(
        Array.from({ length: keysPerRound }, (_, i) => accounts[i % accounts.length]!),
        async ({ accountId }) => (await issueCredential(operator, accountId, { kind: 'api_key', name: 'bench' })).text,
        { concurrency: 8 },
      );
    const { apiKey } = accounts[0]!;
    const [person, clientId] = [await signUp({ fleet }, 'Ada'), await registerConnector({ operator })];
    const token = await getAccessToken(person, {
      ...{ base: fleet.urls.base, clientId, resource: `${fleet.urls.mcp}/mcp`, scopes: ['mcp:read'] },
    });
    return [
      await compare(
        { name: 'Verify, keys never seen', unit: 'RPC/s', baselineName },
        5,
        async () => {
          const keys = await newKeys();
          return ratePerSecond(keys.length, 32, (i) => verify(keys[i]!, Api.REST));
        },
        baseline,
      ),
      await compare(
        { name: 'Verify, the same key', unit: 'RPC/s', baselineName },
        5,
        () => ratePerSecond(callsPerRound, 32, () => verify(apiKey, Api.REST)),
        baseline,
      ),
      await compare(
        { name: 'Verify, the same access token', unit: 'RPC/s', baselineName },
        5,
        () => ratePerSecond(callsPerRound, 32, () => verify(token, Api.MCP)),
        baseline,
      ),
    ];
  } finally {
    channel.close();
  }
}

const protocolVersion = '2026-07-28';

/** The tool `get_podcast` at the MCP server against the same podcast by REST API v1. */
export async function agentRate(fleet: Fleet, operator: Operator): Promise<Row> {
  const account = await createAccount(operator, 'unlimited');
  const rest = createRestClient(fleet.urls.base, account.apiKey);
  const { id } = await rest.post<{ id: string }>('/podcasts', { title: 'Bench', language: 'en' });
  const { text } = await issueCredential(operator, account.accountId, { kind: 'mcp_personal_token', name: 'bench' });
  const body = JSON.stringify({
    ...{ jsonrpc: '2.0', id: 1, method: 'tools/call' },
    params: {
      ...{ name: 'get_podcast', arguments: { podcast_id: id } },
      _meta: {
        'io.modelcontextprotocol/protocolVersion': protocolVersion,
        'io.modelcontextprotocol/clientCapabilities': {},
        'io.modelcontextprotocol/clientInfo': { name: 'bench', version: '1' },
      },
    },
  });
  const headers = {
    ...{ authorization: `Bearer ${text}`, accept: 'application/json, text/event-stream' },
    ...{ 'content-type': 'application/json', 'content-length': String(Buffer.byteLength(body)) },
    ...{ 'mcp-protocol-version': protocolVersion, 'mcp-method': 'tools/call', 'mcp-name': 'get_podcast' },
  };
  const callTool = () =>
    ask(`${fleet.urls.mcp}/mcp`, 200, { body, headers: { ...headers, 'x-forwarded-for': nextAddress() } });
  const answer = (await callTool()).toString();
  if (!answer.includes('structuredContent') || answer.includes('"isError":true')) throw new Error(answer);
  const get = () => ask(`${fleet.urls.base}/api/v1/podcasts/${id}`, 200, { headers: { token: account.apiKey } });
  return compare(
    { name: 'get_podcast of an agent', unit: '/s', baselineName: 'GET /podcasts/{id} of REST API v1, behind the edge' },
    5,
    () => ratePerSecond(1_000, 16, callTool),
    () => ratePerSecond(1_000, 16, get),
  );
}

const requestsPerFlow = 5;

/**
 * Whole code flows per second of a person who has signed in (authorization request, page of consent, its form, the answer, the token)
 * against as many requests of a bare express route that answers a page of the same size.
 */
export async function codeFlowRate(fleet: Fleet, operator: Operator, folder: string): Promise<Row> {
  const [person, clientId] = [await signUp({ fleet }, 'Ada'), await registerConnector({ operator })];
  const { base, mcp } = fleet.urls;
  const request = { base, clientId, resource: `${mcp}/mcp`, scopes: ['mcp:read', 'mcp:analytics.read'] };
  const flow = () => {
    const browser = createBrowser(base);
    for (const [name, value] of person.browser.cookies) browser.cookies.set(name, value);
    return getAccessToken({ browser, accountId: person.accountId }, request);
  };
  const page = path.join(folder, 'page.html');
  writeFileSync(page, (await person.browser.get('/settings/connectors')).body);
  using bare = await startBaseline('answer-server.ts', page);
  const bareFlow = async () => {
    for (let i = 0; i < requestsPerFlow; i++) await (await fetch(bare.url)).text();
  };
  return await compare(
    { name: 'OAuth code flows', unit: '/s', baselineName: `${requestsPerFlow} requests of a bare express route` },
    5,
    () => ratePerSecond(100, 8, flow),
    () => ratePerSecond(300, 8, bareFlow),
  );
}
