import { readFileSync } from 'node:fs';
import path from 'node:path';
import { z } from 'zod';
import { workspaceRoot } from './workspace-root.ts';

export const releaseSchema = z.strictObject({
  version: z.string().regex(/^\d+\.\d+\.\d+$/),
  date: z.iso.date(),
  /** The release is made of this commit. */
  commit: z.string().regex(/^[0-9a-f]{40}$/),
});

export type Release = z.infer<typeof releaseSchema>;

/** The releases of `docs/releases.json`, the earliest first. */
export const readReleases = (): readonly [Release, ...Release[]] =>
  z
    .tuple([releaseSchema], releaseSchema)
    .parse(JSON.parse(readFileSync(path.join(workspaceRoot, 'docs/releases.json'), 'utf8')));
