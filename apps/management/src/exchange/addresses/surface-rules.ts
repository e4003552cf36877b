import type { productCatalog } from '@longwave/command-catalog';
import type { Rules } from '@longwave/command-pipeline';
import type { Transaction } from '@longwave/postgres';
import { Problem } from '@longwave/problems';
import { refuseField } from '../../workspace/refuse-field.ts';
import { holdMessage, messageSourceOf } from '../signed-message.ts';
import { findSurface } from '../subject-table.ts';

type SurfaceRules = Pick<
  Rules<typeof productCatalog>,
  'surface_capability.declare' | 'surface_capability.revise' | 'surface_capability.lapse'
>;

const isOver = (time: string | undefined, now: Date): boolean =>
  time !== undefined && Date.parse(time) <= now.getTime();

/** Throws `capability_not_supported` unless the platform vouches for the surface now. */
export async function requireCurrentSurface(
  tx: Transaction,
  surface: {
    readonly workspaceId: string;
    readonly authorityId: string;
    readonly surfaceId: string;
    readonly now: Date;
  },
): Promise<void> {
  const { workspaceId, authorityId, surfaceId, now } = surface;
  const found = await findSurface(tx, workspaceId, authorityId, surfaceId);
  if (found?.lifecycle_state === 'current' && !isOver(found.attributes.capability.valid_until, now)) return;
  throw new Problem('capability_not_supported', `Declare first what the surface “${surfaceId}” can do now.`);
}

/** Rules of the surface capabilities. */
export const surfaceRules: SurfaceRules = {
  'surface_capability.declare': async (input) => {
    const { tx, workspaceId, changes } = input;
    await holdMessage(input);
    const { authority_id: authorityId, source_id: sourceId } = changes;
    if (await findSurface(tx, workspaceId, authorityId, sourceId))
      throw new Problem('value_taken', 'The authority has declared this surface already.');
    return { attributes: { ...messageSourceOf(changes), capability: changes.capability } };
  },

  'surface_capability.revise': async (input) => {
    const { current, changes } = input;
    await holdMessage(input);
    if (changes.authority_id !== current.authority_id || changes.source_id !== current.source_id)
      refuseField('/changes/source_id', 'other_surface', 'A surface keeps its name and its authority.');
    return { attributes: { ...messageSourceOf(changes), capability: changes.capability } };
  },

  'surface_capability.lapse': ({ current, now }) => {
    const { valid_until: until } = current.capability;
    if (until === undefined || !isOver(until, now))
      throw new Problem('state_not_allowed', 'The platform still vouches for this surface.');
    return { attributes: current };
  },
};
