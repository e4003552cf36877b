import type { LucideIcon } from 'lucide-react';

/** An icon beside words: it says nothing that the words do not, so screen readers skip it. */
export const Icon = ({ of: Shape, size = 16 }: { readonly of: LucideIcon; readonly size?: number }) => (
  <Shape size={size} strokeWidth={1.8} aria-hidden focusable={false} />
);
