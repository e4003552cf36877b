/** Servings in the hour of the earliest session that reached a stage, as texts in one order. */
export function reachedTexts(
  stage: 'served' | 'confirmed',
  ads: readonly { readonly servingId: string; readonly atMs: number }[],
): string[] {
  const earliest = new Map<string, number>();
  for (const { servingId, atMs } of ads) earliest.set(servingId, Math.min(atMs, earliest.get(servingId) ?? Infinity));
  return [...earliest].map(([servingId, atMs]) => {
    const hour = new Date(atMs).toISOString().slice(8, 13).replace('T', ' ');
    return `${stage} ${servingId} ${hour}`;
  });
}
