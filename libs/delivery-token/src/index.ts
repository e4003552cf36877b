export { createTokenKeys, followTokenKeys, keyWeek, kidOf, maxTokenLife, type TokenKeys } from './token-keys.ts';
export { mintToken, neverExpires, openToken } from './token.ts';
