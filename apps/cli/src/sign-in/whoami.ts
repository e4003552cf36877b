/** `longwave whoami`: the sign-ins of this user, and the account or workspaces behind each. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { z } from 'zod';
import { typed } from '../command.ts';
import { openManagementApi } from '../manage/management-api.ts';
import { listWorkspaces } from '../manage/workspace.ts';
import { liveSession } from './live-session.ts';
import { openMcp } from './open-mcp.ts';
import { fail, ignoredData, readOptions } from './read-options.ts';
import { openSessionFile, signInApis, type SessionFile, type SignInApi } from './session-file.ts';

const usage = `${typed} whoami [--data FOLDER]

Shows, for each API, the installation where this program is signed in and its scopes; for mcp the account that agents work in, for
management the workspaces that you see, with the account of each and your roles.

${ignoredData}

Example:
  ${typed} whoami --json`;

/** The account that agents work in, as the MCP server shows it. */
async function readAccount(file: SessionFile): Promise<unknown> {
  const client = new Client({ name: 'longwave', version: '1' });
  await client.connect(openMcp(file));
  try {
    const { structuredContent, content } = await client.callTool({ name: 'get_account', arguments: {} });
    return structuredContent ?? content;
  } finally {
    await client.close();
  }
}

const workspaceSchema = z.object({ attributes: z.object({ account_id: z.string() }) });

/** The workspaces that the person sees, each with its account. */
async function readWorkspaces(file: SessionFile): Promise<unknown> {
  const api = openManagementApi(
    () => liveSession(file, 'management'),
    (line) => console.error(line),
  );
  const found = [];
  for (const { id, name, roles } of await listWorkspaces(api)) {
    const { attributes } = workspaceSchema.parse(
      await api.ask({ path: `/workspaces/${id}/resources/workspaces/${id}` }),
    );
    found.push({ id, name, account_id: attributes.account_id, roles });
  }
  return found;
}

/** What an API says about the person who signed in, as far as the scopes allow. */
async function readPerson(file: SessionFile, api: SignInApi, scopes: readonly string[]): Promise<object> {
  if (api === 'mcp') return { account: await readAccount(file) };
  return scopes.includes('management:read') ? { workspaces: await readWorkspaces(file) } : {};
}

async function whoami(): Promise<void> {
  if (readOptions(usage, {}).help) return console.log(usage);
  const file = openSessionFile();
  const signedIn = signInApis.filter((api) => file.read(api));
  if (signedIn.length === 0)
    throw new Error(
      [
        'You are not signed in. Sign in:',
        `  ${typed} login                   for agents (mcp)`,
        `  ${typed} login --for management  for “manage”, the Management API`,
      ].join('\n'),
    );
  const signIns = [];
  for (const api of signedIn) {
    const { issuer, resource, scope } = await liveSession(file, api);
    const scopes = scope.split(' ');
    signIns.push({ api, installation: issuer, resource, scopes, ...(await readPerson(file, api, scopes)) });
  }
  console.log(JSON.stringify(signIns, null, 2));
}

await whoami().catch(fail);
