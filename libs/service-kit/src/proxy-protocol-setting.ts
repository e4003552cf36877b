import { z } from 'zod';

/** Whether `HTTP_LISTEN` is for proxies that speak the PROXY protocol; false by default. */
export const proxyProtocolSetting = z
  .enum(['on', 'off'])
  .default('off')
  .transform((text) => text === 'on')
  .describe(
    'Whether each connection must come from `TRUSTED_PROXIES` and begin with a header of the PROXY protocol, whose address is then that of the client.',
  );

/** The faults with which nobody could connect. A malformed variable is left to other checks. */
export const proxyProtocolFaults = ({
  PROXY_PROTOCOL: isOn,
  TRUSTED_PROXIES: proxies = '',
}: Readonly<Record<string, string | undefined>>): readonly (readonly [variable: string, fault: string])[] =>
  isOn === 'on' && proxies === ''
    ? [['PROXY_PROTOCOL', 'expected TRUSTED_PROXIES too: connections of all others are closed']]
    : [];
