import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { text } from 'node:stream/consumers';
import { bareEnvironment } from './bare-environment.ts';

interface SchemathesisOptions {
  /** The Python of an environment that has Schemathesis, as tools/foreign-python.mjs makes it. */
  readonly python: string;
  /** The OpenAPI document. */
  readonly document: object;
  /** Root of the addresses that the document's paths are appended to. */
  readonly url: string;
  /** Settings of schemathesis.toml. */
  readonly settings: string;
  readonly args: readonly string[];
}

export interface SchemathesisRun {
  readonly exitCode: number | null;
  /** What it printed: the failures, each with a request that repeats it. */
  readonly output: string;
  /** Number of requests. */
  readonly cases: number;
  /** Number of those that were answered with a status of success. */
  readonly succeeded: number;
}

/** One line of the report, as far as it is read: the answers of a scenario. */
interface ReportLine {
  readonly ScenarioFinished?: {
    readonly recorder: {
      readonly interactions: Readonly<Record<string, { readonly response: { readonly status_code: number } | null }>>;
    };
  };
}

const checks = [
  ...['not_a_server_error', 'status_code_conformance', 'content_type_conformance'],
  ...['response_headers_conformance', 'response_schema_conformance'],
];

/** A fault of Python's compiler in threads (github.com/python/cpython/issues/106905), which ends a run without a finding. */
const faultOfPython = 'AST constructor recursion depth mismatch';

/** Sends requests that Schemathesis generates, and compares every answer with the document. The same document gets the same requests. */
export async function runSchemathesis(options: SchemathesisOptions): Promise<SchemathesisRun> {
  const first = await runOnce(options);
  return first.output.includes(faultOfPython) ? runOnce(options) : first;
}

async function runOnce(options: SchemathesisOptions): Promise<SchemathesisRun> {
  const folder = mkdtempSync(path.join(tmpdir(), 'schemathesis-'));
  try {
    const inside = (name: string) => path.join(folder, name);
    writeFileSync(inside('openapi.json'), JSON.stringify(options.document));
    writeFileSync(inside('schemathesis.toml'), options.settings);
    const program = 'from schemathesis.cli import schemathesis; schemathesis()';
    const report = ['--report-ndjson-path', inside('report.ndjson')];
    const child = spawn(
      options.python,
      [
        ...['-c', program, '--config-file', inside('schemathesis.toml'), 'run', inside('openapi.json')],
        ...['--url', options.url, '--seed', '42', '--request-timeout', '60', '--no-shrink'],
        ...['--phases', 'fuzzing', '--workers', '2', '--max-failures', '20'],
        ...['--warnings', 'off', '--checks', checks.join(), ...report, ...options.args],
      ],
      { cwd: folder, env: bareEnvironment, stdio: ['ignore', 'pipe', 'pipe'] },
    );
    const [output, errors, [exitCode]] = await Promise.all([
      text(child.stdout),
      text(child.stderr),
      once(child, 'close') as Promise<[number | null]>,
    ]);
    const statuses = readFileSync(inside('report.ndjson'), 'utf8')
      .split('\n')
      .filter((line) => line.startsWith('{"ScenarioFinished"'))
      .flatMap((line) => Object.values((JSON.parse(line) as ReportLine).ScenarioFinished!.recorder.interactions))
      .map(({ response }) => response?.status_code ?? 0);
    return {
      exitCode,
      output: output + errors,
      cases: statuses.length,
      succeeded: statuses.filter((status) => status >= 200 && status < 300).length,
    };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
