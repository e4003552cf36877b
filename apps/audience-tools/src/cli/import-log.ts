#!/usr/bin/env node
import { readFileSync } from 'node:fs';
import os from 'node:os';
import { methodologyVersion } from '@longwave/audience';
import { transaction } from '@longwave/postgres';
import { fileDigest } from '../files/file-digest.ts';
import { createProgress } from '../files/progress.ts';
import { temporaryFolder } from '../files/temporary-folder.ts';
import { gatherRequests, type FileOutcome, type GatheredRequests } from '../import-log/gather-requests.ts';
import { createClassifyRecord, secretName } from '../import-log/classify-records.ts';
import { parseColumns, type NamedColumns } from '../import-log/log-columns.ts';
import {
  matchByEnclosure,
  matchById,
  matchByPattern,
  matchRecords,
  parseEpisodes,
  type MatchRecord,
} from '../import-log/match-episode.ts';
import { readPrefixTally } from '../import-log/prefix-table.ts';
import { addPrefixRequest, prefixKey, type PrefixTally } from '../import-log/prefix-tally.ts';
import { logFormats, readLog, type LogFormat } from '../import-log/read-log.ts';
import { importJson, renderImport, renderProblems, tallyJson, type FileReport } from '../import-log/render-import.ts';
import { storeRequests } from '../import-log/store-requests.ts';
import {
  exitCodes,
  hourOf,
  needed,
  runProgram,
  textOf,
  UsageError,
  type Command,
  type ExitCode,
  type Terminal,
  type Values,
} from './command-line.ts';
import { readLists, withDatabase } from './settings.ts';

export const help = `usage: longwave-import-log FILE… --report | --store [options]
       longwave-import-log --show --workspace WS [options]

Reads access logs of a prefix service or another host: CSV with a header line, W3C extended (Amazon CloudFront), the combined format of
nginx and Apache, JSON lines, or Avro object container files (such as those of oDL). All of them may be compressed with gzip. Logs show what
was requested, not what was heard, so the numbers are prefix_requests: distinct listeners of an episode per UTC day. They are not downloads
and are stored separately. The report names the columns that were understood and those that were not.

  --report                 print the numbers of the files and store nothing
  --store                  add them to the database at DATABASE_URL; a file that was stored before changes nothing
  --show                   print the numbers that are stored

  --workspace WS           the workspace of the podcasts; required with --store and --show
  --podcast POD            the podcast of the episodes, if nothing else names it; with --show, only this podcast. If the log has a column
                           episode_id with the IDs of episodes, nothing else is needed
  --episodes FILE          CSV of enclosures: url,episode_id[,podcast_id]
  --url-pattern PATTERN    the end of the logged path, such as /audio/{podcast}/{episode}.mp3; * matches anything but a slash
  --secret-file FILE       file with a secret of at least 32 bytes (openssl rand -hex 32 > FILE). Listeners are stored as hashes made with
                           it, and no address is stored. Keep the file: a workspace always needs the same secret
  --columns NAMES          columns with unusual names, such as time=ts,url=request_url. Fields: time, url, episode_id, method, status,
                           range, range_start, range_end, body_bytes, ip, ip_hash, user_agent, referer, purpose
  --format FORMAT          csv, combined, jsonl or avro, if the format is not recognized
  --strict                 fail (exit code 1) and store nothing if a record is malformed
  --from HOUR, --to HOUR   the range of --show
  --json                   print one JSON object instead of tables
  --lists FOLDER           user-agent and network lists (default: AUDIENCE_DATA, or the lists of this program)
  --temp FOLDER            folder for temporary files (default: the system's)`;

function readSecret(values: Values): Buffer {
  const file = textOf(values, 'secret-file');
  if (file === undefined)
    throw new UsageError('--secret-file is required. Make a secret with: openssl rand -hex 32 > prefix-secret');
  const secret = Buffer.from(readFileSync(file, 'utf8').trim());
  if (secret.length < 32)
    throw new UsageError(
      `The secret in ${file} is shorter than 32 bytes. Make a new one with: openssl rand -hex 32 > ${file}`,
    );
  return secret;
}

/** Runs a parser of options: its `RangeError` is an error of usage. */
function parseOption<T>(parse: () => T): T {
  try {
    return parse();
  } catch (error) {
    if (error instanceof RangeError) throw new UsageError(error.message);
    throw error;
  }
}

function readMatch(values: Values): MatchRecord {
  const [podcast, episodes, pattern] = ['podcast', 'episodes', 'url-pattern'].map((name) => textOf(values, name));
  if (episodes === undefined && pattern === undefined && podcast === undefined)
    throw new UsageError(
      'Say which episode a URL belongs to, with --episodes FILE or --url-pattern PATTERN. If the log contains the IDs of episodes, --podcast POD is enough.',
    );
  return parseOption(() => {
    const table = episodes === undefined ? undefined : parseEpisodes(readFileSync(episodes, 'utf8'), podcast);
    const byTable = table && matchByEnclosure(table);
    const byPattern = pattern === undefined ? undefined : matchByPattern(pattern, podcast);
    return matchRecords((url) => byTable?.(url) ?? byPattern?.(url), matchById(table, podcast));
  });
}

function readFormat(values: Values): { readonly format: LogFormat | undefined; readonly columns: NamedColumns } {
  const name = textOf(values, 'format');
  const format = logFormats.find((one) => one === name);
  if (name !== undefined && format === undefined)
    throw new UsageError(`--format must be one of ${logFormats.join(', ')}.`);
  const columns = textOf(values, 'columns');
  return { format, columns: columns === undefined ? {} : parseOption(() => parseColumns(columns)) };
}

/** Malformed records under --strict; the message names their lines. */
class MalformedRecords extends Error {}

/** Passes rows on and adds them to a tally. */
async function* addUp(rows: GatheredRequests['rows'], tally: PrefixTally): GatheredRequests['rows'] {
  for await (const group of rows) {
    for (const one of group)
      addPrefixRequest(tally, prefixKey(one.podcastId, one.episodeId, one.windowOn), one.firstTwo);
    yield group;
  }
}

interface Imported {
  readonly files: readonly FileReport[];
  readonly tally: PrefixTally;
  readonly listsVersion: string;
}

/** Reads the files and counts their requests; with --store it stores them as well. */
async function importFiles(values: Values, files: readonly string[], terminal: Terminal): Promise<Imported> {
  const workspaceId = values['store'] ? needed(values, 'workspace') : undefined;
  const match = readMatch(values);
  const { format, columns } = readFormat(values);
  const secret = readSecret(values);
  // The time of the request decides whether an entry of the safe list is valid.
  let atMs = 0;
  const lists = readLists(values, terminal, () => atMs);
  const classify = createClassifyRecord(lists, match, secret);
  const classifyAt: typeof classify = (record) => {
    atMs = record.time;
    return classify(record);
  };
  const progress = createProgress({ work: 'import', unit: 'records' }, terminal.tell, () => performance.now());
  using folder = temporaryFolder(textOf(values, 'temp') ?? os.tmpdir());
  const tally: PrefixTally = new Map();
  const gather = async (places: readonly number[]) => {
    const gathered = await gatherRequests(
      places.map((place) => readLog(files[place]!, format, columns)),
      classifyAt,
      folder.path,
      progress.add,
    );
    progress.end();
    const problems = renderProblems(
      gathered.outcomes.map((outcome, index) => ({ file: files[places[index]!]!, outcome })),
    );
    if (values['strict'] && problems !== '') throw new MalformedRecords(problems);
    terminal.tell(problems);
    return { ...gathered, rows: addUp(gathered.rows, tally) };
  };
  const everyPlace = files.map((_, place) => place);
  const outcomes = new Map<number, FileOutcome>();
  const note = (places: readonly number[], gathered: GatheredRequests | undefined) =>
    places.forEach((place, index) => outcomes.set(place, gathered!.outcomes[index]!));
  if (workspaceId === undefined) {
    const gathered = await gather(everyPlace);
    note(everyPlace, gathered);
    // Reading the rows fills the tally.
    for await (const _ of gathered.rows) continue;
  } else {
    const digests = await Promise.all(files.map(async (file) => ({ digest: await fileDigest(file) })));
    const by = { secretName: secretName(secret), listsVersion: lists.listsVersion };
    const stored = await withDatabase(terminal, 'longwave-import-log', (pool) =>
      storeRequests(pool, workspaceId, digests, by, gather),
    );
    note(stored.places, stored.gathered);
  }
  return {
    files: files.map((file, place) => ({ file, outcome: outcomes.get(place) ?? 'imported_before' })),
    tally,
    listsVersion: lists.listsVersion,
  };
}

async function show(values: Values, terminal: Terminal): Promise<ExitCode> {
  const workspaceId = needed(values, 'workspace');
  const range = { podcastId: textOf(values, 'podcast'), from: hourOf(values, 'from'), to: hourOf(values, 'to') };
  const tally = await withDatabase(terminal, 'longwave-import-log', (pool) =>
    transaction(pool, (tx) => readPrefixTally(tx, workspaceId, range)),
  );
  if (values['json']) terminal.print(`${JSON.stringify(tallyJson(tally), null, 2)}\n`);
  else terminal.print(renderImport([], tally));
  return exitCodes.done;
}

const importLogCommand: Command = {
  name: '',
  help,
  options: {
    ...Object.fromEntries(
      ['report', 'store', 'show', 'strict', 'json'].map((name) => [name, { type: 'boolean' as const }]),
    ),
    ...Object.fromEntries(
      [
        ...['workspace', 'podcast', 'episodes', 'url-pattern', 'secret-file', 'columns', 'format'],
        ...['from', 'to', 'lists', 'temp'],
      ].map((name) => [name, { type: 'string' as const }]),
    ),
  },
  run: async (values, files, terminal) => {
    if (['report', 'store', 'show'].filter((name) => values[name]).length !== 1)
      throw new UsageError('Use one of --report, --store and --show.');
    if (values['show']) return show(values, terminal);
    if (files.length === 0) throw new UsageError('Name one or more log files.');
    try {
      const { files: outcomes, tally, listsVersion } = await importFiles(values, files, terminal);
      const basis = { methodology_version: methodologyVersion, lists_version: listsVersion, stored: !!values['store'] };
      if (values['json']) terminal.print(`${JSON.stringify({ ...basis, ...importJson(outcomes, tally) }, null, 2)}\n`);
      else terminal.print(renderImport(outcomes, tally));
      return exitCodes.done;
    } catch (error) {
      if (!(error instanceof MalformedRecords)) throw error;
      terminal.tell(error.message);
      return exitCodes.differs;
    }
  },
};

export const importLogCommands: readonly [Command, ...Command[]] = [importLogCommand];

if (import.meta.main) await runProgram(importLogCommands, help);
