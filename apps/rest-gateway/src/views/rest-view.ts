import type { ProductResource, Resource } from '@longwave/command-catalog';
import type { Caller } from '../http/authenticate.ts';
import type { Asker } from '../management/asker.ts';
import type { AnswerShape, Deps } from '../route.ts';

/** For whom something is shown, and with what. */
export interface ViewContext {
  readonly caller: Caller & Asker;
  readonly deps: Pick<Deps, 'mediaUrl' | 'progress' | 'clock' | 'management' | 'findEnclosures'>;
}

/** A resource type as REST shows it. */
export interface RestView<T extends ProductResource> extends AnswerShape {
  readonly render: (
    resource: Resource<T>,
    context: ViewContext,
  ) => Record<string, unknown> | Promise<Record<string, unknown>>;
  /** Fields that another service knows, by resource id. It is asked once for all resources of an answer; their tags cover the fields. */
  readonly findFields?: (
    resources: readonly Resource<T>[],
    context: ViewContext,
  ) => Promise<ReadonlyMap<string, Readonly<Record<string, unknown>>>>;
}
