import { escapeXml } from '@longwave/xml';

const lineHeight = 18;
const margin = 20;
const characterWidth = 8.43;
const colours: readonly (readonly [RegExp, string])[] = [
  [/^✓/, '#8fd694'],
  [/^✗/, '#f7768e'],
  [/^\$/, '#7aa2f7'],
];

/** Spaces that no renderer joins: `xml:space` and `white-space` are not obeyed by all of them. */
const keepSpaces = (line: string) => line.replaceAll(' ', '\u00a0');

function drawLine(line: string, index: number): string {
  const found = colours.find(([pattern]) => pattern.test(line));
  const [mark, rest] = found ? [line.slice(0, 1), line.slice(1)] : ['', line];
  const drawn = found ? `<tspan fill="${found[1]}">${escapeXml(mark)}</tspan>${escapeXml(rest)}` : escapeXml(rest);
  return `<text x="${margin}" y="${32 + index * lineHeight}">${drawn}</text>`;
}

/**
 * The text of a terminal as SVG, for the pictures of the documentation.
 * @param label what the picture shows, for those who do not see it
 */
export function drawTerminal(text: string, label: string): string {
  const lines = text.trimEnd().split('\n');
  const width = Math.ceil(Math.max(...lines.map((line) => [...line].length)) * characterWidth) + 2 * margin;
  const height = 32 + lines.length * lineHeight;
  return `<svg xmlns="http://www.w3.org/2000/svg" width="${width}" height="${height}" viewBox="0 0 ${width} ${height}" role="img" aria-label="${escapeXml(label)}">
<rect width="100%" height="100%" rx="8" fill="#16181d"/>
<g font-family="ui-monospace,SFMono-Regular,Menlo,Consolas,DejaVu Sans Mono,monospace" font-size="14" fill="#d8dee9">
${lines.flatMap((line, index) => (line === '' ? [] : [drawLine(keepSpaces(line), index)])).join('\n')}
</g>
</svg>
`;
}
