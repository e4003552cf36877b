import type { DecisionBasis } from '@longwave/command-pipeline';
import { Problem } from '@longwave/problems';
import type { DeliveryContract } from '@longwave/services';

/**
 * The capabilities of surfaces, for the receipt of the command that needs them. Throws `capability_not_supported` while the contract of
 * Public Delivery, or one of the surfaces in it, is not current, and without the surface of files: one decision fills the breaks of a play on
 * all of its surfaces, so they have the same breaks.
 */
export function requireSurfaces(contract: DeliveryContract, surfaces: readonly string[]): readonly DecisionBasis[] {
  if (contract.status !== 'current')
    throw new Problem('capability_not_supported', `${contract.name} ${contract.version} is ${contract.status}.`);
  const decidedBy = surfaces.map((name) => {
    const found = contract.surfaces.find((surface) => surface.name === name);
    const current = contract.surfaces.flatMap((each) => (each.status === 'current' ? [`“${each.name}”`] : []));
    if (found?.status !== 'current')
      throw new Problem(
        'capability_not_supported',
        `The surface “${name}” is ${found?.status ?? 'not known'}. Plans can be published for ${current.join(' and ')}.`,
      );
    return { type: 'surface_capabilities', id: name, version: found.version };
  });
  if (!surfaces.includes('progressive'))
    throw new Problem(
      'capability_not_supported',
      'A play has the same breaks on all of its surfaces. Add “progressive” to the surfaces of the plan.',
    );
  return decidedBy;
}
