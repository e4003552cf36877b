import { execFile, spawn } from 'node:child_process';
import { createHash } from 'node:crypto';
import { once } from 'node:events';
import { mkdirSync, readFileSync, writeFileSync } from 'node:fs';
import path from 'node:path';
import { promisify } from 'node:util';
import type { ComparedEvidence, MessageResult, ServingIntent, SnapshotMapping } from '@longwave/exchange-client';
import { makeAudio } from '@longwave/test-kit';
import { createAccount, grantExchangeAccess, type Account } from '@longwave/test-kit/clients';
import { newPlatform } from './_exchange-platform.ts';
import { secondsOf } from './_fleet.ts';
import { startOutsideHost } from './_outside-host.ts';
import type { SharedInstallation } from './_shared-installation.ts';

const program = path.resolve(import.meta.dirname, 'foreign-host/host.py');
const run = promisify(execFile);
const streamId = 'show:north';

/** The episodes of a host as `host.py snapshots` reads them, with their files in a folder. */
export interface HostedEpisodes {
  readonly folder: string;
  readonly list: readonly {
    readonly source_id: string;
    readonly title: string;
    readonly file: string;
    readonly duration_ms: number;
    readonly codec: 'mp3';
    readonly channels: number;
    readonly sample_rate: number;
    readonly markers: { key: string; position_ms: number; kind: 'pre'; max_slots: number }[];
  }[];
}

/** Episodes by their names, each so many seconds long, with a break before it. */
export function makeEpisodes(folder: string, seconds: Readonly<Record<string, number>>): HostedEpisodes {
  mkdirSync(folder);
  const list = Object.entries(seconds).map(([source, length], index) => {
    const file = `${source}.mp3`;
    makeAudio(path.join(folder, file), length);
    const markers = [{ key: 'start', position_ms: 0, kind: 'pre' as const, max_slots: 1 }];
    const duration = Math.round(secondsOf(path.join(folder, file)) * 1000);
    const stream = { codec: 'mp3' as const, channels: 2, sample_rate: 48_000 };
    return { source_id: source, title: `Part ${index + 1}`, file, duration_ms: duration, ...stream, markers };
  });
  return { folder, list };
}

/** A hosting platform outside, with its key, its client and audio files that it serves where the installation may fetch them. */
export interface ForeignHost extends AsyncDisposable {
  readonly account: Account;
  readonly clientId: string;
  /** Sends the first version of all its episodes. */
  snapshots(): Promise<readonly MessageResult[]>;
  mapping(source: string): Promise<SnapshotMapping | undefined>;
  /** Says what its surface can do. */
  surface(): Promise<unknown>;
  /** Registers `{host}/{source}` as the address of each episode. */
  aliases(host: string): Promise<unknown>;
  /** Takes the first version of an episode back. */
  revoke(source: string, mode: 'stop_new' | 'stop_all'): Promise<unknown>;
  /** Reports what it counted for an episode on a day; answers the id of the report. */
  evidence(source: string, day: string, downloads: number): Promise<string>;
  /** The first rows of a report beside our own counts. */
  compare(evidenceId: string): Promise<ComparedEvidence['rows']>;
  newestIntent(): Promise<ServingIntent | undefined>;
  /** Says that the newest intent is applied; answers the newest intent after it. */
  acknowledge(): Promise<ServingIntent | undefined>;
}

/** tests/foreign-host/host.py, which shares no code with Longwave. */
export async function openPythonHost(
  world: SharedInstallation,
  episodes: HostedEpisodes,
  python: string,
): Promise<ForeignHost> {
  const account = await createAccount(world.operator, 'network');
  const access = await grantExchangeAccess(world, account.workspaceId);
  const inside = (name: string) => path.join(episodes.folder, name);
  const execute = async <T>(command: string, ...args: string[]) => {
    const { stdout } = await run(python, [program, command, ...args]);
    return JSON.parse(stdout) as T;
  };
  const registration = ['--workspace', account.workspaceId, '--authority', access.authorityId];
  const key = await execute<Parameters<typeof access.registerKey>[0]>(
    'key',
    '--file',
    inside('key.json'),
    ...registration,
  );
  const settings = { ...access.settings, kid: await access.registerKey(key), key_file: 'key.json' };
  writeFileSync(inside('settings.json'), JSON.stringify(settings), { mode: 0o600 });
  writeFileSync(inside('episodes.json'), JSON.stringify(episodes.list));
  /** Runs a command of the host with its settings. */
  const ask = <T>(command: string, ...args: string[]) =>
    execute<T>(command, '--settings', inside('settings.json'), ...args);

  const port = String(world.outsidePort);
  const server = spawn(python, [program, 'serve', '--folder', episodes.folder, '--port', port], {
    stdio: ['ignore', 'pipe', 'ignore'],
  });
  await once(server.stdout, 'data');
  const files = ['--folder', episodes.folder, '--origin', `http://127.0.0.1:${port}`];
  return {
    ...{ account, clientId: settings.client_id },
    snapshots: () => ask('snapshots', '--episodes', inside('episodes.json'), ...files),
    mapping: (source) => ask('mapping', '--source', source),
    surface: () => ask('surface'),
    aliases: (host) => ask('aliases', '--host', host, '--source', ...episodes.list.map((each) => each.source_id)),
    revoke: (source, mode) => ask('revoke', '--source', source, '--version', '2', '--mode', mode),
    evidence: async (source, day, downloads) => {
      const numbers = ['--source', source, '--day', day, '--downloads', String(downloads)];
      return (await ask<readonly MessageResult[]>('evidence', ...numbers))[0]!.resource.id;
    },
    compare: async (evidenceId) => (await ask<ComparedEvidence>('compare', '--evidence', evidenceId)).rows,
    newestIntent: () => ask('intent'),
    acknowledge: () => ask('intent', '--acknowledge'),
    [Symbol.asyncDispose]: async () => {
      server.kill();
      await once(server, 'exit');
    },
  };
}

const surfaceBody = {
  ...{ surface_id: 'web', protocols: ['progressive' as const], interstitials: 'none' as const, ranges: true },
  ...{ max_redirects: 5, ads_video: false, client_events: 'none' as const, measurement: 'server_log' as const },
  ...{ personalisation: 'per_download' as const, offline_audio: true },
};

/** A platform that runs Node and has libs/exchange-client. */
export async function openClientHost(world: SharedInstallation, episodes: HostedEpisodes): Promise<ForeignHost> {
  const { account, clientId, newKey, connect } = await newPlatform(world);
  const exchange = connect({ key: await newKey() });
  const stream = await exchange.stream(streamId);
  const server = await startOutsideHost(world.outsidePort);
  for (const { file } of episodes.list)
    server.files.set(`/${file}`, { type: 'audio/mpeg', path: path.join(episodes.folder, file) });

  const show = { title: 'Northern Light', language: 'en' };
  const snapshotOf = ({ source_id: sourceId, title, file, ...master }: HostedEpisodes['list'][number]) => {
    const audio = readFileSync(path.join(episodes.folder, file));
    const { duration_ms, markers, ...format } = master;
    const audio_master = {
      ...{ url: `${server.origin}/${file}`, bytes: audio.length, ...format },
      digest: `sha256:${createHash('sha256').update(audio).digest('hex')}`,
    };
    const episode = {
      ...{ guid: `urn:foreign:${sourceId}`, title_ref: title, duration_ms, explicit: false, language: 'en' },
      ...{ content_categories: ['Arts'], published_at: '2026-11-20T08:00:00Z', audio_master, markers },
    };
    return { schema: 'content-snapshot/1' as const, sourceId, sourceVersion: 1, body: { episode, show } };
  };
  const newestIntent = async () => (await exchange.intents()).at(-1);
  return {
    ...{ account, clientId, newestIntent },
    snapshots: () => stream.append(episodes.list.map(snapshotOf)),
    mapping: exchange.mapping,
    surface: () => stream.capability(1, surfaceBody),
    aliases: async (host) => {
      for (const { source_id: source } of episodes.list)
        await stream.alias(1, {
          ...{ alias: source, host, path_slug: source, target: { type: 'episode', source_id: source } },
          route_policy: { surface_id: 'web', route: 'platform_controlled', when_unavailable: 'gone' },
          ...{ state: 'active', supersedes_version: null },
        });
    },
    revoke: (sourceId, mode) =>
      stream.revoke(
        { sourceId, sourceVersion: 2 },
        { revoke_version: 1, mode, cause: 'The guest has withdrawn.', effective_at: new Date().toISOString() },
      ),
    evidence: async (source, day, downloads) => {
      const start = new Date(`${day}T00:00:00Z`);
      const period = { start: start.toISOString(), end: new Date(start.getTime() + 86_400_000).toISOString() };
      const result = await stream.evidence(
        { sourceId: `delivery-${day}`, sourceVersion: 1 },
        {
          ...{ source_label: 'Northern Light', platform: 'northern-light', kind: 'delivery', granularity: 'day' },
          ...{ revision: 1, period, rows: [{ source_id: source, at: period.start, downloads }] },
          ...{ method_note: 'Requests of 60 seconds or more, without known robots.', finality: 'final' },
        },
      );
      return result.resource.id;
    },
    compare: async (evidenceId) => (await exchange.evidence(evidenceId).next()).value.rows,
    acknowledge: async () => {
      const { intent_id: intentId, version, plan_digest } = (await newestIntent())!;
      const said = { intent_version: version, plan_digest, applied_at: new Date().toISOString() };
      await exchange.acknowledge(intentId, { ...said, status: 'applied' });
      return newestIntent();
    },
    [Symbol.asyncDispose]: () => server[Symbol.asyncDispose](),
  };
}
