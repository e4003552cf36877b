/** `longwave login`: signs in to an API for people, in the browser. */
import { spawn } from 'node:child_process';
import { apiScopes } from '@longwave/principal';
import { typed, UsageError } from '../command.ts';
import { fail, readApi, readOptions } from './read-options.ts';
import { openSessionFile } from './session-file.ts';
import { signIn } from './sign-in.ts';

/** Scopes that a sign-in asks for by itself. */
const asked = { mcp: apiScopes.mcp, management: ['management:read', 'management:write'] } as const;

const usage = `${typed} login [--for mcp|management] [--url BASE_URL] [--scope "SCOPES"] [--data FOLDER]

Signs in at an installation: it prints an address, where you sign in and choose what this program may do. The sign-in is kept in a file that
only you can read, and renewed by itself.

  --for API        optional: mcp, for agents (the default), or management, for the Management API
  --url BASE_URL   optional: the installation (default: the one that runs on this machine)
  --scope SCOPES   optional: what to ask for, separated by spaces; on the page you can take scopes away. Without it:
                   for mcp: ${asked.mcp.join(' ')}
                   for management: ${asked.management.join(' ')}
  --data FOLDER    optional: data folder of the installation on this machine (default: .longwave)
  --json           optional: print one JSON document

Example:
  ${typed} login --url https://pod.example --for management

“manage decisions” and “manage trace” need management:diagnostics, which is asked for by name:
  ${typed} login --for management --scope "${[...asked.management, 'management:diagnostics'].join(' ')}"`;

/** Tries to show the address in a browser; it stands in the terminal anyway. */
function openBrowser(address: string): void {
  const opener = process.platform === 'darwin' ? 'open' : 'xdg-open';
  spawn(opener, [address], { stdio: 'ignore', detached: true })
    .on('error', () => undefined)
    .unref();
}

async function login(): Promise<void> {
  const options = readOptions(usage, {
    for: { type: 'string' },
    url: { type: 'string' },
    scope: { type: 'string' },
  });
  if (options.help) return console.log(usage);
  const api = readApi(options.for);
  const baseUrl = options.url ?? process.env['LONGWAVE_URL'];
  if (!baseUrl)
    throw new UsageError(
      'No service is running on this machine. Name the installation: --url https://…, or the data folder that it runs on: --data FOLDER',
    );
  const scopes = options.scope?.split(' ').filter(Boolean) ?? asked[api];
  const session = await signIn({ baseUrl, api, scopes }, (address) => {
    console.error(`Open this address to sign in:\n\n  ${address}\n`);
    if (process.stdout.isTTY) openBrowser(address);
  });
  const file = openSessionFile();
  await file.exclusively(async () => file.write(api, session));
  const { issuer, scope } = session;
  console.log(
    options.json
      ? JSON.stringify({ api, installation: issuer, scopes: scope.split(' ') }, null, 2)
      : `Signed in at ${issuer} for ${api}: ${scope}`,
  );
}

await login().catch(fail);
