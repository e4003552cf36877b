export { checkPresentation, rules, type Profile } from './check-presentation.ts';
export type { Finding } from './finding.ts';
export { askingOrigin, type ReadResource, type ResourceAnswer, type ResourceKind } from './presentation.ts';
export type { Extent } from './read-media.ts';
export { readPresentation } from './read-presentation.ts';
