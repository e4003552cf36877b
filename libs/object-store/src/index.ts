export { createObjectStore, objectStoreFromConfig, type ObjectStoreOptions } from './object-store.ts';
export { checksumHeaders } from './checksum.ts';
export { getLines, moveLines, type OldRows } from './line-archive.ts';
export { maxSinglePutBytes } from './limits.ts';
export type { ListedObject, ObjectStore } from './port.ts';
