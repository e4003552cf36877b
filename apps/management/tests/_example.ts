import type { ProductCommand } from '@longwave/command-catalog';
import type { Actor } from '@longwave/command-pipeline';
import type { ResourceView } from '@longwave/events';
import type { World } from './_world.ts';

export interface Example {
  readonly subject: { readonly type: string; readonly id: string | null; readonly version: number };
  readonly changes: Record<string, unknown>;
  readonly reason?: unknown;
  readonly actor: Actor;
}

/** Requests for some commands, each in a world arranged by other commands. */
export type Examples = { readonly [C in ProductCommand]?: (world: World) => Promise<Example> };

export const creates = (type: string, changes: Record<string, unknown>, actor: Actor): Example => ({
  subject: { type, id: null, version: 0 },
  changes,
  actor,
});
export const on = (view: ResourceView, changes: Record<string, unknown>, actor: Actor, reason?: unknown): Example => ({
  subject: { type: view.resource_type, id: view.id, version: view.version },
  changes,
  actor,
  reason,
});
