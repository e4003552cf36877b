export { createObjectStore, type ObjectStoreOptions } from './object-store.ts';
export {
  singlePutBytesMax,
  type ByteRange,
  type ListedObject,
  type ObjectInfo,
  type ObjectStore,
  type UploadedPart,
} from './port.ts';
