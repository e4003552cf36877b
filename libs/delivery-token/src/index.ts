export { createTokenKeys, keyWeek, kidOf, tokenLifeMax, type TokenKeys } from './token-keys.ts';
export { mintToken, neverExpires, openToken } from './token.ts';
