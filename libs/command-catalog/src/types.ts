import type { DomainEvent, ResourceView } from '@longwave/events';
import type { CallerName } from '@longwave/services';
import type { z } from 'zod';
import type { Catalog, identityCatalog, productCatalog } from './catalog.ts';
import type { operations } from './workspace/operation.ts';
import type { reviewRequested, reviewTasks } from './workspace/review-task.ts';

type ProductResources = (typeof productCatalog)['resources'];
type IdentityResources = (typeof identityCatalog)['resources'];
type ProductCommands = (typeof productCatalog)['commands'];
type IdentityCommands = (typeof identityCatalog)['commands'];

// Interfaces, and look-ups in them by name: TypeScript resolves one member instead of a union over every command.
interface Resources extends ProductResources, IdentityResources {
  readonly operations: typeof operations;
}
interface Commands extends ProductCommands, IdentityCommands {}
interface BothCatalogs {
  readonly resources: Resources;
  readonly commands: Commands;
}

/** Command types of a catalog; of both when none is named. */
export type CommandType<K extends { readonly commands: object } = BothCatalogs> = keyof K['commands'] & string;

/** Commands that management executes. */
export type ProductCommand = CommandType<typeof productCatalog>;

/** Commands of management that a service may send as itself: `MachineCommand<'encoder'>`. */
export type MachineCommand<S extends CallerName> = {
  [C in ProductCommand]: S extends Commands[C]['machines'][number] ? C : never;
}[ProductCommand];

/** Commands that auth-server executes. */
export type IdentityCommand = CommandType<typeof identityCatalog>;

/** Commands that need a rule of their own. */
export type CommandWithRule<K extends Catalog> = {
  [C in CommandType<K>]: K['commands'][C]['hasRule'] extends true ? C : never;
}[CommandType<K>];

/** Name of a resource type: "podcasts". */
export type ResourceType = keyof Resources;

/** Resource types of management. */
export type ProductResource = keyof ProductResources;

/** Stored attributes of a resource type: `Attributes<'podcasts'>`. */
export type Attributes<T extends ResourceType> = z.output<Resources[T]['attributes']>;

/** Lifecycle states of a resource type. */
export type StateOf<T extends ResourceType> = Resources[T]['states'][number];

/** Names of the links that a resource type has to others. */
export type LinkOf<T extends ResourceType> = keyof Resources[T]['links'] & string;

/** A resource as every API shows it, with the state and the attributes of its type: `Resource<'podcasts'>`. */
export interface Resource<T extends ResourceType> extends ResourceView {
  resource_type: T;
  lifecycle_state: StateOf<T>;
  attributes: Attributes<T>;
}

/** Changes of a command as its rule gets them, parsed: `ChangesOf<'episode.publish'>`. */
export type ChangesOf<C extends CommandType> = z.output<Commands[C]['changes']>;

/** Changes of a command as a sender writes them. */
export type ChangesInput<C extends CommandType> = z.input<Commands[C]['changes']>;

/** Type of the resource that a command changes: "episodes" for "episode.publish". */
export type SubjectOf<C extends CommandType> = Commands[C]['subject'];

/** Event → the type of the resource that it is about. No command of its own creates a review task. */
type EventSubjects = { readonly [C in CommandType as Commands[C]['event']]: SubjectOf<C> } & Readonly<
  Record<typeof reviewRequested, (typeof reviewTasks)['type']>
>;

/** Types of the events that the catalogs declare: "production.encoded". */
export type EventType = keyof EventSubjects;

/** An event of a declared type with its revision: `EventOf<'production.encoded'>`. */
export interface EventOf<E extends EventType> extends DomainEvent {
  type: E;
  after: Resource<EventSubjects[E]>;
}
