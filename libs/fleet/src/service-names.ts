/** The processes of the fleet, one app each. */
export const serviceNames = [
  'auth-server',
  'management',
  'encoder',
  'internal-serving',
  'analytics-sink',
  'public-delivery',
  'rest-gateway',
] as const;
export type FleetService = (typeof serviceNames)[number];

/** Which schema a service owns; the others have no database credentials. */
export const schemaOf: Readonly<Partial<Record<FleetService, string>>> = {
  'auth-server': 'identity',
  management: 'product',
  'internal-serving': 'serving',
  'analytics-sink': 'audience',
  'public-delivery': 'delivery',
};
