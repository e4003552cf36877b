import type { ProductResource, Resource } from '@longwave/command-catalog';
import type { z } from 'zod';
import type { Asker } from '../asker.ts';
import type { FindEnclosures } from '../find-enclosures.ts';
import type { Management } from '../management.ts';

/** What views ask beyond the resource itself. */
interface ViewDeps {
  readonly mediaUrl: string;
  readonly clock: () => Date;
  readonly management: Pick<Management, 'findQueuePlace'>;
  readonly findEnclosures: FindEnclosures;
  /** The last report of a running encoding, or of that of a track, 0 to 1; undefined when there is none. */
  readonly progress: { last(productionId: string, track?: string): Promise<{ readonly progress: number } | undefined> };
}

/** For whom something is shown, and with what. */
export interface ViewContext {
  readonly caller: Asker;
  readonly deps: ViewDeps;
}

/** A resource type as clients see it. */
export interface View<T extends ProductResource> {
  readonly name: string;
  readonly schema: z.ZodObject;
  readonly render: (
    resource: Resource<T>,
    context: ViewContext,
  ) => Record<string, unknown> | Promise<Record<string, unknown>>;
  /** Fields that another service knows, by resource id. It is asked once for all resources of an answer. */
  readonly findFields?: (
    resources: readonly Resource<T>[],
    context: ViewContext,
  ) => Promise<ReadonlyMap<string, Readonly<Record<string, unknown>>>>;
}
