import { expect, test } from '@jest/globals';
import { freePorts } from '@longwave/fleet';
import { runConformance } from '@longwave/test-kit';
import { connector, mcpResource, startOauth } from './_oauth.ts';

test('both authorization scenarios of the MCP conformance package 0.2.0-alpha.12 pass: metadata, and a code for a token', async () => {
  const [ownPort, callbackPort] = await freePorts(2);
  const ownUrl = `http://127.0.0.1:${ownPort}`;
  await using oauth = await startOauth({ ownUrl });
  const redirectUri = `http://127.0.0.1:${callbackPort}/callback`;
  const client = await oauth.register(connector({ redirect_uris: [redirectUri] }));
  // While a document describes a client, the metadata announce that, which the package looks for.
  await oauth.register(connector({ client_id: 'https://agent.example/client.json' }));
  const ada = await oauth.signedIn('Ada');

  const opened: Promise<Response>[] = [];
  const args = ['--url', ownUrl, '--client-id', client.client_id, '--resource', mcpResource];
  const run = await runConformance(
    '0.2.0-alpha.12',
    ['authorization', ...args, '--port', String(callbackPort)],
    (line) => {
      if (line.startsWith(`${ownUrl}/oauth/authorize?`))
        opened.push(oauth.consent(ada, line).then((answer) => fetch(answer)));
    },
  );

  expect(run.exitCode === 0 ? 'every scenario as expected' : run.output).toBe('every scenario as expected');
  expect((await Promise.all(opened)).map(({ status }) => status)).toEqual([200]);
  expect(Object.fromEntries(run.scenarios)).toEqual({
    'authorization-server-metadata-endpoint': { SUCCESS: 2 },
    'authorization-code-grant': { SUCCESS: 1 },
  });
});
