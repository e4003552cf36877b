import type { Pool } from '@longwave/postgres';
import { z } from 'zod';
import { findArtifact } from './artifact-table.ts';
import { interactionPath } from './paths.ts';
import { bootstrapScope } from './resources.ts';

const interaction = z.object({ params: z.object({ scope: z.string() }) });

/** Whether a path leads to the page on which a program asks to provision the workspace of an account; false when that request has expired. */
export async function asksForBootstrap(pool: Pool, path: string): Promise<boolean> {
  const [start, uid] = [`${interactionPath}/`, path.slice(interactionPath.length + 1)];
  if (!path.startsWith(start)) return false;
  const found = await findArtifact(pool, 'Interaction', uid);
  const asked = found && interaction.safeParse(JSON.parse(found.payload)).data;
  return asked?.params.scope.split(' ').includes(bootstrapScope) === true;
}
