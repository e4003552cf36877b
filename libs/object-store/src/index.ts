export { createObjectStore, objectStoreFromConfig, type ObjectStoreOptions } from './object-store.ts';
export { checksumHeaders } from './checksum.ts';
export { getLines, moveLines, type OldRows } from './line-archive.ts';
export { singlePutBytesMax } from './limits.ts';
export type { ByteRange, ListedObject, ObjectInfo, ObjectStore, PutLimits, UploadedPart } from './port.ts';
