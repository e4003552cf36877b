import type { ResourceRow } from '@longwave/command-pipeline';

/** What may decide about the breaks of an episode, in one workspace. */
export interface BreakPlanning {
  /** Published ones. */
  readonly plans: readonly ResourceRow<'break_plans'>[];
  /** Active ones. */
  readonly units: readonly ResourceRow<'inventory_units'>[];
}

type Unit = ResourceRow<'inventory_units'>;
type Plan = ResourceRow<'break_plans'>;

const levels = { episode_set: 0, show: 1, network: 2 } as const;
/** Of networks that the show does not lie in, and of the whole workspace. */
const anyNetwork = 3;
const wholeWorkspace = 4;

/** The units that cover an episode: those that name it or its podcast, and the units around them. */
function unitsAround(units: readonly Unit[], podcastId: string, episodeId: string): readonly Unit[] {
  const around = new Set(
    units.filter(({ attributes: { kind, source_ref: ref } }) =>
      kind === 'episode_set' ? ref.episode_ids?.includes(episodeId) : kind === 'show' && ref.podcast_id === podcastId,
    ),
  );
  for (const { attributes } of around) {
    const parent = units.find(({ id }) => id === attributes.parent_id);
    if (parent) around.add(parent);
  }
  return [...around];
}

/**
 * The break plan of an episode, by the rule of delivery: that of an episode set before that of its show, of a network that the show lies
 * in, of any other network, and of the whole workspace. Plans that name a unit go before the unit's default, the newest first.
 */
export function breakPlanOf(
  { plans, units }: BreakPlanning,
  { podcastId, episodeId }: { readonly podcastId: string; readonly episodeId: string },
  now: Date,
): Plan | undefined {
  const effectiveAt = ({ attributes, updated_at: published }: Plan) =>
    attributes.effective_at === undefined ? published.getTime() : Date.parse(attributes.effective_at);
  const covering: { readonly unit: Unit; readonly level: number }[] = [
    ...unitsAround(units, podcastId, episodeId).map((unit) => ({ unit, level: levels[unit.attributes.kind] })),
    ...units.filter(({ attributes }) => attributes.kind === 'network').map((unit) => ({ unit, level: anyNetwork })),
  ];
  const candidates = plans
    .filter((plan) => effectiveAt(plan) <= now.getTime())
    .flatMap((plan) => {
      const { inventory_unit_ids: ids } = plan.attributes;
      const ofUnits = covering
        .map(({ unit, level }) => ({ unit, level, isNamed: ids.includes(unit.id) }))
        .filter(({ unit, isNamed }) => isNamed || unit.attributes.default_break_plan === plan.id)
        .map(({ level, isNamed }) => ({ plan, level, isNamed }));
      return ids.length === 0 ? [...ofUnits, { plan, level: wholeWorkspace, isNamed: false }] : ofUnits;
    });
  return candidates.toSorted(
    (a, b) =>
      a.level - b.level ||
      Number(b.isNamed) - Number(a.isNamed) ||
      effectiveAt(b.plan) - effectiveAt(a.plan) ||
      (a.plan.id < b.plan.id ? 1 : -1),
  )[0]?.plan;
}
