import { Refusal, type VerifyResponse } from '@longwave/rpc/credential';
import { limitWrongKeys, type LookUpCredential } from './wrong-keys.ts';

/** Looks credentials up at auth-server, with the bounds of `limitWrongKeys`. */
export type LookUpAtAuthServer = LookUpCredential<VerifyResponse['outcome']>;

/** Bounds how often wrong credentials are looked up at auth-server. */
export const limitWrongCredentials = (clock: () => Date): LookUpAtAuthServer =>
  limitWrongKeys<VerifyResponse['outcome']>({
    clock,
    unknown: { $case: 'refusal', value: Refusal.UNKNOWN_USER },
    judge: (outcome) => {
      if (outcome?.$case === 'principal') return 'accepted';
      return outcome?.value === Refusal.UNKNOWN_USER ? 'unknown' : 'other';
    },
  });
