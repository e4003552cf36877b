import { spawn } from 'node:child_process';
import { once } from 'node:events';
import { mkdtempSync, readdirSync, readFileSync, rmSync } from 'node:fs';
import { tmpdir } from 'node:os';
import path from 'node:path';
import { createInterface } from 'node:readline';
import { text } from 'node:stream/consumers';
import { workspaceRoot } from '@longwave/fleet';
import { bareEnvironment } from './bare-environment.ts';

/** The lines of the MCP conformance package: the released one, and the one that knows the revision 2026-07-28. */
const programs = {
  '0.1.16': '@modelcontextprotocol/conformance',
  '0.2.0-alpha.12': 'mcp-conformance-next',
} as const;

type Status = 'SUCCESS' | 'FAILURE' | 'WARNING' | 'SKIPPED' | 'INFO';

/** How many checks of a scenario have each status. */
export type Checks = Readonly<Partial<Record<Status, number>>>;

interface ConformanceRun {
  readonly exitCode: number;
  /** What the program printed, for the message of a failed assertion. */
  readonly output: string;
  readonly scenarios: ReadonlyMap<string, Checks>;
}

/** Reads `checks.json` of every scenario; a folder has the name of the command, the scenario and the time. */
function readScenarios(folder: string): Map<string, Checks> {
  const scenarios = new Map<string, Checks>();
  for (const name of readdirSync(folder)) {
    const scenario = /^(?:server|authorization-server)-(.+)-\d{4}-\d\d-\d\dT[\d-]+Z$/.exec(name)?.[1];
    if (scenario === undefined) throw new Error(`unexpected results: ${name}`);
    const checks = JSON.parse(readFileSync(path.join(folder, name, 'checks.json'), 'utf8')) as { status: Status }[];
    const counts: Partial<Record<Status, number>> = {};
    for (const { status } of checks) counts[status] = (counts[status] ?? 0) + 1;
    scenarios.set(scenario, counts);
  }
  return scenarios;
}

/**
 * Runs a command of the MCP conformance package as a program of its own.
 * @param onLine called with each line that it prints
 */
export async function runConformance(
  line: keyof typeof programs,
  args: readonly string[],
  onLine: (line: string) => void = () => undefined,
): Promise<ConformanceRun> {
  const folder = mkdtempSync(path.join(tmpdir(), 'mcp-conformance-'));
  try {
    const program = path.join(workspaceRoot, 'node_modules', programs[line], 'dist/index.js');
    const child = spawn(process.execPath, [program, ...args, '-o', folder], {
      env: bareEnvironment,
      stdio: ['ignore', 'pipe', 'pipe'],
    });
    const lines: string[] = [];
    createInterface(child.stdout).on('line', (printed) => {
      lines.push(printed);
      onLine(printed);
    });
    const [errors, [exitCode]] = await Promise.all([text(child.stderr), once(child, 'close') as Promise<[number]>]);
    return { exitCode, output: [...lines, errors].join('\n'), scenarios: readScenarios(folder) };
  } finally {
    rmSync(folder, { recursive: true, force: true });
  }
}
