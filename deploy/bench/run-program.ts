import { execFileSync } from 'node:child_process';
import path from 'node:path';
import { workspaceRoot } from '@longwave/fleet';
import type { z } from 'zod';

/** Runs a program of the tests of an app, which knows its parts, and parses the JSON of its last line. @param program relative to the repository */
export function runProgram<T>(program: string, schema: z.ZodType<T>, ...words: readonly string[]): T {
  const file = path.join(workspaceRoot, program);
  const text = execFileSync(process.execPath, [file, ...words], {
    ...{ encoding: 'utf8', stdio: ['ignore', 'pipe', 'inherit'] },
  });
  return schema.parse(JSON.parse(text.trim().split('\n').at(-1)!));
}
