import { aliasRules } from './addresses/alias-rules.ts';
import { surfaceRules } from './addresses/surface-rules.ts';
import { revocationRules } from './content/revocation-rules.ts';
import { snapshotRules } from './content/snapshot-rules.ts';
import { evidenceRules } from './evidence/evidence-rules.ts';
import { intentRules } from './intents/intent-rules.ts';

/** Rules of what the messages of hosting platforms make. */
export const exchangeRules = {
  ...snapshotRules,
  ...revocationRules,
  ...surfaceRules,
  ...aliasRules,
  ...evidenceRules,
  ...intentRules,
};
