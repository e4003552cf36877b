export {
  createTokenKeys,
  keyWeek,
  kidOf,
  tokenLifeMax,
  tokenPurposes,
  type TokenKeys,
  type TokenPurpose,
} from './token-keys.ts';
export {
  mintToken,
  neverExpires,
  openToken,
  type MintRequest,
  type OpenedToken,
  type TokenClaims,
  type TokenFailure,
} from './token.ts';
