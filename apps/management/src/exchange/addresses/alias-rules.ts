import type { Attributes, ChangesOf, productCatalog } from '@longwave/command-catalog';
import type { RuleInput, Rules } from '@longwave/command-pipeline';
import { Problem } from '@longwave/problems';
import { refuseField } from '../../workspace/refuse-field.ts';
import { holdMessage, messageSourceOf } from '../signed-message.ts';
import { hasAlias, hasMostAliases, isHostOfOthers, mostAliases } from './alias-table.ts';
import { requireCurrentSurface } from './surface-rules.ts';

type AliasRules = Pick<Rules<typeof productCatalog>, 'delivery_alias.register' | 'delivery_alias.revise'>;
type Alias = Attributes<'delivery_aliases'>;
type AliasChanges = ChangesOf<'delivery_alias.register'>;

const attributesOf = (changes: AliasChanges): Alias => ({
  ...messageSourceOf(changes),
  ...changes.alias,
  address: `${changes.alias.host}/${changes.alias.path_slug}`,
});

/** Throws `validation_failed` unless a message takes the place of the version that holds; null: of none. */
function checkSuperseded({ alias: { supersedes_version: stated } }: AliasChanges, held: number | null): void {
  if (stated === held) return;
  const detail = held === null ? 'The alias has no earlier version.' : `It takes the place of version ${held}.`;
  refuseField('/changes/alias/supersedes_version', 'other_version', detail);
}

const requireSurface = ({ tx, workspaceId, changes, now }: RuleInput<Alias, AliasChanges>) =>
  requireCurrentSurface(tx, {
    ...{ workspaceId, authorityId: changes.authority_id, now },
    surfaceId: changes.alias.route_policy.surface_id,
  });

/** Rules of the delivery aliases. */
export const aliasRules: AliasRules = {
  'delivery_alias.register': async (input) => {
    const { tx, workspaceId, changes } = input;
    const { alias, authority_id: authorityId } = changes;
    await holdMessage(input);
    checkSuperseded(changes, null);
    if (alias.state === 'active') await requireSurface(input);
    if (await hasAlias(tx, workspaceId, authorityId, alias.alias))
      throw new Problem('value_taken', 'The authority has an alias of this name already.');
    if (alias.state !== 'retired' && (await hasMostAliases(tx, workspaceId, authorityId)))
      throw new Problem(
        'policy_rejected',
        `An authority has at most ${mostAliases.toLocaleString('en')} aliases that are not retired. Retire one that nobody uses, or send under another authority.`,
      );
    if (await isHostOfOthers(tx, workspaceId, alias.host))
      throw new Problem('value_taken', 'This host name is already taken.');
    return { attributes: attributesOf(changes), state: alias.state };
  },

  'delivery_alias.revise': async (input) => {
    const { current, state, changes } = input;
    const { alias } = changes;
    await holdMessage(input);
    if (changes.authority_id !== current.authority_id)
      refuseField('/changes/authority_id', 'other_authority', 'An alias belongs to the authority that registered it.');
    for (const field of ['alias', 'host', 'path_slug'] as const)
      if (alias[field] !== current[field])
        refuseField(`/changes/alias/${field}`, 'immutable', 'An address never changes. Register another alias.');
    checkSuperseded(changes, current.source_version);
    const isOther = alias.route_policy.surface_id !== current.route_policy.surface_id;
    if (alias.state === 'active' && (state !== 'active' || isOther)) await requireSurface(input);
    return { attributes: attributesOf(changes), state: alias.state };
  },
};
