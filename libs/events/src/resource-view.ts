import { z } from 'zod';

/** A resource as every API shows it. Times are RFC 3339 UTC. */
export const resourceViewSchema = z.object({
  resource_type: z.string(),
  id: z.string(),
  workspace_id: z.string(),
  version: z.int().min(1),
  lifecycle_state: z.string(),
  state_reason: z.string().optional(),
  attributes: z.record(z.string(), z.unknown()),
  /** Link name → id of the linked resource. */
  links: z.record(z.string(), z.string()),
  /** SHA-256 (hex) over JCS of `{type, id, version, lifecycle_state, attributes}`. */
  digest: z.string(),
  created_at: z.string(),
  updated_at: z.string(),
  updated_by: z.object({ operation_id: z.string() }),
});

export type ResourceView = z.infer<typeof resourceViewSchema>;

/** Sort keys of a list of resources: ascending, or descending with "-"; equal times by id. */
export const listSorts = ['created_at', '-created_at', 'updated_at', '-updated_at'] as const;
export type ListSort = (typeof listSorts)[number];
