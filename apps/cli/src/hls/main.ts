/** `longwave hls check`: what is wrong with an HLS stream of any host. */
import { checkPresentation, readPresentation, type Extent, type Finding, type Profile } from '@longwave/hls-profile';
import { progressLine } from '../checks/progress-line.ts';
import { assertNoWords, runOperations } from '../checks/run-operations.ts';
import { describeBytes } from '../checks/sizes.ts';
import { typed, UsageError } from '../command.ts';
import { escapeControls } from '../escape-controls.ts';
import { botUserAgent, createHttpReader } from './read-over-http.ts';

const usage = `${typed} hls check URL [--profile apple|general] [--all] [--user-agent TEXT] [--json]

Reads an HLS stream as a player does, of Longwave or of any other host, and says what is wrong and what to do: playlists, breaks with their
ads (asset lists are asked for twice), captions, chapters, and by byte ranges the media. It needs no running service and no account.

  URL                address of the multivariant playlist
  --profile PROFILE  optional: apple (default) is what Apple Podcasts takes, which is video; general is what any player needs: it demands
                     no video, and what Apple Podcasts alone demands is a warning
  --all              optional: reads every segment; without, of each playlist the first, the one in the middle and the last
  --user-agent TEXT  optional: the program as which it asks (default: ${botUserAgent}); hosts may give bots no ads, and
                     count what other programs read as listening
  --json             optional: print one JSON document

Addresses on the host of URL are read wherever it is, also on this machine; those on other hosts over https from public addresses alone. At most 2 GB
are read, with --all 200 GB. docs/hls-check.md lists the rules and where each is written.

Exit code: 0 when there is no failure, 1 when there is one, 2 when the command line is wrong.

Examples:
  ${typed} hls check https://media.example.com/show/main.m3u8
  ${typed} hls check http://localhost:8083/main.m3u8 --profile general --all`;

const isProfile = (text: string): text is Profile => text === 'apple' || text === 'general';

function readUrl(text: string | undefined): URL {
  if (text === undefined) throw new UsageError('URL is missing: the address of the multivariant playlist.');
  const url = URL.parse(text);
  if (!url || !/^https?:$/.test(url.protocol)) throw new UsageError(`“${text}” is no web address.`);
  return url;
}

const count = (number: number, noun: string) => `${number} ${noun}${number === 1 ? '' : 's'}`;

/** Findings as text, failures first; what is found at many places is one entry. */
function renderFindings(findings: readonly Finding[]): string {
  const width = Math.max(0, ...findings.map(({ rule }) => rule.length));
  const levels = ['failure', 'warning'] as const;
  const sorted = levels.flatMap((level) => findings.filter((finding) => finding.level === level));
  const same = Map.groupBy(sorted, ({ rule, level, message }) => `${rule} ${level} ${message}`);
  return [...same.values()]
    .map(([first, ...more]) => {
      const { level, rule, where, message } = first!;
      const places = more.length === 0 ? where : `${where}; and at ${count(more.length, 'other place')}`;
      return `${level === 'failure' ? '✗' : '!'} ${rule.padEnd(width)}  ${escapeControls(places)}\n      ${escapeControls(message)}\n`;
    })
    .join('');
}

/** A header can have no other characters. Throws `UsageError`. */
function readUserAgent(text: string): string {
  if (!/^[\x20-\x7e]{1,512}$/.test(text))
    throw new UsageError('--user-agent is empty, or has letters that no header may have.');
  return text;
}

interface CheckOptions {
  readonly profile: Profile;
  readonly extent: Extent;
  readonly userAgent: string;
  readonly isJson: boolean;
}

async function check(url: URL, { profile, extent, userAgent, isJson }: CheckOptions): Promise<number> {
  using progress = progressLine(process.stderr);
  const read = createHttpReader(url, {
    extent,
    userAgent,
    onRead: (answers, bytes) => progress.tell(`answers: ${answers}, ${describeBytes(bytes)}`),
  });
  const { presentation, findings: unread, notes: unjudged } = await readPresentation(read, url.href, { extent });
  progress.end();
  const findings = presentation ? checkPresentation(presentation, { profile, checkedAt: Date.now() }) : unread;
  const of = (level: Finding['level']) => findings.filter((finding) => finding.level === level).length;
  const [failures, warnings] = [of('failure'), of('warning')];
  const notes = [
    ...unjudged,
    ...(presentation && presentation.breaks.length === 0
      ? ['The stream has no breaks for ads. Some hosts give bots none: --user-agent asks as another program.']
      : []),
    ...(presentation && extent === 'sample'
      ? ['Of each playlist the first segment, the one in the middle and the last were read. --all reads every segment.']
      : []),
  ];
  if (isJson)
    console.log(JSON.stringify({ url: url.href, profile, extent, failures, warnings, findings, notes }, null, 2));
  else {
    console.log(`Profile ${profile}: ${count(failures, 'failure')}, ${count(warnings, 'warning')}.`);
    if (findings.length > 0) console.log(`\n${renderFindings(findings)}`);
    if (notes.length > 0) console.log(`${findings.length > 0 ? '' : '\n'}${notes.map(escapeControls).join('\n')}`);
  }
  return failures === 0 ? 0 : 1;
}

await runOperations(
  {
    usage,
    options: {
      profile: { type: 'string' },
      all: { type: 'boolean' },
      'user-agent': { type: 'string' },
      json: { type: 'boolean' },
    },
  },
  async ({ profile = 'apple', all, 'user-agent': userAgent = botUserAgent, json }, [verb, address, ...words]) => {
    if (verb !== 'check')
      throw new UsageError(verb === undefined ? '“hls” needs “check” after it.' : `There is no command “hls ${verb}”.`);
    assertNoWords(words);
    if (!isProfile(profile)) throw new UsageError(`--profile is apple or general, not “${profile}”.`);
    const extent = all === true ? 'all' : 'sample';
    return check(readUrl(address), { profile, extent, userAgent: readUserAgent(userAgent), isJson: json === true });
  },
);
