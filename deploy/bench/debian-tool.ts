import { existsSync } from 'node:fs';
import path from 'node:path';
import { fetchDebianProgram } from '@longwave/test-kit/debian-program';

export interface Tool {
  readonly command: string;
  /** Folder of its libraries when they are not the system's. */
  readonly env: Readonly<Record<string, string>>;
}

const onPath = (program: string) =>
  (process.env['PATH'] ?? '').split(path.delimiter).some((folder) => existsSync(path.join(folder, program)));

/**
 * A program that only measurements need: the installed one, else unpacked from its Debian packages, without installing or starting anything.
 * Undefined when neither is possible.
 */
export async function findTool(program: string, packages: readonly string[]): Promise<Tool | undefined> {
  if (onPath(program)) return { command: program, env: {} };
  const found = await fetchDebianProgram({ name: program, packages });
  if (!('unavailable' in found)) return { command: found.binary, env: found.env };
  process.stderr.write(`${program} cannot be had: ${found.unavailable}\n`);
  return undefined;
}
