import { spawn } from 'node:child_process';
import { createInterface } from 'node:readline';
import type { Readable } from 'node:stream';

/** The program ended with an error code: for a decoding run a fault of the input. A kill or a stall is a plain `Error`. */
export class FfmpegExit extends Error {
  readonly exitCode: number;
  /** The end of its standard error; private, it may quote the file. */
  readonly stderr: string;

  constructor(program: string, exitCode: number, stderr: string) {
    super(`${program} ended with code ${exitCode}`);
    this.name = 'FfmpegExit';
    this.exitCode = exitCode;
    this.stderr = stderr;
  }
}

/** Demuxers that may open an upload: none that follows references to other files or addresses (playlists, concat scripts). */
const demuxers = 'mp3,wav,w64,flac,ogg,mov,aac,aiff,caf,matroska,asf,avi';

/** Input options for untrusted media; a local file unless the caller names network protocols. */
export const untrustedInput = (url: string, protocols = 'file,pipe'): readonly string[] => [
  '-protocol_whitelist',
  protocols,
  '-format_whitelist',
  demuxers,
  '-i',
  url,
];

/** The child sees no variable of the service: the configuration holds secrets, and codecs read hostile bytes. */
const childEnvironment = { PATH: '/usr/local/bin:/usr/bin:/bin:/opt/homebrew/bin', LC_ALL: 'C' };

const stderrKept = 64 * 1024;
const stallMs = 120_000;

/**
 * Runs ffmpeg or ffprobe at low priority as a process group of its own, and kills the whole group when `signal` aborts, when
 * `consume` fails or when nothing has come out of it for two minutes. Resolves with the end of stderr.
 * Every run must write to stdout: a parent that dies closes the pipe, and so ends the child.
 * Throws `FfmpegExit` for a non-zero exit, the signal's reason when aborted.
 */
export async function runFfmpeg(
  program: 'ffmpeg' | 'ffprobe',
  args: readonly string[],
  options: {
    readonly signal: AbortSignal;
    readonly consume: (stdout: Readable) => Promise<void>;
    /** What the program reads from its standard input. A caller whose feed may fail aborts `signal` then. */
    readonly feed?: Readable;
    /** Receives each line of standard error; private as well. */
    readonly onLine?: (line: string) => void;
    /** Position in the output, milliseconds. */
    readonly onPosition?: (positionMs: number) => void;
  },
): Promise<string> {
  options.signal.throwIfAborted();
  const base =
    program === 'ffmpeg' ? ['-hide_banner', '-nostdin', '-nostats', '-progress', 'pipe:3'] : ['-hide_banner'];
  const child = spawn('nice', ['-n', '10', program, ...base, ...args], {
    stdio: [options.feed ? 'pipe' : 'ignore', 'pipe', 'pipe', 'pipe'],
    detached: true,
    env: childEnvironment,
  });
  // A program that ends before its feed does says why by its exit code, not by the broken pipe.
  if (child.stdin) options.feed?.pipe(child.stdin.on('error', () => undefined));
  // Node types the streams of a child process by what `stdio` may ask for, not by what it asks for here.
  // eslint-disable-next-line no-restricted-syntax
  const [, stdout, stderr, progress] = child.stdio as unknown as [unknown, Readable, Readable, Readable];
  let stalled = false;
  const kill = () => {
    try {
      if (child.pid !== undefined) process.kill(-child.pid, 'SIGKILL');
    } catch (error) {
      if ((error as NodeJS.ErrnoException).code !== 'ESRCH') throw error;
    }
  };
  const watchdog = setTimeout(() => {
    stalled = true;
    kill();
  }, stallMs);
  options.signal.addEventListener('abort', kill, { once: true });
  let said = '';
  stderr.setEncoding('utf8').on('data', (text: string) => (said = (said + text).slice(-stderrKept)));
  if (options.onLine) createInterface({ input: stderr }).on('line', options.onLine);
  createInterface({ input: progress }).on('line', (line) => {
    const [key, value] = line.split('=');
    if (key !== 'out_time_us') return;
    watchdog.refresh();
    const positionMs = Number(value) / 1000;
    if (positionMs >= 0) options.onPosition?.(positionMs);
  });
  const closed = new Promise<{ code: number | null; signal: string | null }>((resolve, reject) => {
    child.once('error', reject);
    child.once('close', (code, signal) => resolve({ code, signal }));
  });
  try {
    const consumed = options.consume(stdout).catch((error: unknown) => {
      kill();
      throw error;
    });
    const [end, consumption] = await Promise.allSettled([closed, consumed]);
    options.signal.throwIfAborted();
    if (end.status === 'rejected') throw end.reason;
    if (stalled) throw new Error(`${program} stalled`);
    if (end.value.code !== null && end.value.code !== 0) throw new FfmpegExit(program, end.value.code, said);
    if (consumption.status === 'rejected') throw consumption.reason;
    if (end.value.code === null) throw new Error(`${program} was ended by ${end.value.signal}`);
    return said;
  } finally {
    clearTimeout(watchdog);
    options.signal.removeEventListener('abort', kill);
  }
}
