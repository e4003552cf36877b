import type { Attributes, Catalog, LinkOf, ResourceDefinition, ResourceType, StateOf } from '@longwave/command-catalog';
import type { ResourceView } from '@longwave/events';
import { jcsDigest } from '@longwave/idempotency';
import { Problem } from '@longwave/problems';

/** Attributes of a type that the catalogs know; without a known type, anything by name. */
export type StoredAttributes<T extends string> = T extends ResourceType ? Attributes<T> : Record<string, unknown>;
/** A link of a type that the catalogs know; without a known type, any name. */
export type LinkName<T extends string> = T extends ResourceType ? LinkOf<T> : string;
type StoredState<T extends string> = T extends ResourceType ? StateOf<T> : string;

/** A row of table `resource`: `ResourceRow<'podcasts'>`, or one of any type. */
export interface ResourceRow<T extends string = string> {
  readonly id: string;
  readonly workspace_id: string;
  readonly resource_type: T;
  readonly version: number;
  readonly lifecycle_state: StoredState<T>;
  readonly attributes: StoredAttributes<T>;
  readonly digest: string;
  readonly operation_id: string;
  readonly created_at: Date;
  readonly updated_at: Date;
}

/** The definition of a resource type. Throws `unknown_resource_type`. */
export function definitionOf({ resources }: Catalog, type: string): ResourceDefinition {
  const definition = Object.hasOwn(resources, type) ? resources[type] : undefined;
  if (!definition) throw new Problem('unknown_resource_type', `There is no resource type ${type.slice(0, 64)}.`);
  return definition;
}

/** The problem for an unknown id of a resource, an operation or a receipt, and for one that must look unknown. */
export const notFoundProblem = ({ noun }: Pick<ResourceDefinition, 'noun'>, id: string): Problem =>
  new Problem('not_found', `There is no ${noun.replaceAll('_', ' ')} ${id.slice(0, 64)}.`);

/** SHA-256 (hex) over the JCS (RFC 8785) of a revision. */
export function revisionDigest(
  row: Pick<ResourceRow, 'resource_type' | 'id' | 'version' | 'lifecycle_state' | 'attributes'>,
): string {
  return jcsDigest({
    type: row.resource_type,
    id: row.id,
    version: row.version,
    lifecycle_state: row.lifecycle_state,
    attributes: row.attributes,
  });
}

/** Strong entity-tag of a version (RFC 9110 §8.8.3): `"<version>.<first 16 digits of its digest>"`, as `If-Match` takes it. */
export const entityTagOf = ({ version, digest }: Pick<ResourceRow, 'version' | 'digest'>): string =>
  `"${version}.${digest.slice(0, 16)}"`;

/** Link name → linked id, for the links whose attribute is set. */
export function linksOf(
  definition: ResourceDefinition,
  attributes: Readonly<Record<string, unknown>>,
): Record<string, string> {
  const links: Record<string, string> = {};
  for (const [name, { attribute }] of Object.entries(definition.links)) {
    const id = attributes[attribute];
    if (typeof id === 'string') links[name] = id;
  }
  return links;
}

/** The row as every API shows it. */
export function resourceView(definition: ResourceDefinition, row: ResourceRow): ResourceView {
  const { state_reason: stateReason } = row.attributes;
  return {
    resource_type: row.resource_type,
    id: row.id,
    workspace_id: row.workspace_id,
    version: row.version,
    lifecycle_state: row.lifecycle_state,
    ...(typeof stateReason === 'string' && { state_reason: stateReason }),
    attributes: row.attributes,
    links: linksOf(definition, row.attributes),
    digest: row.digest,
    created_at: row.created_at.toISOString(),
    updated_at: row.updated_at.toISOString(),
    updated_by: { operation_id: row.operation_id },
  };
}
