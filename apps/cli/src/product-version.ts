import { readFileSync } from 'node:fs';
import path from 'node:path';
import { workspaceRoot } from '@longwave/fleet/running';

/** The version in the root's package.json, which docs/releases.json lists when it is released. */
export function productVersion(): string {
  const manifest = JSON.parse(readFileSync(path.join(workspaceRoot, 'package.json'), 'utf8')) as { version: string };
  return manifest.version;
}
