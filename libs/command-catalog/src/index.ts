export { identityCatalog, productCatalog, type Catalog } from './catalog.ts';
export type { CommandDefinition, ResourceDefinition } from './definition.ts';
export type {
  Attributes,
  ChangesInput,
  ChangesOf,
  CommandType,
  EventOf,
  EventType,
  LinkOf,
  Resource,
  ResourceType,
  RuledCommandType,
  StateOf,
  SubjectOf,
} from './types.ts';
export { isEvent, isResource, reactTo, typedResource, type Reactions } from './typed-events.ts';
export { appleCategories } from './apple-categories.ts';
export { isLegalText, maxDescriptionBytes, maxNotesBytes } from './fields.ts';
export { maxUploadBytes, partSizeBytes } from './upload.ts';
export { podcasts } from './podcast.ts';
export { episodes } from './episode.ts';
export { uploads } from './upload.ts';
export { productions } from './production.ts';
export { accounts, credentials, memberPermissions, memberships } from './account.ts';
export { machineTokens } from './machine-token.ts';
export { creatives } from './creative.ts';
export { reviewRequested, reviewTasks } from './review-task.ts';
export { lineItems } from './line-item.ts';
export { batchEncodings, batchInitiators, defaultInitiator } from './batch-encoding.ts';
export { clipFormats, mediaClips } from './media-clip.ts';
export { statisticsExports } from './statistics-export.ts';
export { artwork, chapters, markers, segment, storedTranscripts, templatePart } from './media-files.ts';
