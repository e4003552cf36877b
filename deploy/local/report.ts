import { mayStyle } from '@longwave/service-kit/terminal';
import type { JobReporter } from './job-result.ts';

/** Prints what happens, one line per step, to a terminal or a file. */
export interface Report extends JobReporter {
  /** A line of its own. */
  note(text: string): void;
  /** A step that already ended. */
  done(name: string, durationMs: number, result?: string): void;
}

export interface ReportTarget {
  readonly stream: NodeJS.WritableStream & { readonly isTTY?: boolean; readonly columns?: number };
  readonly now: () => number;
  /** Default: that of the process; `NO_COLOR` and `TERM` count. */
  readonly env?: Readonly<Record<string, string | undefined>>;
}

const nameWidth = 34;
const barWidth = 28;

function duration(ms: number): string {
  return ms < 1_000 ? `${Math.round(ms)} ms` : `${(ms / 1_000).toFixed(1)} s`;
}

function bar(fraction: number): string {
  const filled = Math.round(Math.min(1, Math.max(0, fraction)) * barWidth);
  const percent = `${Math.floor(fraction * 100)} %`.padStart(5);
  return `${'█'.repeat(filled)}${'░'.repeat(barWidth - filled)} ${percent}`;
}

/**
 * A reporter: `✓ name  time  result` or `✗ name  time  reason` per step. On a terminal a running step shows a bar that is
 * overwritten; elsewhere long steps print a plain line at each quarter.
 */
export function createReport({ stream, now, env }: ReportTarget): Report {
  const isTerminal = mayStyle(stream, env);
  const colour = (code: number, text: string) => (isTerminal ? `\u001b[${code}m${text}\u001b[0m` : text);
  const overwrite = (text: string) => stream.write(`\r\u001b[2K${text.slice(0, (stream.columns ?? 80) - 1)}`);
  const finish = (mark: string, name: string, ms: number, result: string) => {
    if (isTerminal) overwrite('');
    stream.write(`${`${mark} ${name.padEnd(nameWidth)} ${duration(ms).padStart(8)}   ${result}`.trimEnd()}\n`);
  };

  function progressOf(name: string): (fraction: number) => void {
    let quarter = 0;
    return (fraction) => {
      if (isTerminal) overwrite(`  ${name.padEnd(nameWidth)} ${bar(fraction)}`);
      else if (Math.floor(fraction * 4) > quarter && fraction < 1) {
        quarter = Math.floor(fraction * 4);
        stream.write(`  ${name.padEnd(nameWidth)} ${quarter * 25} %\n`);
      }
    };
  }

  return {
    note: (text) => void stream.write(`${text}\n`),
    done: (name, durationMs, result = '') => finish(colour(32, '✓'), name, durationMs, result),
    async step(name, run) {
      const startedMs = now();
      if (isTerminal) overwrite(`  ${name} …`);
      try {
        const result = await run(progressOf(name));
        finish(colour(32, '✓'), name, now() - startedMs, result);
      } catch (error) {
        finish(colour(31, '✗'), name, now() - startedMs, error instanceof Error ? error.message : String(error));
        throw error;
      }
    },
  };
}
