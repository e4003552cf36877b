import { ImageUp } from 'lucide-react';
import { useEffect, useId, useRef, useState, type DragEvent, type RefObject } from 'react';
import { classes } from '../../look/classes.ts';
import { t } from '../../messages/messages.ts';
import { Artwork } from '../artwork.tsx';
import type { ArtworkSize } from '../artwork-address.ts';
import { Button } from '../button.tsx';
import { ProblemBanner } from '../problem.tsx';
import type { FormValues } from './form-state.ts';
import { faultText, type InForm } from './fields.tsx';
import { drawSquare, middleOf } from './read-image.ts';
import { useArtwork, type ArtworkChoice } from './use-artwork.ts';
import styles from './form.module.css';

const shownSide = 264;

function Preview({ image }: { readonly image: ImageBitmap }) {
  const ref = useRef<HTMLCanvasElement>(null);
  useEffect(() => {
    if (ref.current) drawSquare(ref.current, image, middleOf(image, shownSide));
  }, [image]);
  return <canvas ref={ref} className={styles.picture} />;
}

/** The buttons below the hint: to choose, or to cut what is not square. */
function Buttons({
  choice,
  input,
  isThere,
}: {
  readonly choice: ArtworkChoice;
  readonly input: RefObject<HTMLInputElement | null>;
  readonly isThere: boolean;
}) {
  const { chosen, sent, cut } = choice;
  const choose = () => input.current?.click();
  if (!chosen?.crop || sent !== undefined)
    return (
      <div className={styles.buttons}>
        <Button size="small" icon={ImageUp} busy={sent !== undefined} onClick={choose}>
          {t(chosen || isThere ? 'artwork.other' : 'artwork.choose')}
        </Button>
      </div>
    );
  return (
    <>
      <p>{t('artwork.not_square', { width: chosen.image.width, height: chosen.image.height })}</p>
      <div className={styles.buttons}>
        <Button size="small" onClick={() => void cut()}>
          {t('artwork.cut')}
        </Button>
        <Button size="small" kind="quiet" onClick={choose}>
          {t('artwork.other')}
        </Button>
      </div>
    </>
  );
}

/** How far the picture is on its way. */
const Progress = ({ choice: { chosen, sent, error } }: { readonly choice: ArtworkChoice }) => (
  <span role="status" className={styles.hint}>
    {sent !== undefined && t('artwork.sending', { percent: Math.round(sent * 100) })}
    {sent === undefined && chosen && !chosen.crop && error === undefined && t('artwork.sent')}
  </span>
);

/** A place onto which files can be dropped. */
function useDrop(onFile: (file: File | undefined) => void) {
  const [isOver, setOver] = useState(false);
  const onDragOver = (event: DragEvent) => {
    event.preventDefault();
    setOver(true);
  };
  const onDrop = (event: DragEvent) => {
    event.preventDefault();
    setOver(false);
    onFile(event.dataTransfer.files[0]);
  };
  return { isOver, zone: { onDragOver, onDrop, onDragLeave: () => setOver(false) } };
}

interface ArtworkOf<V extends FormValues> extends InForm<V> {
  /** The picture that it has now. */
  readonly current: readonly ArtworkSize[] | undefined;
  readonly title: string;
}

/**
 * The picture of a podcast or an episode: dropped or chosen, checked before a byte is sent, and sent at once; the form then holds its address. An
 * image that is not square is offered to be cut. The form is not saved while a picture is on its way.
 */
export function ArtworkField<V extends FormValues>(field: ArtworkOf<V>) {
  // A picture that was chosen is thrown away with what was typed.
  return <Chooser key={field.form.discards} {...field} />;
}

function Chooser<V extends FormValues>({ form, name, label, hint, current, title }: ArtworkOf<V>) {
  const id = useId();
  const input = useRef<HTMLInputElement>(null);
  const choice = useArtwork((address) => form.set(name, address));
  const { chosen, refusal, error, sent, take, retry } = choice;
  const { setWaiting } = form;
  const isOnItsWay = sent !== undefined;
  useEffect(() => {
    setWaiting(name, isOnItsWay);
    return () => setWaiting(name, false);
  }, [setWaiting, name, isOnItsWay]);
  const { isOver, zone } = useDrop((file) => void take(file));
  const fault = refusal ? t(refusal) : faultText(form.faultOf(name));
  return (
    <div className={classes(styles.artwork, isOver && styles.over)} {...zone}>
      {chosen ? <Preview image={chosen.image} /> : <Artwork of={current} title={title} size="large" />}
      <div className={styles.beside}>
        <label className={styles.label} htmlFor={id}>
          {t(label)}
        </label>
        <span id={`${id}-hint`} className={styles.hint}>
          {hint ?? t('artwork.hint')}
        </span>
        <input
          ref={input}
          id={id}
          className="hidden"
          type="file"
          accept="image/jpeg,image/png"
          aria-describedby={fault === undefined ? `${id}-hint` : `${id}-hint ${id}-error`}
          aria-invalid={fault === undefined ? undefined : true}
          onChange={(event) => {
            void take(event.target.files?.[0]);
            event.target.value = '';
          }}
        />
        <Buttons choice={choice} input={input} isThere={current !== undefined} />
        <Progress choice={choice} />
        {fault !== undefined && (
          <span id={`${id}-error`} className={styles.error}>
            {fault}
          </span>
        )}
        {error !== undefined && <ProblemBanner error={error} onRetry={() => void retry()} />}
      </div>
    </div>
  );
}
