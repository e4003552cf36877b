/** `longwave whoami`: the sign-ins of this user, and the account behind the one for MCP. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { typed } from '../command.ts';
import { liveSession } from './live-session.ts';
import { openMcp } from './open-mcp.ts';
import { fail, ignoredData, readOptions } from './read-options.ts';
import { openSessionFile, signInApis, type SessionFile } from './session-file.ts';

const usage = `${typed} whoami [--data FOLDER]

Shows, for each API, the installation where this program is signed in, its scopes, and the account that agents work in.

${ignoredData}`;

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

async function whoami(): Promise<void> {
  if (readOptions(usage, { help: { type: 'boolean', short: 'h' } }).help) return console.log(usage);
  const file = openSessionFile();
  const signedIn = signInApis.filter((api) => file.read(api));
  if (signedIn.length === 0) throw new Error(`You are not signed in. Sign in: ${typed} login`);
  const signIns = [];
  for (const api of signedIn) {
    const { issuer, resource, scope } = await liveSession(file, api);
    const account = api === 'mcp' ? { account: await readAccount(file) } : {};
    signIns.push({ api, installation: issuer, resource, scopes: scope.split(' '), ...account });
  }
  console.log(JSON.stringify(signIns, null, 2));
}

await whoami().catch(fail);
