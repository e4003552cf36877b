/**
 * Why a person lets a client read traces of decisions (`management:diagnostics`). The person chooses among them at consent, the grant keeps
 * them, and every read is recorded with them (docs/adr/0038-diagnostics-have-a-purpose.md).
 */
export const diagnosticsPurposes = [
  /** An advertiser, a partner or a listener disputes what was delivered. */
  'delivery_dispute',
  /** A campaign does not deliver as it was booked. */
  'campaign_troubleshooting',
  /** The quality of decisions is checked. */
  'quality_assurance',
  /** Somebody has to account for what was decided. */
  'audit',
] as const;
export type DiagnosticsPurpose = (typeof diagnosticsPurposes)[number];
