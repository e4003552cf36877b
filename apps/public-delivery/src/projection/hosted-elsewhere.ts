import { z } from 'zod';

/** The grantee of an authority grant; only one of a hosting platform is a client. */
export const authorityGrantSchema = z.object({ grantee: z.object({ client_id: z.string().optional() }) });

/** The parts of a delivery alias that delivery reads. */
export const deliveryAliasSchema = z.object({
  authority_id: z.string(),
  alias: z.string(),
  host: z.string(),
  path_slug: z.string(),
  target: z.object({ source_id: z.string() }),
  route_policy: z.object({
    route: z.enum(['platform_controlled', 'ad_free', 'clean', 'source']),
    when_unavailable: z.enum(['source', 'gone']),
  }),
});

export type AliasRoute = z.infer<typeof deliveryAliasSchema>['route_policy']['route'];
export type WhenUnavailable = z.infer<typeof deliveryAliasSchema>['route_policy']['when_unavailable'];

/** The parts of a content snapshot that delivery reads. */
export const contentSnapshotSchema = z.object({
  authority_id: z.string(),
  source_id: z.string(),
  source_version: z.int(),
  stream_id: z.string(),
  episode_id: z.string().optional(),
  rendition: z.object({ sha256: z.string(), size_bytes: z.int(), duration_ms: z.int() }).optional(),
  content: z.object({
    episode: z.object({
      audio_master: z.object({ url: z.string() }),
      rights: z
        .object({ territories: z.array(z.string()).optional(), until: z.iso.datetime({ offset: true }).optional() })
        .optional(),
    }),
  }),
});

/** The parts of a serving intent that delivery reads. */
export const servingIntentSchema = z.object({
  authority_id: z.string(),
  plan_digest: z.string().nullable(),
  actions: z.array(
    z.object({
      alias: z.string(),
      source_id: z.string(),
      source_version: z.int().optional(),
      presentation: z.enum(['stitched', 'clean', 'source', 'none']),
      rendition_sha256: z.string().optional(),
      break_plan: z.object({ id: z.string(), version: z.int() }).optional(),
      halt: z.string().optional(),
    }),
  ),
});

/** Where and how long we may serve what another platform hosts. */
export interface ServingRights {
  /** ISO 3166-1 alpha-2; empty for everywhere. */
  readonly territories: readonly string[];
  /** Plays that began before may finish; undefined: without end. */
  readonly until: Date | undefined;
  /** The platform's own file, for everybody else; undefined when it was revoked. */
  readonly masterUrl: string | undefined;
}

/** Whether the time is over in which plays may begin. */
export const areOver = ({ until }: ServingRights, at: Date): boolean => until !== undefined && until <= at;

/** Whether a listener of a country may be served; one whose country is not known only where no country is named. */
export const holdIn = ({ territories }: ServingRights, country: string): boolean =>
  territories.length === 0 || territories.includes(country);
