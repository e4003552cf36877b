/** Features of browsers that no page of the console uses; a name that browsers do not know makes them complain. */
const unusedFeatures = [
  ...['accelerometer', 'browsing-topics', 'camera', 'captured-surface-control', 'clipboard-read'],
  ...['compute-pressure', 'digital-credentials-get', 'display-capture', 'encrypted-media', 'fullscreen'],
  ...['gamepad', 'geolocation', 'gyroscope', 'hid', 'identity-credentials-get'],
  ...['idle-detection', 'keyboard-map', 'language-detector', 'language-model', 'local-fonts'],
  ...['magnetometer', 'microphone', 'midi', 'otp-credentials', 'payment'],
  ...['picture-in-picture', 'publickey-credentials-create', 'publickey-credentials-get', 'screen-wake-lock', 'serial'],
  ...['speaker-selection', 'storage-access', 'summarizer', 'sync-xhr', 'translator'],
  ...['usb', 'window-management', 'xr-spatial-tracking'],
];

const permissions = ['autoplay=(self)', ...unusedFeatures.map((feature) => `${feature}=()`)].join(', ');

/** Other hosts that pages of the console speak with. */
export interface ConsoleHosts {
  readonly mediaUrl: string;
  /** The object store as browsers reach it; without one no page may send uploads. */
  readonly objectsUrl: string | undefined;
}

/**
 * The security headers of every page of the console: its own scripts and styles alone, pictures, sound and requests also of the hosts of
 * media and objects, and no other page may frame it.
 */
export function consoleHeaders({ mediaUrl, objectsUrl }: ConsoleHosts): Readonly<Record<string, string>> {
  const media = new URL(mediaUrl).origin;
  const ours = ["'self'", media, ...(objectsUrl === undefined ? [] : [new URL(objectsUrl).origin])].join(' ');
  return {
    'Content-Security-Policy': [
      "default-src 'none'",
      "script-src 'self'",
      "style-src 'self'",
      "font-src 'self'",
      `img-src ${ours}`,
      `media-src ${ours}`,
      `connect-src ${ours}`,
      `frame-src ${media}`,
      "manifest-src 'self'",
      "base-uri 'none'",
      "form-action 'self'",
      "frame-ancestors 'none'",
      "require-trusted-types-for 'script'",
    ].join('; '),
    'Cross-Origin-Opener-Policy': 'same-origin',
    'Referrer-Policy': 'same-origin',
    'X-Content-Type-Options': 'nosniff',
    'Permissions-Policy': permissions,
  };
}
