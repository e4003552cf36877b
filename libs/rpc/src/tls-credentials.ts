import { experimental, type ChannelCredentials, type ServerCredentials } from '@grpc/grpc-js';
import type { Tls } from './tls.ts';

/** Gives grpc-js the identity that is valid at the moment; it uses it for every new connection. */
function providerOf(tls: Tls): experimental.CertificateProvider {
  let latest = tls;
  let stop: (() => void) | undefined;
  const told = new Map<unknown, () => void>();

  function add(listener: unknown, tell: () => void): void {
    told.set(listener, tell);
    stop ??= tls.follow?.((changed) => {
      latest = changed;
      for (const each of told.values()) each();
    });
    // The adder of a listener is ready for its call a moment later only.
    process.nextTick(tell);
  }
  function remove(listener: unknown): void {
    told.delete(listener);
    if (told.size > 0) return;
    stop?.();
    stop = undefined;
  }
  return {
    addCaCertificateListener: (listener) => add(listener, () => listener({ caCertificate: latest.ca })),
    removeCaCertificateListener: remove,
    addIdentityCertificateListener: (listener) =>
      add(listener, () => listener({ certificate: latest.cert, privateKey: latest.key })),
    removeIdentityCertificateListener: remove,
  };
}

/** Callers show their certificate, and trust those of their authority. */
export function channelCredentials(tls: Tls): ChannelCredentials {
  const provider = providerOf(tls);
  return experimental.createCertificateProviderChannelCredentials(provider, provider);
}

/** Servers show their certificate, and refuse callers without one of their authority. */
export function serverCredentials(tls: Tls): ServerCredentials {
  const provider = providerOf(tls);
  return experimental.createCertificateProviderServerCredentials(provider, provider, true);
}
