/**
 * An encoder that a test kills: prints `listening <port>`, then `handling <key>` for each probe, and answers all but those whose key
 * begins with `hang`. Argument: the files of its identity as JSON.
 */
import { ProbeServiceService } from '../src/generated/longwave/probe/v1/probe.ts';
import { readTls, rpcService, serveRpc } from '../src/index.ts';

const { port } = await serveRpc({
  listen: '127.0.0.1:0',
  tls: readTls(JSON.parse(process.argv[2]!)),
  services: [
    rpcService(
      ProbeServiceService,
      { probe: ['management'], prepareArtwork: [] },
      {
        probe: async ({ storageKey }) => {
          process.stdout.write(`handling ${storageKey}\n`);
          if (storageKey.startsWith('hang')) await new Promise(() => undefined);
          return { outcome: { $case: 'unreadable', value: { code: 'media_empty', detail: storageKey } } };
        },
        prepareArtwork: () => Promise.reject(new Error('nobody may call it')),
      },
    ),
  ],
  onError: () => undefined,
});
process.stdout.write(`listening ${port}\n`);
