/**
 * Jest's global setup. The tests of one run share a folder for files, `$TEST_RUN_FOLDER`, and an installation, which is started when
 * `$TEST_INSTALLATION` is asked for it the first time.
 */
import { once } from 'node:events';
import { createServer } from 'node:http';
import { removeDataFolder, temporaryDataFolder } from '@longwave/fleet';

export default async function beginRun() {
  const folder = temporaryDataFolder();
  process.env.TEST_RUN_FOLDER = folder.root;
  process.once('exit', () => removeDataFolder(folder));
  if (process.env.TEST_PROFILE === 'cluster') {
    const { clusterProfile } = await import('@longwave/local/cluster-profile');
    process.env.TEST_CLUSTER_PROFILE = JSON.stringify(await clusterProfile((text) => console.log(`  ${text}`)));
  }
  globalThis.endRun = await serveInstallation();
}

/** Answers how to end it, for the global teardown. */
async function serveInstallation() {
  let starting;
  const start = async () => (await import('./_shared-installation.ts')).startSharedInstallation();
  const server = createServer((_request, response) => {
    starting ??= start();
    starting.then(
      ({ place }) => response.end(JSON.stringify(place)),
      (error) => response.writeHead(500).end(error.stack),
    );
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  process.env.TEST_INSTALLATION = `http://127.0.0.1:${server.address().port}`;
  return async () => {
    server.close();
    server.closeAllConnections();
    await (await starting?.catch(() => undefined))?.stop();
  };
}
