import { encodeQR } from 'qr';
import { html, type Html } from './html.ts';

/** A text as a QR code: dark on light in either colour scheme, because many readers know no other. */
export function qrCode(text: string, label: string): Html {
  const rows = encodeQR(text, 'raw', { border: 4 });
  const path = rows.flatMap((row, y) => row.map((isDark, x) => (isDark ? `M${x} ${y}h1v1h-1z` : ''))).join('');
  return html`<svg class="qr" role="img" aria-label="${label}" viewBox="0 0 ${rows.length} ${rows.length}">
    <path fill="#fff" d="M0 0h${rows.length}v${rows.length}H0z" />
    <path fill="#000" shape-rendering="crispEdges" d="${path}" />
  </svg>`;
}
