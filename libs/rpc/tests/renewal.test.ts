import { once } from 'node:events';
import { mkdtempSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { connect as connectTls } from 'node:tls';
import { X509Certificate } from 'node:crypto';
import { afterAll, expect, test } from '@jest/globals';
import { developmentCa } from '@longwave/fleet';
import { until } from '@longwave/test-kit';
import { readTls, rpcService, serveRpc } from '../src/index.ts';
import { ProbeServiceService } from '../src/generated/longwave/probe/v1/probe.ts';
import { followTls } from '../src/tls.ts';
import { connect, say } from './_support.ts';

const folder = mkdtempSync(path.join(tmpdir(), 'longwave-renewal-'));
afterAll(() => {
  rmSync(folder, { recursive: true, force: true });
});

const names = ['encoder', 'management'] as const;
const [old, renewed] = [
  await developmentCa(path.join(folder, 'old'), names, new Date()),
  await developmentCa(path.join(folder, 'renewed'), names, new Date()),
];
const filesOf = (name: string) => {
  const file = (kind: string) => path.join(folder, `${name}.${kind}.pem`);
  return { ca: file('ca'), cert: file('cert'), key: file('key') };
};
type Files = ReturnType<typeof filesOf>;

/** As kubelet and others do: a file is whole or not there. */
function put(file: string, ...contents: readonly string[]): void {
  writeFileSync(`${file}.new`, contents.map((each) => readFileSync(each, 'utf8')).join(''));
  renameSync(`${file}.new`, file);
}

test('renewed certificates and authorities are taken up while calls are under way: none fails, and the old authority is refused once it is gone', async () => {
  for (const name of names)
    for (const kind of ['ca', 'cert', 'key'] as const) put(filesOf(name)[kind], old[name][kind]);
  const server = await serveRpc({
    ...{ listen: '127.0.0.1:0', lifetimes: { maxConnectionAgeMs: 200 }, onError: () => undefined },
    tls: followTls(filesOf('encoder'), 20),
    services: [
      rpcService(
        ProbeServiceService,
        { probe: ['management'], prepareArtwork: [] },
        { probe: async () => say('here'), prepareArtwork: () => Promise.reject(new Error('nobody may call it')) },
      ),
    ],
  });
  const caller = connect(server.port, followTls(filesOf('management'), 20), 'calls on the stream');
  const failures: unknown[] = [];
  let isOver = false;
  let answered = 0;
  const asking = Array.from({ length: 4 }, async () => {
    while (!isOver)
      await caller.probe({ storageKey: '' }, {}).then(
        () => answered++,
        (error: unknown) => failures.push(error),
      );
  });
  const answersMore = () => {
    const wanted = answered + 50;
    return until(() => answered > wanted);
  };
  /** The serial number that the server shows in a new handshake. */
  const shownSerial = async () => {
    const { ca, cert, key } = readTls(filesOf('management'));
    const socket = connectTls({ port: server.port, host: '127.0.0.1', servername: 'encoder', ca, cert, key });
    await once(socket, 'secureConnect');
    const { serialNumber } = socket.getPeerCertificate();
    socket.destroy();
    return serialNumber;
  };
  const serialOf = ({ cert }: Pick<Files, 'cert'>) => new X509Certificate(readFileSync(cert)).serialNumber;
  /** Whether a service with an identity of the old authority reaches the server. */
  const oldIsServed = async () => {
    const stranger = connect(server.port, { ...readTls(old.management), ca: readFileSync(filesOf('encoder').ca) });
    const answer = stranger.probe({ storageKey: '' }, { deadlineMs: 5_000 });
    return answer
      .then(
        () => true,
        () => false,
      )
      .finally(stranger.close);
  };
  try {
    await answersMore();
    expect(await shownSerial()).toBe(serialOf(old.encoder));

    for (const name of names) put(filesOf(name).ca, old[name].ca, renewed[name].ca);
    // Until both trust both; then a certificate before its key: such a pair is not taken up.
    await until(async () => {
      const { cert, key } = readTls(renewed.management);
      const early = connect(server.port, { ca: readFileSync(old.encoder.ca), cert, key });
      return early
        .probe({ storageKey: '' }, {})
        .then(
          () => true,
          () => false,
        )
        .finally(early.close);
    });
    for (const name of names) put(filesOf(name).cert, renewed[name].cert);
    await answersMore();
    for (const name of names) put(filesOf(name).key, renewed[name].key);
    await until(async () => (await shownSerial()) === serialOf(renewed.encoder));
    expect(await oldIsServed()).toBe(true);

    for (const name of names) put(filesOf(name).ca, renewed[name].ca);
    await until(async () => !(await oldIsServed()));
    await answersMore();
    expect(failures).toEqual([]);
  } finally {
    isOver = true;
    await Promise.all(asking);
    caller.close();
    await server.close(0);
  }
});
