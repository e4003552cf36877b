import { useEffect, useRef, useSyncExternalStore } from 'react';

/** Paints on a canvas of so many CSS pixels in its colour. */
export type Paint = (context: CanvasRenderingContext2D, widthPx: number, heightPx: number) => void;

/** Calls back when light turns into dark or back: what is painted has its colours from before. */
function subscribeToLook(callback: () => void): () => void {
  const dark = matchMedia('(prefers-color-scheme: dark)');
  const theme = new MutationObserver(callback);
  dark.addEventListener('change', callback);
  theme.observe(document.documentElement, { attributeFilter: ['data-theme'] });
  return () => {
    dark.removeEventListener('change', callback);
    theme.disconnect();
  };
}
const look = () =>
  getComputedStyle(document.documentElement).colorScheme + matchMedia('(prefers-color-scheme: dark)').matches;

/** A picture that is painted in the colour of its style, as sharp as the screen shows it. Nothing is said of it: what it shows is said beside it. */
export function Drawing({
  className,
  widthPx,
  heightPx,
  paint,
}: {
  readonly className: string | undefined;
  readonly widthPx: number;
  readonly heightPx: number;
  readonly paint: Paint;
}) {
  const canvas = useRef<HTMLCanvasElement>(null);
  const lookNow = useSyncExternalStore(subscribeToLook, look);
  useEffect(() => {
    const context = canvas.current?.getContext('2d');
    if (!context || widthPx === 0) return;
    const ratio = devicePixelRatio;
    context.canvas.width = Math.round(widthPx * ratio);
    context.canvas.height = Math.round(heightPx * ratio);
    context.scale(ratio, ratio);
    context.fillStyle = getComputedStyle(context.canvas).color;
    paint(context, widthPx, heightPx);
  }, [widthPx, heightPx, paint, lookNow]);
  return <canvas ref={canvas} aria-hidden className={className} style={{ width: widthPx, height: heightPx }} />;
}
