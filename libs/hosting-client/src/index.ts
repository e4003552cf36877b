export { accessTo, decideFor, requireRoles, type Access } from './access.ts';
export { callOptions, notFoundProblem, type Asker, type Caller } from './asker.ts';
export { findLastTick, tryParseTick } from './encoding-progress.ts';
export type { Executed } from './execute-command.ts';
export { createFindEnclosures, type FindEnclosures } from './find-enclosures.ts';
export { createIdentity, createManagement, type Identity, type Management } from './management.ts';
export { hiddenStates, isTerminal } from './read-resources.ts';
export { productionFile } from './views/production-view.ts';
export { isShown, showResources, views, type ShownType } from './views/views.ts';
