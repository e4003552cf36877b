import { addressVariableOf, services, type ServiceName } from '@longwave/services';

/**
 * The services that one calls, by the variables of their addresses, while all of them are away: nothing answers there.
 * A test of the service puts the addresses of its stand-ins over them.
 */
export const awayAddresses = (service: ServiceName): Readonly<Record<string, string>> =>
  Object.fromEntries(services[service].calls.map((called) => [addressVariableOf(called), '127.0.0.1:1']));
