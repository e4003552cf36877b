import { adPlaceTypes, setupTypes } from '../../shell/ad-place-types.ts';
import type { FormType } from './type-forms.ts';

const places: readonly (readonly FormType[])[] = Object.values(adPlaceTypes);

/** The types whose lists are linked on that of a type: those of its place, itself among them, then the first of each other place: a narrow window has no room for these in its bar. */
export function neighboursOf(type: string): readonly FormType[] {
  const setup: readonly FormType[] = setupTypes;
  if (setup.includes(type as FormType)) return setupTypes.filter((each) => each !== 'workspaces');
  const isOwn = (types: readonly string[]) => types.includes(type);
  const others = places.filter((types) => !isOwn(types)).flatMap(([first]) => (first ? [first] : []));
  return [...(places.find(isOwn) ?? []), ...others, 'review_tasks'];
}
