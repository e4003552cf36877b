/** `longwave whoami`: the sign-ins of this user, and the account behind that for MCP. */
import { Client } from '@modelcontextprotocol/sdk/client/index.js';
import { liveSession } from './live-session.ts';
import { openMcp } from './open-mcp.ts';
import { fail, readOptions } from './read-options.ts';
import { openSessionFile, signInApis } from './session-file.ts';

const usage = `longwave whoami

Shows where this program is signed in, with which scopes, and the account that agents work in.`;

async function whoami(): Promise<void> {
  if (readOptions(usage, { help: { type: 'boolean', short: 'h' } }).help) return console.log(usage);
  const file = openSessionFile();
  const signedIn = signInApis.filter((api) => file.read(api));
  if (signedIn.length === 0) throw new Error('You are not signed in. Sign in: longwave login');
  for (const api of signedIn) {
    const { issuer, resource, scope } = await liveSession(file, api);
    console.log(JSON.stringify({ api, installation: issuer, resource, scopes: scope.split(' ') }, null, 2));
  }
  if (!signedIn.includes('mcp')) return;
  const client = new Client({ name: 'longwave', version: '1' });
  await client.connect(await openMcp(file));
  const { structuredContent, content } = await client.callTool({ name: 'get_account', arguments: {} });
  console.log(JSON.stringify(structuredContent ?? content, null, 2));
  await client.close();
}

await whoami().catch(fail);
