export {
  createTokenKeys,
  followTokenKeys,
  keyWeek,
  kidOf,
  maxTokenLife,
  type TokenKeys,
  type TokenPurpose,
} from './token-keys.ts';
export { mintToken, neverExpires, openToken } from './token.ts';
