import type { ExchangeStream } from '@longwave/exchange-client';
import { z } from 'zod';
import { UsageError } from '../command.ts';
import { keepOption, streamOption, type ExchangeCommand, versionOption } from './exchange-command.ts';
import { isAddress, measureFile } from './master-file.ts';
import { place } from './place-message.ts';
import { readJson } from './settings.ts';

const bodyWord = ['FILE.json'];
const sourceOption = { source: ['ID', 'the platform’s own id of the subject'] } as const;

type Body<M extends 'snapshot' | 'capability' | 'alias' | 'evidence'> = Parameters<ExchangeStream[M]>[1];
/** A body as it stands in a file; it is checked against its schema before it is signed. */
const readBody = <B>(file: string): B => readJson(file) as B;

const snapshotFile = z.looseObject({ episode: z.looseObject({ audio_master: z.looseObject({}).default({}) }) });

/** The body of a snapshot: the file, with the length and digest of the master, and its address. */
async function snapshotBody(file: string, audio: string | undefined): Promise<Body<'snapshot'>> {
  if (audio === undefined) return readBody<Body<'snapshot'>>(file);
  const parsed = snapshotFile.safeParse(readJson(file));
  if (!parsed.success) throw new UsageError(`${file} has no “episode”.`);
  const { episode, ...body } = parsed.data;
  if (!isAddress(audio) && episode.audio_master['url'] === undefined)
    throw new UsageError(
      `${file} has no address of the master. Write it as “url” of “audio_master”, or give the address itself to --audio.`,
    );
  const master = { ...episode.audio_master, ...(isAddress(audio) && { url: audio }), ...(await measureFile(audio)) };
  return { ...body, episode: { ...episode, audio_master: master } } as Body<'snapshot'>;
}

/** Commands that sign one message each. They print what became of it: its place, digest and receipt. */
export const messageCommands: readonly ExchangeCommand[] = [
  {
    name: 'snapshot',
    words: bodyWord,
    summary: 'sends an episode as it stands; FILE.json is the body of a content-snapshot/1',
    options: {
      ...{ ...streamOption, ...sourceOption, ...versionOption, ...keepOption },
      audio: [
        'URL|FILE',
        'the master: its length and digest are computed. A URL becomes its address; the address of a FILE must stand in FILE.json, as “url” of “audio_master”',
      ],
    },
    needed: ['stream', 'source'],
    reads: 'connection and key',
    run: async (typed) => {
      const sourceId = typed.values['source']!;
      const body = await snapshotBody(typed.words[0]!, typed.values['audio']);
      const { stream, sourceVersion } = await place(typed, 'episode', sourceId);
      return stream.snapshot({ sourceId, sourceVersion }, body);
    },
  },
  {
    name: 'revoke',
    words: [],
    summary: 'takes one version of an episode back, for good',
    options: {
      ...{ ...streamOption, ...sourceOption, ...versionOption, ...keepOption },
      'revoke-version': ['N', 'the version that is taken back'],
      mode: ['stop_new|stop_all', 'whether plays that have begun finish (default: stop_new)'],
      cause: ['TEXT', 'why'],
      'effective-at': ['TIME', 'from when on (default: now)'],
    },
    needed: ['stream', 'source', 'revoke-version', 'cause'],
    reads: 'connection and key',
    run: async (typed) => {
      const { source: sourceId, mode = 'stop_new', cause, ...times } = typed.values;
      const { stream, sourceVersion } = await place(typed, 'episode', sourceId!);
      return stream.revoke(
        { sourceId: sourceId!, sourceVersion },
        {
          ...{ revoke_version: Number(times['revoke-version']), mode: mode as 'stop_new' | 'stop_all', cause: cause! },
          effective_at: times['effective-at'] ?? new Date().toISOString(),
        },
      );
    },
  },
  {
    name: 'capability',
    words: bodyWord,
    summary: 'says what a surface can play and measure; FILE.json is the body of a surface-capability/1',
    options: { ...streamOption, ...versionOption, ...keepOption },
    needed: ['stream'],
    reads: 'connection and key',
    run: async (typed) => {
      const body = readBody<Body<'capability'>>(typed.words[0]!);
      const { stream, sourceVersion } = await place(typed, 'surface', body.surface_id);
      return stream.capability(sourceVersion, body);
    },
  },
  {
    name: 'alias',
    words: bodyWord,
    summary: 'registers or changes a lasting public address; FILE.json is the body of a delivery-alias/1',
    options: { ...streamOption, ...versionOption, ...keepOption },
    needed: ['stream'],
    reads: 'connection and key',
    run: async (typed) => {
      const body = readBody<Body<'alias'>>(typed.words[0]!);
      const { stream, sourceVersion } = await place(typed, 'alias', body.alias);
      const supersedes = body.supersedes_version ?? (sourceVersion === 1 ? null : sourceVersion - 1);
      return stream.alias(sourceVersion, { ...body, supersedes_version: supersedes });
    },
  },
  {
    name: 'evidence',
    words: bodyWord,
    summary: 'reports numbers of the platform; FILE.json is the body of a platform-evidence/1',
    options: { ...streamOption, ...sourceOption, ...versionOption, ...keepOption },
    needed: ['stream', 'source'],
    reads: 'connection and key',
    run: async (typed) => {
      const sourceId = typed.values['source']!;
      const { stream, sourceVersion } = await place(typed, 'evidence', sourceId);
      return stream.evidence({ sourceId, sourceVersion }, readBody<Body<'evidence'>>(typed.words[0]!));
    },
  },
];
