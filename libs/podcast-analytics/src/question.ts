import type { ProductResource, Resource } from '@longwave/command-catalog';
import type { Access, Asker, Management } from '@longwave/hosting-client';
import type { RpcClient } from '@longwave/rpc';
import type { AudienceServiceService } from '@longwave/rpc/audience';

/** The services that numbers come from. */
export interface AnalyticsDeps {
  readonly audience: RpcClient<typeof AudienceServiceService>;
  readonly management: Management;
  readonly clock: () => Date;
}

/** A question about one object that the caller sees. */
export interface Question<T extends ProductResource, Q = unknown> {
  readonly caller: Asker;
  readonly object: Resource<T>;
  readonly access: Access;
  readonly query: Q;
}
